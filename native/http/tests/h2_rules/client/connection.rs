//! How a connection begins and ends, its frames, its streams and its windows.

use bytes::BytesMut;
use headway_http::event::{Failure, RequestId};
use headway_http::h2::{Client, ClientOptions};
use headway_http::side::ClientSide;
use headway_wire::Request;

use super::Expect::{Ends, Fails, Finishes, Refused, Resets, Sends};
use super::{Asking, case, check, ok, response};
use crate::frames::*;

#[test]
fn a_server_that_does_not_begin_with_settings() {
    for bytes in [
        ok(WHOLE),
        frame(PING, 0, 0, &[0; 8]),
        frame(SETTINGS, ACK, 0, b""),
        b"HTTP/1.1 400 Bad".to_vec(),
    ] {
        let mut asking = Asking::new("GET");
        asking.receive(&bytes, 5);
        let first = asking.outcomes[0].failure.as_ref();
        assert!(matches!(first, Some(Failure::Connection(_))), "3.4 {bytes:?}: {first:?}");
        assert!(asking.sent.iter().any(|frame| frame.kind == GOAWAY));
    }
}

#[test]
fn frames_of_all_kinds() {
    let large = vec![0; (1 << 14) + 1];
    let promised = [&[0, 0, 0, 2][..], &block(&GET)].concat();
    let cases = [
        case(
            "4.1",
            "unknown frames",
            &[frame(UNKNOWN, 0xff, 1, &[1; 99]), ok(WHOLE)],
            Finishes(200, 0),
        ),
        case(
            "4.2",
            "a frame above 2^14",
            &[ok(END_HEADERS), data(1, 0, &large)],
            Ends(FRAME_SIZE_ERROR),
        ),
        case("4.3", "a block that is none", &[headers(1, WHOLE, &[0x80])], Ends(COMPRESSION_ERROR)),
        case(
            "4.3",
            "PING within a block",
            &[ok(0), frame(PING, 0, 0, &[0; 8])],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.10",
            "a block in two frames",
            &[ok(END_STREAM), continuation(1, END_HEADERS, b"")],
            Finishes(200, 0),
        ),
        case(
            "6.10",
            "CONTINUATION alone",
            &[continuation(1, END_HEADERS, b"")],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.10",
            "a block without end",
            &[ok(0), continuation(1, 0, b"x").repeat(1000)],
            Ends(ENHANCE_YOUR_CALM),
        ),
        case("6.1", "DATA on stream 0", &[data(0, 0, b"x")], Ends(PROTOCOL_ERROR)),
        case(
            "6.1",
            "padding",
            &[ok(END_HEADERS), data(1, PADDED | 1, b"\x02xyz\0\0")],
            Finishes(200, 3),
        ),
        case(
            "6.1",
            "too much padding",
            &[ok(END_HEADERS), data(1, PADDED, b"\x05x")],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.2",
            "HEADERS on stream 0",
            &[headers(0, WHOLE, &block(&[(":status", "200")]))],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.3",
            "PRIORITY of four bytes",
            &[frame(PRIORITY, 0, 1, &[0; 4])],
            Resets(FRAME_SIZE_ERROR),
        ),
        case("6.4", "RST_STREAM on stream 0", &[reset(0, CANCEL)], Ends(PROTOCOL_ERROR)),
        case(
            "6.4",
            "RST_STREAM of three bytes",
            &[frame(RST_STREAM, 0, 1, &[0; 3])],
            Ends(FRAME_SIZE_ERROR),
        ),
        case("6.5", "SETTINGS on a stream", &[frame(SETTINGS, 0, 1, b"")], Ends(PROTOCOL_ERROR)),
        case("6.5", "half a setting", &[frame(SETTINGS, 0, 0, &[0; 5])], Ends(FRAME_SIZE_ERROR)),
        case(
            "6.5",
            "an acknowledgment with a payload",
            &[frame(SETTINGS, ACK, 0, &[0; 6])],
            Ends(FRAME_SIZE_ERROR),
        ),
        case(
            "6.5.2",
            "a server that enables push",
            &[settings(&[(ENABLE_PUSH, 1)])],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.5.2",
            "a server that does not",
            &[settings(&[(ENABLE_PUSH, 0)]), ok(WHOLE)],
            Finishes(200, 0),
        ),
        case(
            "6.5.2",
            "too large a window",
            &[settings(&[(INITIAL_WINDOW_SIZE, 1 << 31)])],
            Ends(FLOW_CONTROL_ERROR),
        ),
        case(
            "6.5.2",
            "too small a frame",
            &[settings(&[(MAX_FRAME_SIZE, 1)])],
            Ends(PROTOCOL_ERROR),
        ),
        case("6.5.2", "an unknown setting", &[settings(&[(0x99, 1)]), ok(WHOLE)], Finishes(200, 0)),
        case(
            "6.5.3",
            "SETTINGS",
            &[settings(&[(HEADER_TABLE_SIZE, 0)])],
            Sends(SETTINGS, ACK, 0, b""),
        ),
        case(
            "6.6",
            "PUSH_PROMISE",
            &[frame(PUSH_PROMISE, END_HEADERS, 1, &promised)],
            Ends(PROTOCOL_ERROR),
        ),
        case("6.7", "PING", &[frame(PING, 0, 0, b"abcdefgh")], Sends(PING, ACK, 0, b"abcdefgh")),
        case("6.7", "PING of nine bytes", &[frame(PING, 0, 0, &[0; 9])], Ends(FRAME_SIZE_ERROR)),
        case("6.7", "PING on a stream", &[frame(PING, 0, 1, &[0; 8])], Ends(PROTOCOL_ERROR)),
        case("6.8", "GOAWAY on a stream", &[frame(GOAWAY, 0, 1, &[0; 8])], Ends(PROTOCOL_ERROR)),
        case("6.8", "GOAWAY of six bytes", &[frame(GOAWAY, 0, 0, &[0; 6])], Ends(FRAME_SIZE_ERROR)),
        case("6.9", "an increment of 0", &[window_update(0, 0)], Ends(PROTOCOL_ERROR)),
        case("6.9", "the same on a stream", &[window_update(1, 0)], Resets(PROTOCOL_ERROR)),
        case("6.9", "three bytes", &[frame(WINDOW_UPDATE, 0, 0, &[0; 3])], Ends(FRAME_SIZE_ERROR)),
        case(
            "6.9.1",
            "too large a window",
            &[window_update(0, MAX_WINDOW)],
            Ends(FLOW_CONTROL_ERROR),
        ),
        case(
            "7.1 of RFC 9218",
            "PRIORITY_UPDATE",
            &[frame(PRIORITY_UPDATE, 0, 0, b"\0\0\0\x01u=1")],
            Ends(PROTOCOL_ERROR),
        ),
    ];
    check("GET", &cases);
}

#[test]
fn streams() {
    let (later, of_server) = (5, 2);
    let two = |stream| headers(stream, WHOLE, &block(&[(":status", "200")]));
    let cases = [
        case("5.1", "HEADERS on an idle stream", &[two(later)], Ends(PROTOCOL_ERROR)),
        case("5.1", "HEADERS on the server's stream", &[two(of_server)], Ends(PROTOCOL_ERROR)),
        case("5.1", "DATA on an idle stream", &[data(later, 0, b"x")], Ends(PROTOCOL_ERROR)),
        case("5.1", "RST_STREAM on an idle stream", &[reset(later, CANCEL)], Ends(PROTOCOL_ERROR)),
        case(
            "5.1",
            "WINDOW_UPDATE on an idle stream",
            &[window_update(later, 1)],
            Ends(PROTOCOL_ERROR),
        ),
        case("5.1", "HEADERS behind the end", &[ok(WHOLE), ok(WHOLE)], Ends(STREAM_CLOSED)),
        case("5.1", "DATA behind the end", &[ok(WHOLE), data(1, 0, b"x")], Ends(STREAM_CLOSED)),
        case(
            "5.1",
            "DATA behind RST_STREAM",
            &[ok(END_HEADERS), reset(1, CANCEL), data(1, 0, b"x")],
            Ends(STREAM_CLOSED),
        ),
        case(
            "5.1",
            "WINDOW_UPDATE behind the end",
            &[ok(WHOLE), window_update(1, 9)],
            Finishes(200, 0),
        ),
        case(
            "5.1",
            "RST_STREAM behind the end",
            &[ok(WHOLE), reset(1, NO_ERROR)],
            Finishes(200, 0),
        ),
        // The server has not seen the RST_STREAM.
        case(
            "5.1",
            "content behind what the client reset",
            &[
                response("200", &[("A", "b")], END_HEADERS),
                data(1, 0, b"x"),
                data(1, END_STREAM, b""),
            ],
            Resets(PROTOCOL_ERROR),
        ),
        case(
            "8.1",
            "RST_STREAM in the response",
            &[ok(END_HEADERS), reset(1, CANCEL)],
            Fails("CANCEL"),
        ),
        case("7", "RST_STREAM with an unknown code", &[reset(1, 0x99)], Fails("0x99")),
        case("8.7", "REFUSED_STREAM", &[reset(1, REFUSED_STREAM)], Refused),
        case("6.8", "GOAWAY below the request", &[goaway(0, NO_ERROR)], Refused),
        case(
            "6.8",
            "GOAWAY above the request",
            &[goaway(3, NO_ERROR), ok(WHOLE)],
            Finishes(200, 0),
        ),
    ];
    check("GET", &cases);
}

#[test]
fn flow_control() {
    let options = ClientOptions { stream_window_bytes: 10, ..ClientOptions::default() };
    let after = |content: &[&[u8]]| {
        let mut asking =
            Asking { client: Client::new(options), outcomes: Default::default(), sent: vec![] };
        asking.client.request(RequestId(0), Request::get("https", "a", "/"), None);
        asking.client.send(usize::MAX, &mut BytesMut::new());
        asking.receive(&[settings(&[]), ok(END_HEADERS)].concat(), 99);
        for content in content {
            asking.receive(&data(1, 0, content), 99);
        }
        asking
    };
    let of = |asking: &Asking, kind| -> Vec<(u32, u32)> {
        let frames = asking.sent.iter().filter(|frame| frame.kind == kind);
        frames.map(|frame| (frame.stream, frame.number(0))).collect()
    };
    let asking = after(&[&[0; 6], &[0; 9]]);
    assert_eq!(of(&asking, WINDOW_UPDATE), [(1, 6), (1, 9)], "6.9: half of it is used");
    let asking = after(&[&[0; 11]]);
    assert_eq!(of(&asking, RST_STREAM), [(1, FLOW_CONTROL_ERROR)], "6.9.1");
}

/// RFC 9113, section 6.8: what a server says before it goes is what its going means.
#[test]
fn the_end_after_goaway_has_its_reason() {
    let mut asking = Asking::new("GET");
    asking.receive(&[settings(&[]), goaway(3, 2)].concat(), 99);
    assert!(asking.outcomes.iter().all(|outcome| outcome.failure.is_none()));
    asking.client.close("end of file", true);
    asking.take_events();
    for outcome in &asking.outcomes {
        let said = outcome.failure.as_ref().unwrap().to_string();
        assert!(said.contains("INTERNAL_ERROR"), "{said}");
    }
}
