//! HTTP/2 (RFC 9113).

use bytes::{Bytes, BytesMut};
use headway_http::h2::{Server, ServerOptions};
use headway_http::side::ServerSide;
use headway_testlink::Numbers;
use headway_wire::h2::{PREFACE, Role, Settings, encode};
use headway_wire::{Request, hpack};

use super::Answers;
use crate::common::{Watching, any_frame};
use crate::try_sessions;

/// Of a connection.
const REQUESTS: u32 = 4;

/// What a client of HTTP/2 sends, most of it good.
struct Sending {
    out: BytesMut,
    encoder: hpack::Encoder,
}

impl Sending {
    fn request(&mut self, numbers: &mut Numbers, stream: u32) {
        let path = *numbers.pick(&["/bytes/0", "/bytes/700", "/bytes/40", "/a?b=c", "*"]);
        let method = (*numbers.pick(&["GET", "GET", "GET", "HEAD", "POST"])).into();
        let request = Request { method, ..Request::get("https", "a.test", path) };
        let mut block = BytesMut::new();
        self.encoder.encode(request.lines(), &mut block);
        let ends = !numbers.one_in(4);
        let size = *numbers.pick(&[10, 16_384]);
        encode::headers(stream, &block, None, ends, size, &mut self.out);
        if !ends {
            let content = numbers.bytes(20);
            encode::data_header(stream, content.len(), numbers.one_in(2), &mut self.out);
            self.out.extend_from_slice(&content);
        }
    }

    /// Something about one of so many streams that are open, or were.
    fn frame(&mut self, numbers: &mut Numbers, opened: u32) {
        let stream = match numbers.below(20) {
            0 => *numbers.pick(&[0, 2, 101]),
            _ => 1 + 2 * numbers.below(opened as usize) as u32,
        };
        match numbers.below(24) {
            0..=5 => {
                let some = numbers.any() as u32 >> numbers.below(32);
                let stream = if numbers.one_in(2) { 0 } else { stream };
                encode::window_update(stream, some, &mut self.out);
            }
            6 | 7 => encode::ping(numbers.one_in(2), [7; 8], &mut self.out),
            8..=10 => {
                let wild = numbers.any() as u32 >> numbers.below(32);
                let window = *numbers.pick(&[0, 1, 65_535, wild]);
                let settings =
                    Settings { initial_window_size: Some(window), ..Settings::default() };
                encode::settings(&settings, &mut self.out);
            }
            11..=13 => {
                let code = headway_wire::h2::ErrorCode::from_code(numbers.below(14) as u32);
                encode::reset_stream(stream, code.unwrap(), &mut self.out);
            }
            14 | 15 => {
                let content = numbers.bytes(20);
                encode::data_header(stream, content.len(), numbers.one_in(3), &mut self.out);
                self.out.extend_from_slice(&content);
            }
            16 => any_frame(numbers, stream, &mut self.out),
            _ => {}
        }
    }
}

fn session(seed: u64) -> [u64; 2] {
    let mut numbers = Numbers::new(seed);
    let options = ServerOptions {
        frame_bytes: *numbers.pick(&[100, 1400]),
        table_bytes: *numbers.pick(&[0, 4096]),
        ..ServerOptions::default()
    };
    let (mut server, mut answers) = (Server::new(options), Answers::default());
    let mut watching = Watching::from_side_of(Role::Client);
    let mut sending = Sending { out: BytesMut::new(), encoder: hpack::Encoder::new(4096) };
    sending.out.extend_from_slice(PREFACE);
    let window = *numbers.pick(&[30, 65_535, 65_535]);
    encode::settings(
        &Settings { initial_window_size: Some(window), ..Settings::default() },
        &mut sending.out,
    );
    for number in 0..REQUESTS {
        sending.request(&mut numbers, 2 * number + 1);
        for _ in 0..numbers.below(3) {
            sending.frame(&mut numbers, number + 1);
        }
        let mut bytes = sending.out.split().to_vec();
        if numbers.one_in(3) {
            numbers.mutate(&mut bytes);
        }
        for piece in numbers.pieces(&bytes) {
            server.receive(Bytes::copy_from_slice(piece));
            let sent = answers.take(&mut server);
            watching.take(sent);
        }
    }
    answers.end_all(&mut server, u64::from(REQUESTS))
}

#[test]
fn every_mutant_of_a_request_is_answered_or_refused() {
    try_sessions(session);
}
