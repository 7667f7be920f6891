//! HTTP/1.1: both sides in memory, and each against bytes made by hand.

#![allow(clippy::unwrap_used)]

#[path = "support/pattern.rs"]
mod pattern;

use bytes::{Bytes, BytesMut};
use headway_http::event::{ClientEvent, Failure, RequestId, ServerEvent};
use headway_http::h1::{Client, Server};
use headway_http::side::{ClientSide, ServerSide};
use headway_wire::Request;
use pattern::{body, respond};
use proptest::prelude::*;

/// Answers what came; returns how many requests there were.
fn answer(server: &mut Server) -> usize {
    let mut requests = 0;
    while let Some(event) = server.poll() {
        if let ServerEvent::Request { id, request } = event {
            requests += 1;
            server.respond(id, respond(&request));
        }
    }
    requests
}

/// Answers what has come whole.
fn answer_whole(server: &mut Server) -> usize {
    let mut requests = 0;
    while let Some(event) = server.poll() {
        match event {
            ServerEvent::Request { id, .. } => server.proceed(id),
            ServerEvent::Received { id, .. } => {
                requests += 1;
                server.respond(id, respond(&Request::get("http", "a.test", "/bytes/0")));
            }
            _ => {}
        }
    }
    requests
}

/// All that the server sends after these bytes, given in pieces.
fn served(server: &mut Server, bytes: &[u8], piece: usize) -> String {
    served_by(answer, server, bytes, piece)
}

/// The same, answered in some way.
fn served_by(
    answer: fn(&mut Server) -> usize,
    server: &mut Server,
    bytes: &[u8],
    piece: usize,
) -> String {
    let mut sent = BytesMut::new();
    for piece in bytes.chunks(piece) {
        server.receive(Bytes::copy_from_slice(piece));
        answer(server);
        while server.wants_send() {
            server.send(100, &mut sent);
            answer(server);
        }
    }
    String::from_utf8_lossy(&sent).into_owned()
}

/// First lines of responses.
fn statuses(sent: &str) -> Vec<&str> {
    sent.lines().filter_map(|line| line.strip_prefix("HTTP/1.1 ")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_after_the_other_arrives_whole(
        sizes in prop::collection::vec(0..20_000u64, 1..6),
        pieces in prop::collection::vec(1..3000usize, 1..10),
    ) {
        let (mut client, mut server) = (Client::default(), Server::new("https"));
        let mut pieces = pieces.iter().copied().cycle();
        for (number, &size) in sizes.iter().enumerate() {
            let id = RequestId(number as u64);
            prop_assert!(client.is_free());
            client.request(id, Request::get("https", "a.test", format!("/bytes/{size}")), None);
            let mut content = BytesMut::new();
            let mut finished = false;
            while !finished {
                let mut sent = BytesMut::new();
                client.send(pieces.next().unwrap(), &mut sent);
                if !sent.is_empty() {
                    server.receive(sent.split().freeze());
                    answer(&mut server);
                }
                server.send(pieces.next().unwrap(), &mut sent);
                while !sent.is_empty() {
                    let piece = sent.split_to(pieces.next().unwrap().min(sent.len()));
                    client.receive(piece.freeze());
                }
                while let Some(event) = client.poll() {
                    prop_assert_eq!(event.id(), id);
                    match event {
                        ClientEvent::Trailers { .. } => {}
                        ClientEvent::Data { data, .. } => content.extend_from_slice(&data),
                        ClientEvent::Head { response, .. } => prop_assert_eq!(response.status, 200),
                        ClientEvent::Finished { .. } => finished = true,
                        ClientEvent::Sent { .. } | ClientEvent::Continued { .. } => {}
                        ClientEvent::Failed { failure, .. } => panic!("{failure}"),
                    }
                }
            }
            prop_assert!(content == body(size));
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes: Vec<u8>, asked: bool) {
        let mut server = Server::new("http");
        let _ = served(&mut server, &bytes, 7);
        let mut client = Client::default();
        if asked {
            client.request(RequestId(0), Request::get("http", "a.test", "/"), None);
        }
        client.receive(bytes.into());
        client.close("over", true);
        prop_assert!(client.is_closed());
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let requests: String =
        (1..=100).map(|n| format!("GET /bytes/{n} HTTP/1.1\r\nhost: a\r\n\r\n")).collect();
    for piece in [1, 50, 100_000] {
        let mut server = Server::new("http");
        let mut sent = BytesMut::new();
        let mut input = Bytes::copy_from_slice(requests.as_bytes());
        let mut answered = 0;
        while answered < 100 {
            if server.wants_input() && !input.is_empty() {
                server.receive(input.split_to(piece.min(input.len())));
            }
            answered += answer(&mut server);
            server.send(64, &mut sent);
        }
        while server.wants_send() {
            server.send(64, &mut sent);
        }
        let text = String::from_utf8_lossy(&sent);
        let lengths: Vec<_> = text.lines().filter(|l| l.starts_with("content-length: ")).collect();
        assert_eq!(lengths.len(), 100);
        assert_eq!((lengths[0], lengths[99]), ("content-length: 1", "content-length: 100"));
    }
}

#[test]
fn pipelined_bytes_are_not_taken_without_end() {
    let mut server = Server::new("http");
    server.receive(Bytes::from_static(b"GET /bytes/10 HTTP/1.1\r\nhost: a\r\n\r\nGET /"));
    assert!(!server.wants_input());
    answer(&mut server);
    server.send(1000, &mut BytesMut::new());
    assert!(server.wants_input());
}

#[test]
fn the_connection_ends_when_asked_to() {
    let close = b"GET /bytes/3 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\nGET / HTTP/1.1\r\n";
    let mut server = Server::new("http");
    let sent = served(&mut server, close, 1000);
    assert!(sent.starts_with("HTTP/1.1 200 OK\r\n") && sent.contains("connection: close\r\n"));
    assert!(server.is_finished() && !server.wants_input());
    let mut server = Server::new("http");
    assert!(served(&mut server, b"GET /bytes/3 HTTP/1.0\r\n\r\n", 1000).contains("close\r\n"));
    assert!(server.is_finished());
}

#[test]
fn content_of_requests_is_waited_for() {
    let post = b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n\
                 4\r\nGET \r\n0\r\n\r\n\
                 PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\nexpect: 100-continue\r\n\r\n12345";
    // Who has sent the content is not told to.
    for (piece, expected) in
        [(1, &["200 OK", "100 Continue", "200 OK"][..]), (1000, &["200 OK"; 2])]
    {
        let sent = served_by(answer_whole, &mut Server::new("http"), post, piece);
        assert_eq!(statuses(&sent), expected);
    }
}

#[test]
fn an_answer_before_the_end_of_content_is_the_last() {
    let post = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 30\r\nexpect: 100-continue\r\n\r\n\
                 GET / HTTP/1.1\r\nhost: a\r\n\r\n   ";
    let mut server = Server::new("http");
    let (head, content) = post.split_at(post.len() - 30);
    let sent = served(&mut server, head, 1000);
    assert_eq!(statuses(&sent), ["405 Method Not Allowed"]);
    assert!(sent.contains("connection: close\r\n") && server.is_finished());
    assert_eq!(served(&mut server, content, 7), "");
}

#[test]
fn what_is_no_request_is_refused() {
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(70_000));
    let cases = [
        ("GET / HTTP/1.1\r\n\r\n", "400"),
        ("GET / HTTP/3.0\r\nhost: a\r\n\r\n", "505"),
        ("nonsense\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n", "501"),
        (&long, "414"),
    ];
    for (request, status) in cases {
        let mut server = Server::new("http");
        let sent = served(&mut server, request.as_bytes(), 1000);
        assert!(sent.starts_with(&format!("HTTP/1.1 {status} ")), "{sent}");
        assert!(server.is_finished());
    }
}

/// What a client makes of a server's bytes.
fn received(bytes: &'static str, orderly: bool) -> (Client, BytesMut, Option<Failure>) {
    let mut client = Client::default();
    client.request(RequestId(0), Request::get("http", "a.test", "/"), None);
    client.send(1000, &mut BytesMut::new());
    client.receive(Bytes::from_static(bytes.as_bytes()));
    if client.is_free() {
        return (client, BytesMut::new(), None);
    }
    client.close("cut", orderly);
    let (mut content, mut failed) = (BytesMut::new(), None);
    while let Some(event) = client.poll() {
        match event {
            ClientEvent::Data { data, .. } => content.extend_from_slice(&data),
            ClientEvent::Failed { failure, .. } => failed = Some(failure),
            _ => {}
        }
    }
    (client, content, failed)
}

#[test]
fn responses_of_all_lengths() {
    let chunked = "HTTP/1.1 103 Early Hints\r\n\r\n\
                   HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n\
                   3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let (_, content, failure) = received(chunked, true);
    assert_eq!((&content[..], failure), (&b"abcde"[..], None));
    let unknown = "HTTP/1.1 200 OK\r\n\r\nall of it";
    let (_, content, failure) = received(unknown, true);
    assert_eq!((&content[..], failure), (&b"all of it"[..], None));
    assert!(received(unknown, false).2.is_some());
    assert!(received("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc", true).2.is_some());
    assert!(received("HTTP/1.1 204 No Content\r\n\r\n", true).0.is_free());
    assert!(matches!(received("HTTP/1.1 2", true).2, Some(Failure::Connection(_))));
    let broken = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n";
    assert!(matches!(received(broken, true).2, Some(Failure::Malformed(_))));
}

#[test]
fn an_answer_that_nobody_asked_for_ends_the_connection() {
    let mut client = Client::default();
    client.receive(Bytes::from_static(b"HTTP/1.1 200 OK\r\n\r\n"));
    assert!(client.is_closed() && client.poll().is_none());
}
