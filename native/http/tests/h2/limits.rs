//! What a client may do, and how often.

use std::time::{Duration, Instant};

use headway_http::h2::ServerOptions;
use headway_http::limits::Limits;
use headway_http::side::ServerSide;
use headway_wire::h2::{ErrorCode, Frame, MAX_WINDOW, Settings, encode};

use crate::joined::get;
use crate::raw::Raw;

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
