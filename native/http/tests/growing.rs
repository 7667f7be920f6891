//! Content that comes over time, over HTTP/1.1 and HTTP/2, both sides in memory.

#![allow(clippy::unwrap_used)]

use bytes::{Bytes, BytesMut};
use headway_http::event::{ClientEvent, RequestId, ServerEvent};
use headway_http::service::{Body, Reply};
use headway_http::side::{ClientSide, ServerSide};
use headway_http::{h1, h2};
use headway_wire::{Request, Response};
use proptest::prelude::*;

/// What came to the client, and what the server says that it has sent.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    content: BytesMut,
    finished: bool,
    sent_bytes: u64,
}

struct Talk<'a> {
    client: &'a mut dyn ClientSide,
    server: &'a mut dyn ServerSide,
    outcome: Outcome,
    asked: Option<RequestId>,
}

impl Talk<'_> {
    /// Carries what there is, both ways, in pieces of a size.
    fn carry(&mut self, piece: usize) {
        while self.client.wants_send() || self.server.wants_send() {
            let mut sent = BytesMut::new();
            self.client.send(piece, &mut sent);
            self.server.receive(sent.split().freeze());
            self.server.send(piece, &mut sent);
            while let Some(event) = self.server.poll() {
                match event {
                    ServerEvent::Request { id, .. } => {
                        let response = Response::new(200);
                        self.server.respond(id, Reply { response, body: Body::growing() });
                        self.asked = Some(id);
                    }
                    ServerEvent::Finished { sent_bytes, .. } => {
                        self.outcome.sent_bytes = sent_bytes;
                    }
                    ServerEvent::Aborted { reason, .. } => panic!("{reason}"),
                    ServerEvent::Received { .. } | ServerEvent::Content { .. } => {}
                }
            }
            self.client.receive(sent.freeze());
            while let Some(event) = self.client.poll() {
                match event {
                    ClientEvent::Data { data, .. } => self.outcome.content.extend(data),
                    ClientEvent::Finished { .. } => self.outcome.finished = true,
                    ClientEvent::Failed { failure, .. } => panic!("{failure}"),
                    _ => {}
                }
            }
        }
    }
}

/// Content that is extended piece by piece, and what comes of it at once.
fn talk(
    client: &mut dyn ClientSide,
    server: &mut dyn ServerSide,
    pieces: &[Vec<u8>],
    ends_apart: bool,
    size: usize,
) -> Outcome {
    client.request(RequestId(7), Request::get("https", "a.test", "/"), None);
    let mut talk = Talk { client, server, outcome: Outcome::default(), asked: None };
    talk.carry(size);
    let id = talk.asked.expect("the request came");
    let mut all = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        let ends = number + 1 == pieces.len() && !ends_apart;
        talk.server.extend(id, Bytes::copy_from_slice(piece), ends);
        // Of another response, or of one that is over, nothing comes.
        talk.server.extend(RequestId(id.0 + 2), "x".into(), true);
        all.extend_from_slice(piece);
        talk.carry(size);
        assert_eq!((&talk.outcome.content[..], talk.outcome.finished), (&all[..], ends));
    }
    if ends_apart {
        talk.server.extend(id, Bytes::new(), true);
        talk.carry(size);
    }
    talk.server.extend(id, "x".into(), true);
    talk.carry(size);
    assert!(talk.outcome.finished);
    assert_eq!(talk.outcome.sent_bytes, all.len() as u64);
    talk.outcome
}

fn pieces() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let piece = (0usize..70_000).prop_map(|length| (0..length).map(|i| (i % 251) as u8).collect());
    prop::collection::vec(piece, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn each_piece_comes_at_once_over_h1(pieces in pieces(), apart: bool, size in 30usize..20_000) {
        let (mut client, mut server) = (h1::Client::default(), h1::Server::new("https"));
        talk(&mut client, &mut server, &pieces, apart, size);
        // The connection goes on.
        prop_assert!(client.is_free());
        talk(&mut client, &mut server, &pieces, apart, size);
    }

    #[test]
    fn each_piece_comes_at_once_over_h2(
        pieces in pieces(),
        apart: bool,
        size in 30usize..20_000,
        window in 1000u32..200_000,
    ) {
        let options = h2::ClientOptions { stream_window_bytes: window, ..h2::ClientOptions::default() };
        let mut server = h2::Server::new(h2::ServerOptions::default());
        talk(&mut h2::Client::new(options), &mut server, &pieces, apart, size);
    }
}

#[test]
fn without_chunks_the_end_is_the_connections() {
    let (mut server, mut sent) = (h1::Server::new("http"), BytesMut::new());
    server.receive("GET / HTTP/1.0\r\n\r\n".into());
    let Some(ServerEvent::Request { id, .. }) = server.poll() else { panic!("no request") };
    server.respond(id, Reply { response: Response::new(200), body: Body::growing() });
    server.extend(id, "abc".into(), false);
    server.send(1000, &mut sent);
    assert!(sent.ends_with(b"connection: close\r\n\r\nabc") && !server.is_finished());
    server.extend(id, "de".into(), true);
    server.send(1000, &mut sent);
    assert!(sent.ends_with(b"\r\n\r\nabcde") && server.is_finished());
}
