//! HTTP/1.1 (RFC 9112).

use bytes::{Bytes, BytesMut};
use headway_http::event::RequestId;
use headway_http::h1::Client;
use headway_http::side::ClientSide;
use headway_wire::Request;

use crate::mutants::Chance;
use crate::{Requests, pieces, try_sessions};

/// A response, most of the time a good one.
fn response(chance: &mut Chance) -> Vec<u8> {
    let mut text = Vec::new();
    while chance.one_in(5) {
        text.extend_from_slice(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
    }
    let status = if chance.one_in(2) {
        "200 OK"
    } else {
        *chance.pick(&["204 No Content", "206 Part", "304 Same", "404", "500 \u{fc}", "101 X"])
    };
    let version = if chance.one_in(8) { *chance.pick(&["1.0", "1.2", "2.0"]) } else { "1.1" };
    text.extend_from_slice(format!("HTTP/{version} {status}\r\n").as_bytes());
    let content = chance.bytes(40);
    let more = *chance.pick(&[
        "",
        "Server: x\r\n",
        "connection: close\r\n",
        "a:\t b \r\nkeep-alive: 5\r\n",
    ]);
    text.extend_from_slice(more.as_bytes());
    match chance.below(8) {
        0..=2 => {
            text.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
            for chunk in content.chunks(7) {
                text.extend_from_slice(format!("{:x};x=\"y\"\r\n", chunk.len()).as_bytes());
                text.extend_from_slice(chunk);
                text.extend_from_slice(b"\r\n");
            }
            text.extend_from_slice(b"0\r\ntrailer: x\r\n\r\n");
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
    let mut chance = Chance::new(seed);
    let (mut client, mut requests) = (Client::default(), Requests::default());
    for number in 0..3 {
        let id = RequestId(number);
        let method = (*chance.pick(&["GET", "GET", "HEAD"])).into();
        requests.ask(id);
        client.request(id, Request { method, ..Request::get("http", "a.test", "/") }, None);
        client.send(usize::MAX, &mut BytesMut::new());
        let mut bytes = response(&mut chance);
        if chance.one_in(2) {
            chance.mutate(&mut bytes);
        }
        for piece in pieces(&mut chance, &bytes) {
            client.receive(Bytes::copy_from_slice(piece));
            requests.take(&mut client);
        }
    }
    requests.end(&mut chance, &mut client)
}

#[test]
fn every_request_to_mutants_ends_once() {
    try_sessions(session);
}
