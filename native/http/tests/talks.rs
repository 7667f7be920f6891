//! Content of a request that comes over time, over HTTP/2, both sides in memory.

#![allow(clippy::unwrap_used)]

use bytes::{Bytes, BytesMut};
use headway_http::event::{Asked, ClientEvent, Failure, RequestId, ServerEvent};
use headway_http::service::{Body, Reply};
use headway_http::side::{ClientSide, ServerSide};
use headway_http::{h1, h2};
use headway_wire::{Request, Response};
use proptest::prelude::*;

const ID: RequestId = RequestId(3);

fn asked() -> Asked {
    let request = Request { method: "POST".into(), ..Request::get("https", "a.test", "/") };
    Asked { talks: true, ..Asked::new(ID, request, None) }
}

struct Talk {
    client: h2::Client,
    server: h2::Server,
    name: Option<RequestId>,
    heard: Vec<u8>,
    has_heard_all: bool,
    answered: Vec<u8>,
    is_finished: bool,
}

impl Talk {
    /// Carries what there is until nobody has anything to send; the server answers with what it hears.
    fn carry(&mut self, piece: usize) {
        while self.client.wants_send() || self.server.wants_send() {
            let mut sent = BytesMut::new();
            self.client.send(piece, &mut sent);
            self.server.receive(sent.split().freeze());
            while let Some(event) = self.server.poll() {
                match event {
                    ServerEvent::Request { id, .. } => {
                        self.name = Some(id);
                        let response = Response::new(200);
                        self.server.respond(id, Reply { response, body: Body::growing() });
                    }
                    ServerEvent::Content { id, data } => {
                        assert_eq!(Some(id), self.name);
                        self.heard.extend_from_slice(&data);
                        self.server.extend(id, data, false);
                    }
                    ServerEvent::Received { id, content_bytes, .. } => {
                        assert_eq!(content_bytes, self.heard.len() as u64);
                        self.has_heard_all = true;
                        self.server.extend(id, Bytes::new(), true);
                    }
                    ServerEvent::Finished { .. } => {}
                    ServerEvent::Aborted { reason, .. } => panic!("{reason}"),
                }
            }
            self.server.send(piece, &mut sent);
            self.client.receive(sent.freeze());
            while let Some(event) = self.client.poll() {
                match event {
                    ClientEvent::Data { data, .. } => self.answered.extend_from_slice(&data),
                    ClientEvent::Finished { .. } => self.is_finished = true,
                    ClientEvent::Failed { failure, .. } => panic!("{failure}"),
                    _ => {}
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn both_sides_send_while_the_other_does(
        sizes in prop::collection::vec(1usize..60_000, 1..6),
        ends_apart: bool,
        piece in 30usize..20_000,
    ) {
        let client = h2::Client::new(h2::ClientOptions::default());
        let server = h2::Server::new(h2::ServerOptions::default());
        let mut talk = Talk {
            client, server, name: None, heard: Vec::new(), has_heard_all: false,
            answered: Vec::new(), is_finished: false,
        };
        talk.client.ask(asked());
        talk.carry(piece);
        prop_assert!(talk.name.is_some());
        let mut all = Vec::new();
        for (number, &size) in (1..).zip(&sizes) {
            let said = vec![number as u8; size];
            all.extend_from_slice(&said);
            let ends = number == sizes.len() && !ends_apart;
            talk.client.extend(ID, said.into(), ends);
            talk.carry(piece);
            prop_assert!(talk.heard == all && talk.answered == all);
            prop_assert_eq!((talk.has_heard_all, talk.is_finished), (ends, ends));
        }
        if ends_apart {
            talk.client.extend(ID, Bytes::new(), true);
            talk.carry(piece);
        }
        // What comes behind the end is nobody's.
        talk.client.extend(ID, "x".into(), false);
        talk.carry(piece);
        prop_assert!(talk.has_heard_all && talk.is_finished && talk.answered == all);
    }
}

#[test]
fn http_1_1_does_not_go_both_ways_at_a_time() {
    let mut client = h1::Client::default();
    client.ask(asked());
    let Some(ClientEvent::Failed { failure: Failure::Connection(reason), .. }) = client.poll()
    else {
        panic!("it was not refused")
    };
    assert!(reason.contains("once the request is complete") && client.is_free());
}
