//! Which stream sends when, and how much.

use bytes::BytesMut;
use headway_http::h2::ServerOptions;
use headway_http::side::ServerSide;
use headway_wire::Dependency;
use headway_wire::h2::{Frame, Settings, encode};

use headway_wire::Request;

use crate::joined::get;
use crate::raw::{Raw, frames_of, prioritised};

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

/// What Chromium asks for on a page, each of three frames, as streams 1, 3 and so on: the document, a style
/// sheet, a script in the head, a font, two images, and what a script asks for.
fn page() -> Vec<Request> {
    let asked = [
        ("document", "u=0, i"),
        ("style", "u=0"),
        ("script", "u=1"),
        ("font", "u=0"),
        ("image", "i"),
        ("image", "i"),
        ("empty", "u=1, i"),
    ];
    let request = |(dest, priority)| {
        let mut request = prioritised("/bytes/3000", priority);
        request.fields.push("sec-fetch-dest", dest);
        request
    };
    asked.map(request).into()
}

fn decided(priorities: &str) -> Raw {
    let priorities = priorities.parse().unwrap();
    Raw::new(ServerOptions { priorities, ..frames_of(1000) }, Settings::default())
}

/// The orders are worked out by hand from the trees: virtual times are bytes over weights.
#[test]
fn a_server_decides_like_a_browser() {
    let (a, b, c, d, e, f, g) = (1, 3, 5, 7, 9, 11, 13);
    let cases = [
        ("chrome", vec![a, a, a, b, b, b, d, d, d, c, c, c, g, g, g, e, e, e, f, f, f]),
        ("safari", vec![a, b, c, d, e, f, g, a, a, b, c, d, g, b, c, d, e, f, g, e, f]),
        ("firefox", vec![b, g, a, a, c, a, g, d, b, g, c, b, c, e, f, d, e, f, d, e, f]),
        ("firefox-eps", vec![a, a, a, b, c, b, c, b, c, d, e, f, d, e, f, d, e, f, g, g, g]),
        ("round-robin", vec![a, b, c, d, e, f, g, a, b, c, d, e, f, g, a, b, c, d, e, f, g]),
        (
            "batched-round-robin:2",
            vec![a, a, b, b, c, c, d, d, e, e, f, f, g, g, a, b, c, d, e, f, g],
        ),
    ];
    for (priorities, order) in cases {
        let mut raw = decided(priorities);
        for (stream, request) in [1, 3, 5, 7, 9, 11, 13].into_iter().zip(page()) {
            raw.request(stream, &request, None);
        }
        assert_eq!(raw.order(), order, "{priorities}");
    }
}

#[test]
fn what_the_client_says_later_changes_nothing_that_the_server_decides() {
    let on = Dependency { parent: None, weight: 256, exclusive: true };
    let mut raw = decided("chrome");
    for (stream, request) in [1, 3].into_iter().zip(page()) {
        raw.request(stream, &request, Some(on));
    }
    raw.flush();
    encode::priority_update(1, b"u=7", &mut raw.out);
    encode::priority(3, &on, &mut raw.out);
    assert_eq!(raw.order(), [1, 1, 1, 3, 3, 3]);
}
