//! HTTP/2 (RFC 9113).

use bytes::{Bytes, BytesMut};
use headway_http::event::RequestId;
use headway_http::h2::{Client, ClientOptions};
use headway_http::side::ClientSide;
use headway_testlink::Numbers;
use headway_wire::h2::{PREFACE, Role, Settings, encode};
use headway_wire::{Request, hpack};

use super::Requests;
use crate::common::{Watching, any_frame};
use crate::try_sessions;

/// What a server of HTTP/2 sends, most of it good.
struct Sending {
    out: BytesMut,
    encoder: hpack::Encoder,
}

impl Sending {
    fn head(&mut self, numbers: &mut Numbers, stream: u32) {
        let status = *numbers.pick(&["200", "200", "103", "304", "404", "101", "1"]);
        let length = *numbers.pick(&["5", "0", "x", "99999999999999999999"]);
        let lines: [(&str, &str); 4] = [
            (":status", status),
            ("server", "x"),
            ("content-length", length),
            ("x-long", "value of a field"),
        ];
        let some = 1 + numbers.below(lines.len());
        let mut block = BytesMut::new();
        let lines = lines[..some].iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        self.encoder.encode(lines, &mut block);
        let size = *numbers.pick(&[10, 16_384]);
        encode::headers(stream, &block, None, numbers.one_in(4), size, &mut self.out);
    }

    /// A response as it should be.
    fn response(&mut self, numbers: &mut Numbers, stream: u32) {
        let content = numbers.bytes(20);
        let length = content.len().to_string();
        let lines = [(":status", "200"), ("server", "a name"), ("content-length", &length)];
        let mut block = BytesMut::new();
        let lines = lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        self.encoder.encode(lines, &mut block);
        encode::headers(stream, &block, None, false, 16_384, &mut self.out);
        encode::data_header(stream, content.len(), true, &mut self.out);
        self.out.extend_from_slice(&content);
    }

    /// Something about one of so many streams that are open, or were.
    fn frame(&mut self, numbers: &mut Numbers, opened: usize) {
        let stream = match numbers.below(30) {
            0 => *numbers.pick(&[0, 2, 9, 11]),
            _ => 1 + 2 * numbers.below(opened) as u32,
        };
        match numbers.below(40) {
            0..=2 => self.head(numbers, stream),
            3..=5 => {
                let content = numbers.bytes(20);
                encode::data_header(stream, content.len(), numbers.one_in(3), &mut self.out);
                self.out.extend_from_slice(&content);
            }
            7 => encode::window_update(
                stream,
                numbers.any() as u32 >> numbers.below(32),
                &mut self.out,
            ),
            8..=10 => encode::ping(numbers.one_in(2), [7; 8], &mut self.out),
            11 | 12 => {
                let wild = numbers.any() as u32 >> numbers.below(32);
                let number = if numbers.one_in(5) { wild } else { 16_384 + wild % 1000 };
                let settings = Settings {
                    header_table_size: numbers.one_in(2).then_some(number),
                    max_concurrent_streams: numbers.one_in(2).then_some(1 + number % 4),
                    initial_window_size: numbers.one_in(2).then_some(number),
                    max_frame_size: numbers.one_in(2).then_some(number),
                    ..Settings::default()
                };
                encode::settings(&settings, &mut self.out);
            }
            13 => {
                let code =
                    headway_wire::h2::ErrorCode::from_code(numbers.below(14) as u32).unwrap();
                if numbers.one_in(3) {
                    encode::goaway(stream, code, b"bye", &mut self.out);
                } else {
                    encode::reset_stream(stream, code, &mut self.out);
                }
            }
            14 => any_frame(numbers, stream, &mut self.out),
            _ => self.response(numbers, stream),
        }
    }
}

fn session(seed: u64) -> [u64; 2] {
    let mut numbers = Numbers::new(seed);
    let small = numbers.one_in(2);
    let options = ClientOptions {
        stream_window_bytes: if small { 30 } else { 1 << 20 },
        table_bytes: if small { 0 } else { 4096 },
        ..ClientOptions::default()
    };
    let (mut client, mut requests) = (Client::new(options), Requests::default());
    let mut watching = Watching::from_side_of(Role::Server);
    let mut sending = Sending { out: BytesMut::new(), encoder: hpack::Encoder::new(4096) };
    encode::settings(&Settings::default(), &mut sending.out);
    let mut first = BytesMut::new();
    client.send(usize::MAX, &mut first);
    assert!(first.starts_with(PREFACE));
    watching.take(first);
    for number in 0..4 {
        let id = RequestId(number);
        requests.ask(id);
        let method = (*numbers.pick(&["GET", "GET", "HEAD"])).into();
        client.request(id, Request { method, ..Request::get("https", "a.test", "/") }, None);
        for _ in 0..numbers.below(3) {
            sending.frame(&mut numbers, number as usize + 1);
        }
        let mut bytes = sending.out.split().to_vec();
        if numbers.one_in(3) {
            numbers.mutate(&mut bytes);
        }
        for piece in numbers.pieces(&bytes) {
            client.receive(Bytes::copy_from_slice(piece));
            requests.take(&mut client);
            let mut sent = BytesMut::new();
            client.send(usize::MAX, &mut sent);
            watching.take(sent);
            requests.take(&mut client);
        }
    }
    requests.end(&mut numbers, &mut client)
}

#[test]
fn every_request_to_mutants_ends_once() {
    try_sessions(session);
}
