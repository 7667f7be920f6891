//! How requests and connections end.

use bytes::{Bytes, BytesMut};
use headway_http::event::{ClientEvent, Failure, RequestId};
use headway_http::h2::{Client, ClientOptions, ServerOptions};
use headway_http::side::{ClientSide, ServerSide};
use headway_wire::h2::{ErrorCode, Frame, Settings, encode};
use headway_wire::{Request, hpack};

use crate::joined::{Joined, get};
use crate::raw::Raw;

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
