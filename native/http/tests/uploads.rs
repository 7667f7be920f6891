//! Content of requests over HTTP/1.1 and HTTP/2, both sides in memory.

#![allow(clippy::unwrap_used)]

#[path = "support/pattern.rs"]
mod pattern;

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use headway_http::event::{Asked, ClientEvent, RequestId, ServerEvent};
use headway_http::side::{ClientSide, ServerSide};
use headway_http::{h1, h2};
use headway_wire::Request;
use headway_wire::h2::MAX_WINDOW;
use pattern::respond;
use proptest::prelude::*;

fn post(number: u64, size: u64, expects: bool) -> Asked {
    let mut request = Request::get("https", "a.test", "/bytes/3");
    request.method = "POST".into();
    request.fields.push("content-length", size.to_string());
    if expects {
        request.fields.push("expect", "100-continue");
    }
    let asked = Asked::new(RequestId(number), request, None);
    Asked { content_bytes: Some(size), ..asked }
}

/// What came of requests: what the server got of each, and which were finished.
#[derive(Debug, Default)]
struct Outcome {
    received: BTreeMap<RequestId, u64>,
    continued: usize,
    finished: usize,
}

/// Carries bytes both ways, in pieces of these sizes, until nobody has any.
fn carry(
    client: &mut dyn ClientSide,
    server: &mut dyn ServerSide,
    pieces: &mut impl Iterator<Item = usize>,
) -> Outcome {
    let (mut outcome, mut requests) = (Outcome::default(), BTreeMap::new());
    while client.wants_send() || server.wants_send() {
        let mut sent = BytesMut::new();
        client.send(pieces.next().unwrap(), &mut sent);
        server.receive(sent.split().freeze());
        while let Some(event) = server.poll() {
            match event {
                ServerEvent::Request { id, request } => {
                    requests.insert(id, request);
                    server.proceed(id);
                }
                ServerEvent::Received { id, content_bytes, .. } => {
                    outcome.received.insert(id, content_bytes);
                    server.respond(id, respond(&requests[&id]));
                }
                ServerEvent::Finished { .. } | ServerEvent::Content { .. } => {}
                ServerEvent::Aborted { reason, .. } => panic!("{reason}"),
            }
        }
        server.send(pieces.next().unwrap(), &mut sent);
        client.receive(sent.freeze());
        while let Some(event) = client.poll() {
            match event {
                ClientEvent::Continued { .. } => outcome.continued += 1,
                ClientEvent::Finished { .. } => outcome.finished += 1,
                ClientEvent::Failed { failure, .. } => panic!("{failure}"),
                _ => {}
            }
        }
    }
    outcome
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn all_of_it_arrives_over_h2(
        sizes in prop::collection::vec(0..200_000u64, 1..6),
        pieces in prop::collection::vec(1..30_000usize, 1..10),
        window in prop::sample::select(vec![1000, 65_535, MAX_WINDOW]),
        expects in any::<bool>(),
    ) {
        let options = h2::ServerOptions { stream_window_bytes: window, ..h2::ServerOptions::default() };
        let mut client = h2::Client::new(h2::ClientOptions::default());
        let mut server = h2::Server::new(options);
        for (number, &size) in (0..).zip(&sizes) {
            client.ask(post(number, size, expects));
        }
        let outcome = carry(&mut client, &mut server, &mut pieces.iter().copied().cycle());
        prop_assert_eq!(outcome.received.values().copied().collect::<Vec<_>>(), sizes.clone());
        prop_assert_eq!(outcome.finished, sizes.len());
        let with_content = sizes.iter().filter(|&&size| size > 0).count();
        prop_assert_eq!(outcome.continued, if expects { with_content } else { 0 });
    }

    #[test]
    fn all_of_it_arrives_over_h1(
        sizes in prop::collection::vec(0..200_000u64, 1..6),
        pieces in prop::collection::vec(1..30_000usize, 1..10),
        expects in any::<bool>(),
    ) {
        let (mut client, mut server) = (h1::Client::default(), h1::Server::new("https"));
        let mut pieces = pieces.iter().copied().cycle();
        for (number, &size) in (0..).zip(&sizes) {
            client.ask(post(number, size, expects));
            let outcome = carry(&mut client, &mut server, &mut pieces);
            prop_assert_eq!(outcome.received.into_values().collect::<Vec<_>>(), vec![size]);
            prop_assert_eq!((outcome.continued, outcome.finished), (usize::from(expects), 1));
        }
    }
}

#[test]
fn what_is_answered_without_is_not_sent() {
    let (h1, h2) = (h1::Client::default(), h2::Client::new(h2::ClientOptions::default()));
    let h2_server = h2::Server::new(h2::ServerOptions::default());
    let pairs: [(Box<dyn ClientSide>, Box<dyn ServerSide>); 2] =
        [(Box::new(h1), Box::new(h1::Server::new("https"))), (Box::new(h2), Box::new(h2_server))];
    for (mut client, mut server) in pairs {
        client.ask(post(0, 1_000_000, false));
        let mut finished = None;
        while finished.is_none() {
            let mut sent = BytesMut::new();
            client.send(10_000, &mut sent);
            server.receive(sent.split().freeze());
            while let Some(event) = server.poll() {
                if let ServerEvent::Request { id, request } = event {
                    server.respond(id, respond(&request));
                }
            }
            server.send(10_000, &mut sent);
            client.receive(sent.freeze());
            while let Some(event) = client.poll() {
                if let ClientEvent::Finished { content_bytes, .. } = event {
                    finished = Some(content_bytes);
                }
            }
        }
        assert!((1..20_000).contains(&finished.unwrap()), "{finished:?}");
        let mut rest = BytesMut::new();
        client.send(100_000, &mut rest);
        assert!(rest.len() < 100, "a reset, and no content");
    }
}

#[test]
fn content_waits_until_it_may_go_without_a_word() {
    let mut client = h2::Client::new(h2::ClientOptions::default());
    client.ask(post(0, 1000, true));
    let mut sent = BytesMut::new();
    client.send(100_000, &mut sent);
    assert!(!client.wants_send() && sent.len() < 1000);
    client.proceed(RequestId(0));
    assert!(client.wants_send());
    client.send(100_000, &mut sent);
    assert!(sent.len() > 1000);
}

/// What a server keeps of a request's content of 1000 bytes.
fn kept(kept_content_bytes: usize) -> Bytes {
    let options = h2::ServerOptions { kept_content_bytes, ..h2::ServerOptions::default() };
    let mut client = h2::Client::new(h2::ClientOptions::default());
    let mut server = h2::Server::new(options);
    client.ask(post(0, 1000, false));
    let mut sent = BytesMut::new();
    client.send(100_000, &mut sent);
    server.receive(sent.freeze());
    let mut events = std::iter::from_fn(|| server.poll());
    let found = events.find_map(|event| match event {
        ServerEvent::Received { content, content_bytes: 1000, .. } => Some(content),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn as_much_content_is_kept_as_the_program_wants() {
    let whole = kept(5000);
    assert_eq!(whole.len(), 1000);
    assert_eq!(kept(300), whole[..300]);
    assert!(kept(0).is_empty());
}
