//! HTTP/2: both sides in memory, and the server against frames made by hand.

#![allow(clippy::unwrap_used)]

#[path = "support/pattern.rs"]
mod pattern;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use headway_http::event::{ClientEvent, Failure, Importance, RequestId, ServerEvent};
use headway_http::h2::{Client, ClientOptions, Server, ServerOptions};
use headway_http::limits::Limits;
use headway_http::side::{ClientSide, ServerSide};
use headway_schedule::Strategy as Schedule;
use headway_wire::h2::{
    Decoder, ErrorCode, Frame, Limits as FrameLimits, MAX_WINDOW, Role, Settings, encode,
};
use headway_wire::{Dependency, Request, hpack};
use pattern::{body, respond};
use proptest::prelude::*;

fn get(path: impl Into<String>) -> Request {
    Request::get("https", "server.test", path)
}

#[derive(Debug, Default)]
struct Outcome {
    status: Option<u16>,
    content: BytesMut,
    finished: bool,
    failure: Option<Failure>,
}

/// A client and a server, joined by what the test carries from one to the other.
struct Joined {
    client: Client,
    server: Server,
    outcomes: BTreeMap<RequestId, Outcome>,
    served: u64,
}

impl Joined {
    fn new(client: ClientOptions, server: ServerOptions) -> Self {
        Self {
            client: Client::new(client),
            server: Server::new(server),
            outcomes: BTreeMap::new(),
            served: 0,
        }
    }

    fn server_gets(&mut self, bytes: Bytes) {
        self.server.receive(bytes);
        while let Some(event) = self.server.poll() {
            match event {
                ServerEvent::Request { id, request } => {
                    self.server.respond(id, respond(&request));
                }
                ServerEvent::Finished { sent_bytes, .. } => self.served += sent_bytes,
                ServerEvent::Aborted { .. } => {}
            }
        }
    }

    fn client_gets(&mut self, bytes: Bytes) {
        self.client.receive(bytes);
        while let Some(event) = self.client.poll() {
            let outcome = self.outcomes.entry(event.id()).or_default();
            match event {
                ClientEvent::Sent { .. } => {}
                ClientEvent::Head { response, .. } => outcome.status = Some(response.status),
                ClientEvent::Data { data, .. } => outcome.content.extend_from_slice(&data),
                ClientEvent::Finished { .. } => outcome.finished = true,
                ClientEvent::Failed { failure, .. } => outcome.failure = Some(failure),
            }
        }
    }

    /// Carries bytes both ways, in pieces of these sizes over and over, until nobody has any.
    fn run(&mut self, pieces: &[usize]) {
        let mut pieces = pieces.iter().copied().cycle();
        while self.client.wants_send() || self.server.wants_send() {
            let mut sent = BytesMut::new();
            self.client.send(pieces.next().unwrap(), &mut sent);
            while !sent.is_empty() {
                let piece = sent.split_to(pieces.next().unwrap().min(sent.len()));
                self.server_gets(piece.freeze());
            }
            self.server.send(pieces.next().unwrap(), &mut sent);
            while !sent.is_empty() {
                let piece = sent.split_to(pieces.next().unwrap().min(sent.len()));
                self.client_gets(piece.freeze());
            }
        }
        self.server_gets(Bytes::new());
    }
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let names = ["sequential", "round-robin", "batched-round-robin:3", "weighted-round-robin"];
    let names = [&names[..], &["dependency-tree", "rfc9218"]].concat();
    prop::sample::select(names).prop_map(|name| name.parse().unwrap())
}

fn importances() -> impl Strategy<Value = Option<Importance>> {
    prop::option::of((prop::option::of(0..20u64), 1..=256u16, any::<bool>()).prop_map(
        |(parent, weight, exclusive)| Importance {
            parent: parent.map(RequestId),
            weight,
            exclusive,
        },
    ))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn every_response_arrives_whole(
        requests in prop::collection::vec((0..30_000u64, 0..8u8, any::<bool>(), importances()), 1..20),
        pieces in prop::collection::vec(1..5000usize, 1..20),
        strategy in schedules(),
        frame_bytes in 1..20_000usize,
        lone_frame_bytes in 1..20_000usize,
        max_streams in 1..30u32,
        stream_window_bytes in 1..100_000u32,
        connection_window_bytes in 1..200_000u32,
    ) {
        let client = ClientOptions {
            stream_window_bytes,
            connection_window_bytes,
            ..ClientOptions::default()
        };
        // A window of a few bytes makes frames of a few bytes: keep the work within bounds.
        let scale = if stream_window_bytes < 1000 || frame_bytes < 100 { 50 } else { 1 };
        let frames = ServerOptions { lone_frame_bytes, ..frames_of(frame_bytes) };
        let server = ServerOptions { strategy, max_streams, ..frames };
        let mut joined = Joined::new(client, server);
        // The client learns how many streams there may be.
        joined.run(&pieces);
        for (number, &(size, urgency, incremental, importance)) in requests.iter().enumerate() {
            let mut request = get(format!("/bytes/{}", size / scale));
            let priority = headway_wire::Priority { urgency, incremental, dependency: None };
            request.fields.push("priority", priority.to_value());
            joined.client.request(RequestId(number as u64), request, importance);
        }
        joined.run(&pieces);
        prop_assert_eq!(joined.outcomes.len(), requests.len());
        for (outcome, &(size, ..)) in joined.outcomes.values().zip(&requests) {
            prop_assert!(outcome.finished && outcome.failure.is_none(), "{:?}", outcome.failure);
            prop_assert_eq!(outcome.status, Some(200));
            prop_assert!(outcome.content == body(size / scale));
        }
        prop_assert_eq!(joined.served, requests.iter().map(|&(size, ..)| size / scale).sum::<u64>());
    }

    #[test]
    fn any_bytes_are_survived(bytes: Vec<u8>, preface: bool) {
        let mut server = Server::new(ServerOptions::default());
        let mut client = Client::new(ClientOptions::default());
        client.request(RequestId(0), get("/"), None);
        client.send(usize::MAX, &mut BytesMut::new());
        let mut start = BytesMut::new();
        if preface {
            encode::preface(&mut start);
            encode::settings(&Settings::default(), &mut start);
        }
        start.extend_from_slice(&bytes);
        server.receive(start.freeze());
        client.receive(bytes.into());
    }

    #[test]
    fn any_frames_are_survived(frames in prop::collection::vec(
        (0..12u8, any::<u8>(), 0..8u32, prop::collection::vec(any::<u8>(), 0..40)), 0..30)
    ) {
        let mut sent = BytesMut::new();
        encode::preface(&mut sent);
        encode::settings(&Settings::default(), &mut sent);
        for (kind, flags, stream, payload) in frames {
            sent.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
            sent.extend_from_slice(&[kind, flags]);
            sent.extend_from_slice(&stream.to_be_bytes());
            sent.extend_from_slice(&payload);
        }
        let mut server = Server::new(ServerOptions::default());
        server.receive(sent.clone().freeze());
        let mut client = Client::new(ClientOptions::default());
        client.request(RequestId(0), get("/"), None);
        client.send(usize::MAX, &mut BytesMut::new());
        client.receive(sent.split_off(24).freeze());
    }
}

/// A server of frames of this size, whether a response is the only one or not.
fn frames_of(bytes: usize) -> ServerOptions {
    let (frame_bytes, lone_frame_bytes) = (bytes, bytes);
    ServerOptions { frame_bytes, lone_frame_bytes, ..ServerOptions::default() }
}

/// A client made by hand, that sees frames.
struct Raw {
    server: Server,
    out: BytesMut,
    decoder: Decoder,
    fields: hpack::Encoder,
}

impl Raw {
    fn new(options: ServerOptions, settings: Settings) -> Self {
        let mut out = BytesMut::new();
        encode::preface(&mut out);
        encode::settings(&settings, &mut out);
        let limits = FrameLimits { max_frame_size: 1 << 20, ..FrameLimits::default() };
        let decoder = Decoder::new(Role::Client, limits);
        Self { server: Server::new(options), out, decoder, fields: hpack::Encoder::default() }
    }

    fn with(strategy: &str) -> Self {
        let strategy = strategy.parse().unwrap();
        Self::new(ServerOptions { strategy, ..frames_of(1000) }, Settings::default())
    }

    fn request(&mut self, stream: u32, request: &Request, dependency: Option<Dependency>) {
        let mut block = BytesMut::new();
        self.fields.encode(request.lines(), &mut block);
        encode::headers(stream, &block, dependency.as_ref(), true, 16_384, &mut self.out);
    }

    /// Hands on what was written, answers requests, and returns what the server sends.
    fn exchange(&mut self) -> Vec<Frame> {
        self.flush();
        let mut sent = BytesMut::new();
        while self.server.wants_send() {
            self.server.send(1 << 20, &mut sent);
        }
        self.frames(sent)
    }

    fn flush(&mut self) {
        self.server.receive(self.out.split().freeze());
        while let Some(event) = self.server.poll() {
            if let ServerEvent::Request { id, request } = event {
                self.server.respond(id, respond(&request));
            }
        }
    }

    fn frames(&mut self, sent: BytesMut) -> Vec<Frame> {
        let mut sent = sent.freeze();
        std::iter::from_fn(|| self.decoder.decode(&mut sent).unwrap()).collect()
    }

    /// The streams of the DATA frames, in order.
    fn order(&mut self) -> Vec<u32> {
        let frames = self.exchange();
        let stream = |frame: &Frame| match frame {
            Frame::Data { stream, .. } => Some(*stream),
            _ => None,
        };
        frames.iter().filter_map(stream).collect()
    }

    fn goaway(&mut self) -> Option<ErrorCode> {
        let code = |frame: &Frame| match frame {
            Frame::GoAway { code, .. } => ErrorCode::from_code(*code),
            _ => None,
        };
        self.exchange().iter().find_map(code)
    }
}

fn prioritised(path: &str, value: &'static str) -> Request {
    let mut request = get(path);
    request.fields.push("priority", value);
    request
}

#[test]
fn the_schedulers_order_is_the_order_of_frames() {
    let mut sequential = Raw::with("sequential");
    let mut fair = Raw::with("round-robin");
    for stream in [1, 3, 5] {
        sequential.request(stream, &get("/bytes/3000"), None);
        fair.request(stream, &get("/bytes/3000"), None);
    }
    assert_eq!(sequential.order(), [1, 1, 1, 3, 3, 3, 5, 5, 5]);
    assert_eq!(fair.order(), [1, 3, 5, 1, 3, 5, 1, 3, 5]);
    // By urgency; equal ones that are not incremental one after another, incremental ones in turn.
    let mut urgent = Raw::with("rfc9218");
    urgent.request(1, &prioritised("/bytes/2000", "u=5, i"), None);
    urgent.request(3, &prioritised("/bytes/2000", "u=5, i"), None);
    urgent.request(5, &prioritised("/bytes/2000", "u=1"), None);
    urgent.request(7, &prioritised("/bytes/2000", "u=1"), None);
    assert_eq!(urgent.order(), [5, 5, 7, 7, 1, 3, 1, 3]);
}

#[test]
fn priority_update_counts_before_and_after_the_request() {
    let mut raw = Raw::with("rfc9218");
    encode::priority_update(5, b"u=0", &mut raw.out);
    for stream in [1, 3, 5] {
        raw.request(stream, &get("/bytes/2000"), None);
    }
    raw.flush();
    encode::priority_update(3, b"u=1", &mut raw.out);
    assert_eq!(raw.order(), [5, 5, 3, 3, 1, 1]);
}

#[test]
fn dependencies_come_with_headers_and_with_priority_frames() {
    let on = |parent| Some(Dependency { parent: Some(parent), weight: 16, exclusive: false });
    let mut raw = Raw::with("dependency-tree");
    // 3 depends on 5, which comes later; then 1 is put behind 3.
    raw.request(1, &get("/bytes/2000"), None);
    raw.request(3, &get("/bytes/2000"), on(5));
    raw.request(5, &get("/bytes/2000"), on(0));
    raw.flush();
    encode::priority(1, &on(3).unwrap(), &mut raw.out);
    encode::priority(3, &on(5).unwrap(), &mut raw.out);
    assert_eq!(raw.order(), [5, 5, 3, 3, 1, 1]);
}

#[test]
fn a_blocked_stream_lets_others_pass() {
    let mut raw = Raw::with("sequential");
    raw.request(1, &get("/bytes/70000"), None);
    raw.request(3, &get("/bytes/1000"), None);
    // The connection's window of 65535 bytes is used up first.
    assert_eq!(raw.order(), [[1; 66].as_slice(), &[]].concat());
    encode::window_update(0, 1 << 20, &mut raw.out);
    // Stream 1 has used up its own.
    assert_eq!(raw.order(), [3]);
    encode::window_update(1, 1 << 20, &mut raw.out);
    assert_eq!(raw.order(), [1, 1, 1, 1, 1]);
}

#[test]
fn settings_change_the_windows_of_open_streams() {
    let settings = |bytes| Settings { initial_window_size: Some(bytes), ..Settings::default() };
    let mut raw = Raw::new(frames_of(1000), settings(2500));
    raw.request(1, &get("/bytes/6000"), None);
    assert_eq!(raw.order().len(), 3);
    // 2500 are used: the window is 1000 - 2500, which an increment of 2500 makes 1000.
    encode::settings(&settings(1000), &mut raw.out);
    encode::window_update(1, 1500, &mut raw.out);
    assert_eq!(raw.order().len(), 0);
    encode::window_update(1, 1000, &mut raw.out);
    assert_eq!(raw.order().len(), 1);
    encode::settings(&settings(100_000), &mut raw.out);
    assert_eq!(raw.order().len(), 3);
}

#[test]
fn nothing_is_sent_beyond_the_room_but_a_first_frame() {
    let mut raw = Raw::with("round-robin");
    raw.request(1, &get("/bytes/100000"), None);
    raw.exchange();
    encode::window_update(0, 1 << 20, &mut raw.out);
    encode::window_update(1, 1 << 20, &mut raw.out);
    raw.flush();
    let mut sent = BytesMut::new();
    raw.server.send(3500, &mut sent);
    // Three frames of 9 + 1000 bytes; a fourth does not fit.
    assert_eq!(sent.split().len(), 3027);
    raw.server.send(10, &mut sent);
    assert_eq!(sent.len(), 1009);
}

/// A response has frames as large as may be until another one is there, and fills the room exactly.
#[test]
fn frames_are_large_while_a_response_is_alone() {
    let strategy = "round-robin".parse().unwrap();
    let settings = Settings { initial_window_size: Some(1 << 20), ..Settings::default() };
    let mut raw = Raw::new(ServerOptions { strategy, ..ServerOptions::default() }, settings);
    encode::window_update(0, 1 << 20, &mut raw.out);
    // The frames of content in this room, and how many bytes are sent in all.
    let mut frames = |paths: &[(u32, u64)], room| {
        for &(stream, size) in paths {
            raw.request(stream, &get(format!("/bytes/{size}")), None);
        }
        raw.flush();
        let mut sent = BytesMut::new();
        raw.server.send(room, &mut sent);
        let (bytes, mut lengths) = (sent.len(), Vec::new());
        for frame in raw.frames(sent) {
            if let Frame::Data { stream, data, .. } = frame {
                lengths.push((stream, data.len()));
            }
        }
        (lengths, bytes)
    };
    let (first, bytes) = frames(&[(1, 100_000)], 8192);
    assert!(first.len() == 1 && first[0].1 > 7000 && bytes == 8192, "{first:?} {bytes}");
    let rest = 40_000 - 2 * (9 + 16_384) - 9;
    assert_eq!(frames(&[], 40_000), (vec![(1, 16_384), (1, 16_384), (1, rest)], 40_000));
    assert_eq!(frames(&[], 100), (vec![(1, 1400)], 1409));
    assert_eq!(frames(&[(3, 3000)], 3000).0, [(3, 1400), (1, 1400)]);
    let (rest, _) = frames(&[], 1 << 20);
    assert_eq!(rest[..4], [(3, 1400), (1, 1400), (3, 200), (1, 16_384)]);
}

/// What a client does wrong.
type Act = fn(&mut Raw);

#[test]
fn what_breaks_the_rules_ends_the_connection() {
    let cases: [(Act, ErrorCode); 6] = [
        (|raw| encode::window_update(7, 1, &mut raw.out), ErrorCode::ProtocolError),
        (|raw| encode::reset_stream(7, ErrorCode::Cancel, &mut raw.out), ErrorCode::ProtocolError),
        (|raw| raw.request(2, &get("/"), None), ErrorCode::ProtocolError),
        (|raw| encode::priority_update(2, b"u=1", &mut raw.out), ErrorCode::ProtocolError),
        (
            |raw| encode::window_update(0, i32::MAX as u32, &mut raw.out),
            ErrorCode::FlowControlError,
        ),
        (
            |raw| {
                encode::data_header(7, 10_000, false, &mut raw.out);
                raw.out.extend_from_slice(&[0; 10_000]);
            },
            ErrorCode::ProtocolError,
        ),
    ];
    for (number, (act, code)) in cases.into_iter().enumerate() {
        let mut raw = Raw::with("sequential");
        raw.exchange();
        act(&mut raw);
        assert_eq!(raw.goaway(), Some(code), "case {number}");
        assert!(raw.server.is_finished());
    }
}

/// How many resets and the like may come at once.
fn limited(limits: Limits) -> Raw {
    let mut raw =
        Raw::new(ServerOptions { limits, ..ServerOptions::default() }, Settings::default());
    raw.exchange();
    raw
}

/// Why the server ends the connection, if it does.
fn calmed(raw: &mut Raw) -> Option<String> {
    raw.exchange().into_iter().find_map(|frame| match frame {
        Frame::GoAway { code, debug, .. } => {
            assert_eq!(code, ErrorCode::EnhanceYourCalm.code());
            Some(String::from_utf8(debug.to_vec()).unwrap())
        }
        _ => None,
    })
}

/// What gives one request up after the other.
type GivingUp = fn(&mut Raw, u32);

#[test]
fn requests_given_up_faster_than_allowed_end_the_connection() {
    let rapid_reset: GivingUp = |raw, stream| {
        raw.request(stream, &get("/bytes/1000"), None);
        encode::reset_stream(stream, ErrorCode::Cancel, &mut raw.out);
    };
    // Each is paired with one that is answered.
    let paired: GivingUp = |raw, stream| {
        raw.request(2 * stream - 1, &get("/bytes/10"), None);
        raw.exchange();
        raw.request(2 * stream + 1, &get("/bytes/1000"), None);
        encode::reset_stream(2 * stream + 1, ErrorCode::Cancel, &mut raw.out);
    };
    let answered: GivingUp = |raw, stream| {
        raw.request(stream, &get("/bytes/10"), None);
        raw.exchange();
        encode::reset_stream(stream, ErrorCode::Cancel, &mut raw.out);
    };
    // The server is made to reset them itself ("MadeYouReset").
    let made_to_reset: GivingUp = |raw, stream| {
        raw.request(stream, &get("/bytes/1000000"), None);
        encode::window_update(stream, 0, &mut raw.out);
    };
    let overflowing: GivingUp = |raw, stream| {
        raw.request(stream, &get("/bytes/1000000"), None);
        encode::window_update(stream, MAX_WINDOW, &mut raw.out);
    };
    for (name, act) in [
        ("rapid reset", rapid_reset),
        ("paired", paired),
        ("answered", answered),
        ("made to reset", made_to_reset),
        ("overflowing", overflowing),
    ] {
        let mut raw = limited(Limits { resets_per_second: Some(5), ..Limits::default() });
        let start = Instant::now();
        for (number, stream) in (1..).step_by(2).take(50).enumerate() {
            raw.server.set_now(start);
            act(&mut raw, stream);
            assert_eq!(calmed(&mut raw), None, "{name} {number}");
        }
        // A second later there may be five more.
        raw.server.set_now(start + Duration::from_secs(1));
        for stream in (101..).step_by(2).take(5) {
            act(&mut raw, stream);
            assert_eq!(calmed(&mut raw), None, "{name}");
        }
        act(&mut raw, 111);
        let said = calmed(&mut raw);
        let expected = "resets-per-second=5: 56 came, faster than that";
        assert_eq!(said.as_deref(), Some(expected), "{name}");
        assert!(raw.server.is_finished());
    }
}

#[test]
fn settings_and_pings_that_come_faster_than_allowed_end_the_connection() {
    let limits =
        Limits { settings_per_second: Some(3), pings_per_second: Some(2), ..Limits::default() };
    // The first ones came with the connection.
    let settings: fn(&mut Raw) = |raw| encode::settings(&Settings::default(), &mut raw.out);
    let ping: fn(&mut Raw) = |raw| encode::ping(false, [1; 8], &mut raw.out);
    let cases = [(settings, 29, "settings-per-second=3: 31"), (ping, 20, "pings-per-second=2: 21")];
    for (act, allowed, expected) in cases {
        let mut raw = limited(limits);
        (0..allowed).for_each(|_| act(&mut raw));
        assert_eq!(calmed(&mut raw), None);
        act(&mut raw);
        let said = calmed(&mut raw);
        assert_eq!(said, Some(format!("{expected} came, faster than that")));
        let mut raw = limited(Limits::OFF);
        (0..2000).for_each(|_| act(&mut raw));
        assert_eq!(calmed(&mut raw), None);
    }
}

#[test]
fn windows_of_all_streams_close_and_open_at_once() {
    let mut raw = limited(Limits::OFF);
    let window = |raw: &mut Raw, bytes| {
        let settings = Settings { initial_window_size: Some(bytes), ..Settings::default() };
        encode::settings(&settings, &mut raw.out);
        let data = |frame: &Frame| match frame {
            Frame::Data { stream, data, .. } => Some((*stream, data.len())),
            _ => None,
        };
        raw.exchange().iter().filter_map(data).collect::<Vec<_>>()
    };
    assert_eq!(window(&mut raw, 0), []);
    for stream in [1, 3, 5] {
        raw.request(stream, &get("/bytes/1000"), None);
    }
    encode::window_update(3, 10, &mut raw.out);
    assert_eq!(window(&mut raw, 0), [(3, 10)]);
    assert_eq!(window(&mut raw, 5), [(1, 5), (3, 5), (5, 5)]);
    assert_eq!(window(&mut raw, 0), []);
    encode::window_update(1, 7, &mut raw.out);
    assert_eq!(window(&mut raw, 0), [(1, 2)]);
    assert_eq!(window(&mut raw, 5), [(1, 5)]);
    let total: usize = window(&mut raw, 2000).iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(total, 3000 - 10 - 15 - 2 - 5);
}

#[test]
fn windows_above_the_largest_are_an_error_whatever_made_them() {
    let mut raw = limited(Limits::OFF);
    for (stream, increment) in [(1, MAX_WINDOW - 65_535), (3, 1)] {
        raw.request(stream, &get("/bytes/1000000"), None);
        encode::window_update(stream, increment, &mut raw.out);
    }
    assert_eq!(raw.goaway(), None);
    // The larger one is no more.
    encode::reset_stream(1, ErrorCode::Cancel, &mut raw.out);
    let larger = |bytes| Settings { initial_window_size: Some(bytes), ..Settings::default() };
    encode::settings(&larger(MAX_WINDOW - 1), &mut raw.out);
    assert_eq!(raw.goaway(), None);
    encode::settings(&larger(MAX_WINDOW), &mut raw.out);
    assert_eq!(raw.goaway(), Some(ErrorCode::FlowControlError));
}

#[test]
fn more_streams_than_allowed_are_refused() {
    let options = ServerOptions { max_streams: 2, ..ServerOptions::default() };
    let mut raw = Raw::new(options, Settings::default());
    for stream in [1, 3, 5] {
        raw.request(stream, &get("/bytes/1000000"), None);
    }
    let refused = Frame::ResetStream { stream: 5, code: ErrorCode::RefusedStream.code() };
    assert!(raw.exchange().contains(&refused));
}

#[test]
fn a_client_that_does_not_read_answers_is_not_read() {
    let mut raw = Raw::with("sequential");
    raw.exchange();
    for _ in 0..10_000 {
        encode::ping(false, [1; 8], &mut raw.out);
    }
    let mut taken = 0;
    while raw.server.wants_input() && !raw.out.is_empty() {
        let piece = raw.out.split_to(170);
        taken += piece.len();
        raw.server.receive(piece.freeze());
    }
    // An answer is as long as the question; 64 KiB of them may wait.
    assert!(taken < 70_000, "{taken} bytes taken");
}

#[test]
fn a_request_with_content_is_answered_and_its_rest_refused() {
    let mut raw = Raw::with("sequential");
    let request = Request { method: "POST".into(), ..get("/bytes/10") };
    let mut block = BytesMut::new();
    raw.fields.encode(request.lines(), &mut block);
    encode::headers(1, &block, None, false, 16_384, &mut raw.out);
    let reset = Frame::ResetStream { stream: 1, code: ErrorCode::NoError.code() };
    assert!(raw.exchange().contains(&reset));
    // What was on its way counts against the connection's window only.
    for _ in 0..3 {
        encode::data_header(1, 16_000, false, &mut raw.out);
        raw.out.extend_from_slice(&[0; 16_000]);
    }
    let answers = raw.exchange();
    assert_eq!(answers, [Frame::WindowUpdate { stream: 0, increment: 48_000 }]);
}

#[test]
fn a_server_that_goes_away_finishes_what_it_began() {
    let mut joined = Joined::new(ClientOptions::default(), ServerOptions::default());
    joined.client.request(RequestId(0), get("/bytes/50000"), None);
    let mut sent = BytesMut::new();
    joined.client.send(usize::MAX, &mut sent);
    joined.server_gets(sent.split().freeze());
    joined.server.go_away();
    joined.run(&[1000]);
    joined.client.request(RequestId(1), get("/bytes/1"), None);
    joined.client_gets(Bytes::new());
    assert!(joined.outcomes[&RequestId(0)].finished && joined.server.is_finished());
    assert_eq!(joined.outcomes[&RequestId(1)].failure, Some(Failure::Refused));
}

/// What a client makes of a server's frames.
fn client_after(frames: impl FnOnce(&mut BytesMut)) -> (Client, Vec<ClientEvent>) {
    let mut client = Client::new(ClientOptions::default());
    client.request(RequestId(9), get("/"), None);
    client.send(usize::MAX, &mut BytesMut::new());
    let mut sent = BytesMut::new();
    encode::settings(&Settings::default(), &mut sent);
    frames(&mut sent);
    client.receive(sent.freeze());
    let events = std::iter::from_fn(|| client.poll()).skip(1).collect();
    (client, events)
}

#[test]
fn a_client_knows_a_broken_response() {
    let head = |lines: &[(&[u8], &[u8])], end: bool, out: &mut BytesMut| {
        let mut block = BytesMut::new();
        hpack::Encoder::default().encode(lines.iter().copied(), &mut block);
        encode::headers(1, &block, None, end, 16_384, out);
    };
    let failure = |events: &[ClientEvent]| match events.last() {
        Some(ClientEvent::Failed { failure, .. }) => Some(failure.clone()),
        _ => None,
    };
    let status: (&[u8], &[u8]) = (b":status", b"200");
    let (_, events) = client_after(|out| head(&[status, (b"content-length", b"5")], true, out));
    assert_eq!(failure(&events), Some(Failure::Malformed("less content than announced")));
    let (_, events) = client_after(|out| head(&[(b"a", b"b")], false, out));
    assert!(matches!(failure(&events), Some(Failure::Malformed(_))));
    let (_, events) = client_after(|out| encode::reset_stream(1, ErrorCode::RefusedStream, out));
    assert_eq!(failure(&events), Some(Failure::Refused));
    let (_, events) = client_after(|out| encode::reset_stream(1, ErrorCode::Cancel, out));
    assert_eq!(failure(&events), Some(Failure::Reset("CANCEL".into())));
    let (client, events) = client_after(|out| encode::goaway(0, ErrorCode::NoError, &[], out));
    assert_eq!((failure(&events), client.is_closed()), (Some(Failure::Refused), true));
    let (client, events) = client_after(|out| encode::window_update(3, 1, out));
    assert!(matches!(failure(&events), Some(Failure::Connection(_))) && client.is_closed());
}

#[test]
fn what_fields_took_is_counted() {
    let mut coded = Vec::new();
    for table_bytes in [0, 4096] {
        let options = ServerOptions { table_bytes, ..ServerOptions::default() };
        let mut raw = Raw::new(options, Settings::default());
        for stream in [1, 3, 5, 7] {
            let mut request = get("/bytes/10");
            request.fields.push("user-agent", "a client with a name");
            raw.request(stream, &request, None);
        }
        raw.exchange();
        let counts = raw.server.header_counts();
        assert_eq!(counts.sent.raw, 4 * (":status200".len() + "content-length10".len()) as u64);
        let line = ":methodGET:schemehttps:authorityserver.test:path/bytes/10user-agenta client with a name";
        assert_eq!(counts.received.raw, 4 * line.len() as u64);
        assert!(counts.received.coded < counts.received.raw && counts.blocked == 0);
        coded.push(counts.sent.coded);
    }
    // Content-Length is not worth a place in the table, and what else there is, is in the static one; that
    // there is no table is said once.
    assert_eq!(coded[0], coded[1] + 1);
}
