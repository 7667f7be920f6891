//! A server: streams and their states (RFC 9113, sections 5.1, 5.1.1, 5.1.2 and 5.4).

use headway_http::h2::ServerOptions;

use crate::frames::*;
use crate::peer::Expect::{Answers, Ends, Resets};
use crate::peer::{PREFACE, Peer, case, check, then};

/// A request whose answer does not end: the client takes nothing.
fn unanswered(stream: u32) -> [Vec<u8>; 2] {
    [settings(&[(INITIAL_WINDOW_SIZE, 0)]), get(stream)]
}

#[test]
fn idle_streams() {
    let cases = [
        case("5.1", "DATA", &[data(1, END_STREAM, b"x")], Ends(PROTOCOL_ERROR)),
        case("5.1", "RST_STREAM", &[reset(1, CANCEL)], Ends(PROTOCOL_ERROR)),
        case("5.1", "WINDOW_UPDATE", &[window_update(1, 100)], Ends(PROTOCOL_ERROR)),
        case(
            "5.1",
            "CONTINUATION",
            &[continuation(1, END_HEADERS, &block(&GET))],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "5.1",
            "DATA above the last stream",
            &[get(1), data(3, END_STREAM, b"x")],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "5.1",
            "DATA of the server's",
            &[get(3), data(2, END_STREAM, b"x")],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "5.1",
            "WINDOW_UPDATE of the server's",
            &[get(3), window_update(2, 1)],
            Ends(PROTOCOL_ERROR),
        ),
    ];
    check(ServerOptions::default(), &cases);
}

#[test]
fn half_closed_streams() {
    let with = |frames: &[Vec<u8>]| [&unanswered(1)[..], frames].concat();
    let cases = [
        case("5.1", "DATA", &with(&[data(1, END_STREAM, b"x")]), Resets(1, STREAM_CLOSED)),
        case("5.1", "HEADERS", &with(&[get(1)]), Resets(1, STREAM_CLOSED)),
        case(
            "5.1",
            "trailers",
            &with(&[headers(1, WHOLE, &block(&[("a", "b")]))]),
            Resets(1, STREAM_CLOSED),
        ),
        case(
            "5.1",
            "CONTINUATION",
            &with(&[continuation(1, END_HEADERS, b"")]),
            Ends(PROTOCOL_ERROR),
        ),
        case("5.1", "PRIORITY", &with(&[frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 9])]), Answers(&[1])),
        case("5.1", "WINDOW_UPDATE", &with(&[window_update(1, 5)]), Answers(&[1])),
        then(
            "5.1",
            "DATA later",
            &unanswered(1),
            &[data(1, END_STREAM, b"x")],
            Resets(1, STREAM_CLOSED),
        ),
    ];
    check(ServerOptions::default(), &cases);
}

#[test]
fn streams_that_the_client_has_ended() {
    let trailers = || headers(1, WHOLE, &block(&[("a", "b")]));
    let given_up = || [&unanswered(1)[..], &[reset(1, CANCEL)]].concat();
    let cases = [
        then(
            "5.1",
            "DATA behind the answer",
            &[get(1)],
            &[data(1, END_STREAM, b"x")],
            Ends(STREAM_CLOSED),
        ),
        then("5.1", "HEADERS behind the answer", &[get(1)], &[get(1)], Ends(STREAM_CLOSED)),
        then("5.1", "trailers behind the answer", &[get(1)], &[trailers()], Ends(STREAM_CLOSED)),
        then(
            "5.1",
            "CONTINUATION",
            &[get(1)],
            &[continuation(1, END_HEADERS, b"")],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "5.1",
            "DATA behind RST_STREAM",
            &[given_up(), vec![data(1, END_STREAM, b"x")]].concat(),
            Ends(STREAM_CLOSED),
        ),
        case(
            "5.1",
            "HEADERS behind RST_STREAM",
            &[given_up(), vec![get(1)]].concat(),
            Ends(STREAM_CLOSED),
        ),
        // What may be on its way: the client has not seen that the stream is over.
        then("5.1", "WINDOW_UPDATE", &[get(1)], &[window_update(1, 5)], Answers(&[1])),
        then("5.1", "RST_STREAM", &[get(1)], &[reset(1, CANCEL)], Answers(&[1])),
        then(
            "5.1",
            "PRIORITY",
            &[get(1)],
            &[frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 9])],
            Answers(&[1]),
        ),
        then(
            "7.1 of RFC 9218",
            "PRIORITY_UPDATE",
            &[get(1)],
            &[frame(PRIORITY_UPDATE, 0, 0, b"\0\0\0\x01u=1")],
            Answers(&[1]),
        ),
    ];
    check(ServerOptions::default(), &cases);
}

/// What the client sent before it learnt that the server had ended a stream is no error.
#[test]
fn streams_that_the_server_has_ended() {
    let wrong = || headers(1, END_HEADERS, &block(&[GET[0], GET[1], GET[2]]));
    let rest = [data(1, 0, &[0; 1000]), headers(1, WHOLE, &block(&[("a", "b")])), get(3)];
    let cases = [
        then("8.1", "content behind an answer", &[post(1, &[])], &rest, Answers(&[1, 3])),
        then("5.1", "content behind RST_STREAM", &[wrong()], &rest, Resets(1, PROTOCOL_ERROR)),
        then(
            "5.1",
            "RST_STREAM behind RST_STREAM",
            &[wrong()],
            &[reset(1, CANCEL)],
            Resets(1, PROTOCOL_ERROR),
        ),
    ];
    check(ServerOptions::default(), &cases);
}

#[test]
fn identifiers() {
    let cases = [
        case("5.1.1", "an even stream", &[get(2)], Ends(PROTOCOL_ERROR)),
        case("5.1.1", "an even stream below the last one", &[get(5), get(2)], Ends(PROTOCOL_ERROR)),
        case("5.1.1", "a stream below the last one", &[get(5), get(3)], Ends(PROTOCOL_ERROR)),
        then("5.1.1", "the same later", &[get(5)], &[get(1)], Ends(PROTOCOL_ERROR)),
        case("5.1.1", "streams that are passed over", &[get(3), get(9)], Answers(&[3, 9])),
        case(
            "5.1.1",
            "DATA on one of them",
            &[get(9), data(5, END_STREAM, b"x")],
            Ends(STREAM_CLOSED),
        ),
        case("5.1.1", "RST_STREAM of one of them", &[get(9), reset(5, CANCEL)], Answers(&[9])),
    ];
    check(ServerOptions::default(), &cases);
}

#[test]
fn as_many_as_there_may_be() {
    let mut peer = Peer::new(ServerOptions { max_streams: 2, ..ServerOptions::default() });
    let refused = |peer: &Peer| -> Vec<(u32, u32)> {
        let resets = peer.received.iter().filter(|frame| frame.kind == RST_STREAM);
        resets.map(|frame| (frame.stream, frame.number(0))).collect()
    };
    peer.send(&[PREFACE, &settings(&[]), &unanswered(1).concat(), &get(3)].concat(), 3);
    assert_eq!(refused(&peer), []);
    peer.send(&get(5), 3);
    assert_eq!(refused(&peer), [(5, REFUSED_STREAM)], "5.1.2");
    peer.send(&[reset(1, CANCEL), get(7)].concat(), 3);
    assert_eq!(refused(&peer), [(5, REFUSED_STREAM)], "5.1.2: there is room again");
    assert_eq!(peer.goaway(), None);
}

/// RFC 9113, section 5.4.1: the last stream in GOAWAY is the last that was looked at.
#[test]
fn an_error_names_the_last_stream() {
    let mut peer = Peer::new(ServerOptions::default());
    peer.send(&[PREFACE, &settings(&[]), &get(1), &get(7), &get(2)].concat(), 1);
    let goaway = peer.received.iter().find(|frame| frame.kind == GOAWAY).unwrap();
    assert_eq!((goaway.number(0), goaway.number(4)), (7, PROTOCOL_ERROR));
    // Nothing comes behind it, whatever is sent.
    let before = peer.received.len();
    peer.send(&[get(9), frame(PING, 0, 0, &[0; 8])].concat(), 9);
    assert_eq!(peer.received.len(), before);
}
