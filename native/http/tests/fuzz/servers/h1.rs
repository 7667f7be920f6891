//! HTTP/1.1 (RFC 9112).

use bytes::Bytes;
use headway_http::h1::Server;
use headway_http::side::ServerSide;
use headway_testlink::Numbers;

use super::Answers;
use crate::common::chunked;
use crate::try_sessions;

/// Of a connection.
const REQUESTS: u64 = 4;

/// A request, most of the time a good one.
fn request(numbers: &mut Numbers) -> Vec<u8> {
    let method = *numbers.pick(&["GET", "GET", "GET", "HEAD", "POST", "OPTIONS", "BREW"]);
    let target = *numbers.pick(&[
        "/bytes/0",
        "/bytes/700",
        "/bytes/40",
        "/",
        "/a?b=c",
        "*",
        "http://a.test/bytes/5",
        "a.test:443",
    ]);
    let version = if numbers.one_in(10) { *numbers.pick(&["1.0", "1.2", "2.0"]) } else { "1.1" };
    let mut text = format!("{method} {target} HTTP/{version}\r\nhost: a.test\r\n").into_bytes();
    let more = ["", "connection: close\r\n", "a:\t b \r\n", "Expect: 100-continue\r\n"];
    text.extend_from_slice(numbers.pick(&more).as_bytes());
    let content = numbers.bytes(40);
    match numbers.below(5) {
        0 => {
            text.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
            text.extend(chunked(&content));
        }
        1 => {
            text.extend_from_slice(format!("Content-Length: {}\r\n\r\n", content.len()).as_bytes());
            text.extend_from_slice(&content);
        }
        _ => text.extend_from_slice(b"\r\n"),
    }
    text
}

fn session(seed: u64) -> [u64; 2] {
    let mut numbers = Numbers::new(seed);
    let (mut server, mut answers) = (Server::new("https"), Answers::default());
    for _ in 0..REQUESTS {
        let mut bytes = request(&mut numbers);
        if numbers.one_in(2) {
            numbers.mutate(&mut bytes);
        }
        for piece in numbers.pieces(&bytes) {
            if server.is_finished() {
                break;
            }
            server.receive(Bytes::copy_from_slice(piece));
            let sent = answers.take(&mut server);
            // What begins is a response, whatever came.
            assert!(sent.is_empty() || sent[0] == b'H' || !answers.requests.is_empty());
        }
    }
    answers.end_all(&mut server, REQUESTS)
}

#[test]
fn every_mutant_of_a_request_is_answered_or_refused() {
    try_sessions(session);
}
