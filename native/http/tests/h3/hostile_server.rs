//! Our client against servers that break rules, reject, or give up.

use std::time::Duration;

use headway_http::event::Failure;
use headway_quic::{Connection, ConnectionKey, Event};
use headway_wire::Request;
use headway_wire::h3::{ErrorCode, frame_type};

use crate::fetch::{Fetch, get};
use crate::pair::{Application, Pair, Setup};
use crate::raw::{Raw, control, frame, response};

/// Streams: of requests, and the server's first ones.
const REQUEST: u64 = 0;
const UNI: u64 = 3;

fn run(fetch: &mut Fetch, raw: &mut Raw) -> Pair {
    let mut pair = Pair::new(&Setup::default());
    pair.connect();
    // It does not time out.
    pair.run(fetch, raw, Duration::from_secs(5));
    pair
}

#[test]
fn the_control_stream_is_not_to_be_stopped() {
    let mut fetch = Fetch::of(["/"]);
    let mut raw = Raw::server(1, []);
    raw.stops = Some(ErrorCode::NoError.code());
    run(&mut fetch, &mut raw);
    let Some(Failure::Connection(reason)) = &fetch.outcome(0).failure else { panic!() };
    assert!(reason.contains("H3_CLOSED_CRITICAL_STREAM"), "{reason}");
}

/// A response to one request.
fn answered(request: Request, answer: &[Vec<u8>]) -> Fetch {
    let mut fetch = Fetch::default();
    fetch.ask(request, None, None);
    let writings = [(UNI, control(&[]), false), (REQUEST, answer.concat(), true)];
    run(&mut fetch, &mut Raw::server(1, writings));
    fetch
}

#[test]
fn unusual_but_good_responses() {
    let trailers = frame(frame_type::HEADERS, &[0, 0, 0xc2]);
    let answer = [
        response(103, &[("link", "</a>")]),
        frame(0x21, &[1; 3000]),
        response(100, &[]),
        response(200, &[("content-length", "5")]),
        frame(frame_type::DATA, b"12"),
        frame(frame_type::DATA, b""),
        frame(frame_type::DATA, b"345"),
        trailers,
        frame(0x21, b""),
    ];
    let fetch = answered(get("/"), &answer);
    let outcome = fetch.outcome(0);
    assert!(outcome.is_finished, "{:?}", outcome.failure);
    assert_eq!((fetch.status(0), &outcome.content[..]), (Some(200), &b"12345"[..]));
    let head = Request { method: "HEAD".into(), ..get("/") };
    let fetch = answered(head, &[response(200, &[("content-length", "5")])]);
    assert!(fetch.outcome(0).is_finished);
    let fetch = answered(get("/"), &[response(304, &[("content-length", "5")])]);
    assert!(fetch.outcome(0).is_finished);
}

#[test]
fn a_request_that_is_stopped_is_still_answered() {
    /// Says first that it wants no more of the request (RFC 9114 section 4.1).
    struct Stopping(Raw);

    impl Application for Stopping {
        fn handle(
            &mut self,
            now: std::time::Instant,
            key: ConnectionKey,
            connection: Option<&mut Connection>,
            event: Event,
        ) {
            let connection = connection.unwrap();
            if let Event::Opened(id) = event {
                if u64::from(id) == REQUEST {
                    connection.stop(id, ErrorCode::NoError.code());
                }
            }
            self.0.handle(now, key, Some(connection), event);
        }
    }

    let answer = [response(200, &[]), frame(frame_type::DATA, b"12345")].concat();
    let raw = Raw::server(1, [(UNI, control(&[]), false), (REQUEST, answer, true)]);
    let mut fetch = Fetch::of(["/"]);
    let mut pair = Pair::new(&Setup::default());
    pair.connect();
    pair.run(&mut fetch, &mut Stopping(raw), Duration::from_secs(5));
    assert!(fetch.outcome(0).is_finished);
}

#[test]
fn what_a_server_resets_fails() {
    for (code, failure) in [
        (ErrorCode::RequestRejected, Failure::Refused),
        (ErrorCode::InternalError, Failure::Reset("H3_INTERNAL_ERROR".into())),
    ] {
        let mut fetch = Fetch::of(["/"]);
        let mut raw = Raw::server(1, [(REQUEST, response(200, &[]), false)]);
        raw.resets = vec![(REQUEST, code.code())];
        run(&mut fetch, &mut raw);
        assert_eq!(fetch.outcome(0).failure, Some(failure));
        assert!(!fetch.side.is_closed());
    }
}

#[test]
fn what_goaway_rejects_can_be_sent_elsewhere() {
    let answer = [response(200, &[]), frame(frame_type::DATA, b"12345")].concat();
    let writings = [(UNI, control(&frame(7, &[4])), false), (REQUEST, answer, true)];
    let mut fetch = Fetch::of(["/a", "/b", "/c"]);
    let mut raw = Raw::server(3, writings);
    let mut pair = run(&mut fetch, &mut raw);
    assert!(fetch.outcome(0).is_finished);
    fetch.ask(get("/d"), None, pair.client.connection(pair.keys[0]));
    for rejected in 1..4 {
        assert_eq!(fetch.outcome(rejected).failure, Some(Failure::Refused));
    }
    // Given up on this side, too.
    assert_eq!(raw.was_stopped.keys().copied().collect::<Vec<_>>(), [4, 8]);
}

#[test]
fn a_connection_that_is_closed_without_an_error_ends_responses_all_the_same() {
    let mut fetch = Fetch::of(["/"]);
    let mut raw = Raw::server(1, [(REQUEST, response(200, &[]), false)]);
    raw.closes = Some(ErrorCode::NoError.code());
    run(&mut fetch, &mut raw);
    let failure = Failure::Connection("closed by the peer with H3_NO_ERROR".into());
    assert_eq!(fetch.outcome(0).failure, Some(failure));
    assert!(fetch.side.is_closed());
}
