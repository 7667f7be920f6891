//! HTTP/1.1 (RFC 9112).

use bytes::{Bytes, BytesMut};
use headway_http::event::RequestId;
use headway_http::h1::Client;
use headway_http::side::ClientSide;
use headway_testlink::Numbers;
use headway_wire::Request;

use super::Requests;
use crate::common::chunked;
use crate::try_sessions;

/// A response, most of the time a good one.
fn response(numbers: &mut Numbers) -> Vec<u8> {
    let mut text = Vec::new();
    while numbers.one_in(5) {
        text.extend_from_slice(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
    }
    let status = if numbers.one_in(2) {
        "200 OK"
    } else {
        *numbers.pick(&["204 No Content", "206 Part", "304 Same", "404", "500 \u{fc}", "101 X"])
    };
    let version = if numbers.one_in(8) { *numbers.pick(&["1.0", "1.2", "2.0"]) } else { "1.1" };
    text.extend_from_slice(format!("HTTP/{version} {status}\r\n").as_bytes());
    let content = numbers.bytes(40);
    let more = *numbers.pick(&[
        "",
        "Server: x\r\n",
        "connection: close\r\n",
        "a:\t b \r\nkeep-alive: 5\r\n",
    ]);
    text.extend_from_slice(more.as_bytes());
    match numbers.below(8) {
        0..=2 => {
            text.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
            text.extend(chunked(&content));
        }
        3 => {
            text.extend_from_slice(b"\r\n");
            text.extend_from_slice(&content);
        }
        _ => {
            text.extend_from_slice(format!("Content-Length: {}\r\n\r\n", content.len()).as_bytes());
            text.extend_from_slice(&content);
        }
    }
    text
}

fn session(seed: u64) -> [u64; 2] {
    let mut numbers = Numbers::new(seed);
    let (mut client, mut requests) = (Client::default(), Requests::default());
    for number in 0..3 {
        let id = RequestId(number);
        let method = (*numbers.pick(&["GET", "GET", "HEAD"])).into();
        requests.ask(id);
        client.request(id, Request { method, ..Request::get("http", "a.test", "/") }, None);
        client.send(usize::MAX, &mut BytesMut::new());
        let mut bytes = response(&mut numbers);
        if numbers.one_in(2) {
            numbers.mutate(&mut bytes);
        }
        for piece in numbers.pieces(&bytes) {
            client.receive(Bytes::copy_from_slice(piece));
            requests.take(&mut client);
        }
    }
    requests.end(&mut numbers, &mut client)
}

#[test]
fn every_request_to_mutants_ends_once() {
    try_sessions(session);
}
