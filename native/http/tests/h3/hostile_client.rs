//! Our server against clients that break rules, give up, or do not read.

use std::time::Duration;

use headway_http::service::{Body, FilePart, Generated, Reply};
use headway_quic::Close;
use headway_wire::Response;
use headway_wire::h3::{ErrorCode, frame_type};

use crate::fetch::{Fetch, get};
use crate::pair::{MINUTE, Pair, Setup};
use crate::pattern::{self, body};
use crate::raw::{Raw, control, frame, request, stream_id, varints};
use crate::serve::Serve;

/// A client's first streams: of a request, and unidirectional ones.
const REQUEST: u64 = 0;
const UNI: u64 = 2;
const SECOND_UNI: u64 = 6;

fn run(raw: &mut Raw) -> Serve {
    let mut serve = Serve::default();
    let mut pair = Pair::new(&Setup::default());
    pair.connect();
    pair.run(raw, &mut serve, MINUTE);
    // Whatever one client does, others are served.
    let mut fetch = Fetch::of(["/bytes/3000"]);
    pair.connect();
    pair.run(&mut fetch, &mut serve, MINUTE);
    assert!(fetch.outcome(0).is_finished);
    serve
}

fn assert_closes(raw: &mut Raw, code: ErrorCode, what: &str) {
    run(raw);
    let closed = match &raw.closed {
        Some(Close::Application { code, .. }) => ErrorCode::from_code(*code),
        _ => None,
    };
    assert_eq!(closed, Some(code), "{what}: {:?}", raw.closed);
}

#[test]
fn critical_streams_are_not_to_be_closed() {
    let mut reset = Raw::client([(UNI, control(&[]), false), (REQUEST, vec![], false)]);
    reset.resets = vec![(UNI, ErrorCode::NoError.code())];
    assert_closes(&mut reset, ErrorCode::ClosedCriticalStream, "reset");
    let mut stops = Raw::client([(UNI, control(&[]), false)]);
    stops.stops = Some(ErrorCode::NoError.code());
    assert_closes(&mut stops, ErrorCode::ClosedCriticalStream, "stopped");
}

#[test]
fn a_section_that_expands_ends_its_stream() {
    // Indexed Field Lines of the static table expand 99-fold (RFC 9204 appendix A): 8000 of 42
    // bytes are more than 64 KiB.
    let expanding = frame(frame_type::HEADERS, &[&[0, 0][..], &[0xc4; 8000]].concat());
    let good = request(&get("/bytes/3000"));
    let mut raw = Raw::client([(REQUEST, expanding, true), (REQUEST + 4, good, true)]);
    run(&mut raw);
    assert_eq!(raw.was_reset.get(&REQUEST), Some(&ErrorCode::ExcessiveLoad.code()));
    assert!(raw.finished.contains(&(REQUEST + 4)), "{:?}", raw.closed);
}

#[test]
fn what_is_not_known_is_ignored() {
    let request = request(&get("/bytes/3000"));
    let grease = frame(0x21, &[7; 5000]);
    let mut raw = Raw::client([
        (UNI, [varints(&[0x21]), vec![0; 500_000]].concat(), true),
        (SECOND_UNI, control(&grease), false),
        (REQUEST, [&grease, &request, &grease, &frame(0, b"content")[..]].concat(), true),
        // Its type is cut short.
        (SECOND_UNI + 4, vec![0x40], true),
    ]);
    let serve = run(&mut raw);
    assert_eq!((raw.finished, serve.finished), (vec![REQUEST], vec![3000, 3000]));
    assert_eq!(raw.was_stopped[&UNI], ErrorCode::StreamCreationError.code());
}

#[test]
fn content_is_not_waited_for() {
    let request = request(&get("/bytes/3000"));
    let mut raw = Raw::client([(REQUEST, request, false)]);
    let serve = run(&mut raw);
    assert_eq!((raw.finished, serve.finished.len()), (vec![REQUEST], 2));
    assert_eq!(raw.was_stopped[&REQUEST], ErrorCode::NoError.code());
}

#[test]
fn a_client_that_gives_up_ends_the_response() {
    let whole = request(&get("/bytes/3000000"));
    let mut raw = Raw::client([(REQUEST, whole, false)]);
    raw.resets = vec![(REQUEST, ErrorCode::RequestCancelled.code())];
    let serve = run(&mut raw);
    assert_eq!(raw.was_reset[&REQUEST], ErrorCode::RequestIncomplete.code());
    assert_eq!(serve.aborted, ["the client gave it up: H3_REQUEST_CANCELLED"]);
}

#[test]
fn a_client_that_wants_no_more_gets_no_more() {
    let mut raw = Raw::client([(REQUEST, request(&get("/bytes/3000000")), true)]);
    let mut serve = Serve::default();
    let mut pair = Pair::new(&Setup::default());
    let key = pair.connect();
    pair.run(&mut raw, &mut serve, Duration::from_millis(300));
    let connection = pair.client.connection(key).unwrap();
    connection.stop(stream_id(REQUEST), ErrorCode::RequestCancelled.code());
    pair.run(&mut raw, &mut serve, MINUTE);
    assert_eq!(serve.aborted, ["the client gave it up: H3_REQUEST_CANCELLED"]);
    assert!(serve.finished.is_empty());
}

#[test]
fn a_slow_reader_is_waited_for() {
    let size = 3_000_000;
    let mut raw = Raw::client([(REQUEST, request(&get(format!("/bytes/{size}"))), true)]);
    raw.is_slow = true;
    let setup = Setup { client: "stream-window=100000", ..Setup::default() };
    let (mut serve, mut pair) = (Serve::default(), Pair::new(&setup));
    let key = pair.connect();
    pair.run(&mut raw, &mut serve, Duration::from_secs(10));
    let (&served, _) = serve.sides.first_key_value().unwrap();
    let queued = pair.server.connection(served).unwrap().queued(stream_id(REQUEST));
    // What was offered and refused is all that waits.
    assert!(queued <= 64 * 1200, "{queued}");
    let now = pair.now;
    raw.catch_up(now, pair.client.connection(key).unwrap(), REQUEST);
    pair.run(&mut raw, &mut serve, MINUTE);
    assert_eq!(serve.finished, [size]);
    assert!(raw.received[&REQUEST].ends_with(&body(size)[1000..]));
}

#[test]
fn nothing_is_made_before_it_can_be_sent() {
    const REQUESTS: u64 = 1000;
    let ask = request(&get("/bytes/1000000"));
    let mut raw = Raw::client((0..REQUESTS).map(|index| (4 * index, ask.clone(), true)));
    raw.is_slow = true;
    let setup = Setup { client: "stream-window=1000", ..Setup::default() };
    let mut serve = Serve::with(|_| {
        let mut response = Response::new(200);
        response.fields.push("content-length", "1000000");
        Reply { response, body: Body::Generated(Generated::new(1_000_000, 0, 1_000_000).into()) }
    });
    let mut pair = Pair::new(&setup);
    pair.connect();
    pair.run(&mut raw, &mut serve, Duration::from_secs(2));
    assert_eq!(serve.requests as u64, REQUESTS);
    let (&served, side) = serve.sides.first_key_value().unwrap();
    let connection = pair.server.connection(served).unwrap();
    let queued = |index| connection.queued(stream_id(4 * index));
    // Heads wait, no content.
    assert!((0..REQUESTS).map(queued).all(|bytes| bytes < 100));
    assert!(!side.is_closed());
}

#[test]
fn content_that_cannot_be_read_ends_its_stream() {
    let asks = ["/gone", "/bytes/3000"].map(|path| request(&get(path)));
    let mut raw =
        Raw::client([(REQUEST, asks[0].clone(), true), (REQUEST + 4, asks[1].clone(), true)]);
    let mut serve = Serve::with(|request| match &request.path[..] {
        "/gone" => {
            let file = std::fs::File::open("/dev/null").unwrap();
            Reply { response: Response::new(200), body: Body::File(FilePart::new(file, 0, 5000)) }
        }
        _ => pattern::respond(request),
    });
    let mut pair = Pair::new(&Setup::default());
    pair.connect();
    pair.run(&mut raw, &mut serve, MINUTE);
    assert_eq!(raw.was_reset.get(&REQUEST), Some(&ErrorCode::InternalError.code()));
    assert_eq!((raw.finished, serve.finished), (vec![REQUEST + 4], vec![3000]));
    assert_eq!(serve.aborted.len(), 1);
}

#[test]
fn a_client_that_gives_up_over_and_over_is_sent_away() {
    let ask = request(&get("/bytes/300000"));
    let mut upper_case = get("/bytes/3000");
    upper_case.fields.push("Accept", "x");
    let upper_case = request(&upper_case);
    let streams: Vec<u64> = (0..200).map(|index| 4 * index).collect();
    let all = |bytes: &Vec<u8>| -> Vec<_> {
        streams.iter().map(|&stream| (stream, bytes.clone(), false)).collect()
    };
    let mut resets = Raw::client(all(&ask));
    resets.resets =
        streams.iter().map(|&stream| (stream, ErrorCode::RequestCancelled.code())).collect();
    // The server is made to reset them.
    let made_to_reset = Raw::client(all(&upper_case));
    for (what, mut raw) in [("rapid reset", resets), ("made to reset", made_to_reset)] {
        let mut serve = Serve::default();
        serve.limits.resets_per_second = Some(5);
        let mut pair = Pair::new(&Setup::default());
        pair.connect();
        pair.run(&mut raw, &mut serve, MINUTE);
        let Some(Close::Application { code, reason }) = &raw.closed else { panic!("{what}") };
        assert_eq!(*code, ErrorCode::ExcessiveLoad.code(), "{what}");
        let met = reason.strip_prefix("resets-per-second=5: ").unwrap();
        let met: u64 = met.strip_suffix(" came, faster than that").unwrap().parse().unwrap();
        assert!((51..60).contains(&met), "{what}: {met}");
    }
}
