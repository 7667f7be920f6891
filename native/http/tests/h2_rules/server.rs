//! A server: how a connection begins, and its frames (RFC 9113, sections 3, 4 and 6).

use headway_http::h2::ServerOptions;

use crate::frames::*;
use crate::peer::Expect::{Answers, Ends, Nothing, Resets};
use crate::peer::{Case, PREFACE, Peer, assert_plain, case, check, sent, then};

#[test]
fn the_start_of_a_connection() {
    let cases: [(&str, Vec<u8>, Option<u32>); 7] = [
        ("the preface and SETTINGS", [PREFACE, &settings(&[])].concat(), None),
        ("another preface", b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n".to_vec(), Some(PROTOCOL_ERROR)),
        ("HTTP/1.1", b"GET / HTTP/1.1\r\nhost: a\r\n\r\n".to_vec(), Some(PROTOCOL_ERROR)),
        ("no SETTINGS", [PREFACE, &frame(PING, 0, 0, &[0; 8])].concat(), Some(PROTOCOL_ERROR)),
        ("an acknowledgment first", [PREFACE, &frame(SETTINGS, ACK, 0, b"")].concat(), Some(1)),
        ("a request first", [PREFACE, &get(1)].concat(), Some(PROTOCOL_ERROR)),
        ("half a preface", PREFACE[..10].to_vec(), None),
    ];
    for (name, bytes, code) in cases {
        let mut peer = Peer::new(ServerOptions::default());
        peer.send(&bytes, 5);
        assert_eq!(peer.goaway(), code, "3.4 {name}");
        assert_eq!(peer.received[0].kind, SETTINGS, "3.4 {name}: the server's preface");
        assert_plain(&peer);
    }
}

#[test]
fn frames_of_all_kinds() {
    let large = |bytes: usize| vec![0; bytes];
    let cases = [
        // 4.1: layout.
        case(
            "4.1",
            "a frame of unknown type",
            &[frame(UNKNOWN, 0, 0, &[7; 8]), get(1)],
            Answers(&[1]),
        ),
        case("4.1", "the same on a stream", &[frame(UNKNOWN, 0xff, 1, b""), get(1)], Answers(&[1])),
        case(
            "4.1",
            "flags without meaning",
            &[frame(PING, 0x16, 0, &[1; 8]), headers(1, 0xd7, &block(&GET))],
            Answers(&[1]),
        ),
        case(
            "4.1",
            "the reserved bit",
            &[frame(HEADERS, WHOLE, (1 << 31) | 1, &block(&GET))],
            Answers(&[1]),
        ),
        // 4.2: sizes.
        case(
            "4.2",
            "DATA of 2^14 bytes",
            &[post(1, &[]), data(1, END_STREAM, &large(1 << 14))],
            Answers(&[1]),
        ),
        case(
            "4.2",
            "DATA of more than 2^14 bytes",
            &[post(1, &[]), data(1, END_STREAM, &large((1 << 14) + 1))],
            Ends(FRAME_SIZE_ERROR),
        ),
        case(
            "4.2",
            "HEADERS of more",
            &[headers(1, WHOLE, &large((1 << 14) + 1))],
            Ends(FRAME_SIZE_ERROR),
        ),
        case(
            "4.2",
            "unknown frames of more",
            &[frame(UNKNOWN, 0, 0, &large(20_000))],
            Ends(FRAME_SIZE_ERROR),
        ),
        // 4.3 and 6.10: a field block is one piece.
        case("4.3", "a block that is none", &[headers(1, WHOLE, &[0x41])], Ends(COMPRESSION_ERROR)),
        case(
            "4.3",
            "PRIORITY within a block",
            &[headers(1, 1, &block(&GET)[..9]), frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 9])],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "4.3",
            "HEADERS of another stream within a block",
            &[headers(1, 1, &block(&GET)[..9]), get(3)],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "5.5",
            "an unknown frame within a block",
            &[headers(1, 1, &block(&GET)[..9]), frame(UNKNOWN, 0, 0, b"")],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.10",
            "a block in several frames, one without anything",
            &[
                headers(1, END_STREAM, &block(&GET)[..3]),
                continuation(1, 0, &block(&GET)[3..30]),
                continuation(1, 0, b""),
                continuation(1, END_HEADERS, &block(&GET)[30..]),
            ],
            Answers(&[1]),
        ),
        case(
            "6.10",
            "CONTINUATION of another stream",
            &[headers(1, 1, &block(&GET)), continuation(3, END_HEADERS, b"")],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.10",
            "CONTINUATION on stream 0",
            &[headers(1, 1, &block(&GET)), continuation(0, END_HEADERS, b"")],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.10",
            "CONTINUATION behind a whole block",
            &[get(1), continuation(1, END_HEADERS, b"")],
            Ends(1),
        ),
        case(
            "6.10",
            "CONTINUATION behind the last one",
            &[
                headers(1, 1, &block(&GET)),
                continuation(1, END_HEADERS, b""),
                continuation(1, END_HEADERS, b""),
            ],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.10",
            "CONTINUATION behind DATA",
            &[post(1, &[]), data(1, 0, b"x"), continuation(1, END_HEADERS, b"")],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.10",
            "a block without end",
            &[headers(1, 1, &block(&GET)), vec![continuation(1, 0, b"x"); 1000].concat()],
            Ends(ENHANCE_YOUR_CALM),
        ),
        // 6.1: DATA.
        case("6.1", "DATA on stream 0", &[data(0, END_STREAM, b"x")], Ends(PROTOCOL_ERROR)),
        case(
            "6.1",
            "padding",
            &[post(1, &[("content-length", "2")]), data(1, PADDED | 1, b"\x03xy\0\0\0")],
            Answers(&[1]),
        ),
        case(
            "6.1",
            "as much padding as payload",
            &[post(1, &[]), data(1, PADDED | END_STREAM, b"\x04xyz")],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.1",
            "no room for the padding's length",
            &[post(1, &[]), data(1, PADDED, b"")],
            Ends(6),
        ),
        // 6.2: HEADERS.
        case(
            "6.2",
            "HEADERS on stream 0",
            &[headers(0, WHOLE, &block(&GET))],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.2",
            "padding and priority",
            &[headers(
                1,
                WHOLE | PADDED | WITH_PRIORITY,
                &[&[2, 0, 0, 0, 0, 15][..], &block(&GET), &[0, 0]].concat(),
            )],
            Answers(&[1]),
        ),
        case(
            "6.2",
            "more padding than payload",
            &[headers(1, WHOLE | PADDED, &[&[200][..], &block(&GET)].concat())],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.2",
            "no room for the priority",
            &[headers(1, WHOLE | WITH_PRIORITY, &[0; 4])],
            Ends(6),
        ),
        case(
            "5.3.1 of RFC 7540",
            "HEADERS that depend on their own stream",
            &[headers(1, WHOLE | WITH_PRIORITY, &[&[0, 0, 0, 1, 15][..], &block(&GET)].concat())],
            Ends(PROTOCOL_ERROR),
        ),
        // 6.3: PRIORITY.
        case("6.3", "PRIORITY on stream 0", &[frame(PRIORITY, 0, 0, &[0, 0, 0, 1, 9])], Ends(1)),
        case(
            "6.3",
            "PRIORITY of four bytes",
            &[frame(PRIORITY, 0, 1, &[0; 4])],
            Resets(1, FRAME_SIZE_ERROR),
        ),
        case(
            "6.3",
            "PRIORITY of six bytes",
            &[frame(PRIORITY, 0, 1, &[0; 6])],
            Resets(1, FRAME_SIZE_ERROR),
        ),
        case(
            "5.3.1 of RFC 7540",
            "a stream that depends on itself",
            &[frame(PRIORITY, 0, 3, &[0, 0, 0, 3, 9])],
            Resets(3, PROTOCOL_ERROR),
        ),
        case(
            "5.1",
            "PRIORITY on an idle stream",
            &[frame(PRIORITY, 0, 3, &[0, 0, 0, 1, 9]), get(3)],
            Answers(&[3]),
        ),
        // 6.4: RST_STREAM.
        case("6.4", "RST_STREAM on stream 0", &[reset(0, CANCEL)], Ends(PROTOCOL_ERROR)),
        case(
            "6.4",
            "RST_STREAM of three bytes",
            &[post(1, &[]), frame(RST_STREAM, 0, 1, &[0; 3])],
            Ends(6),
        ),
        case(
            "6.4",
            "RST_STREAM of five bytes",
            &[post(1, &[]), frame(RST_STREAM, 0, 1, &[0; 5])],
            Ends(6),
        ),
        case(
            "7",
            "RST_STREAM with an unknown code",
            &[get_bytes(1, 9), reset(1, 0xff)],
            Answers(&[]),
        ),
        // 6.6: PUSH_PROMISE.
        case(
            "8.4",
            "PUSH_PROMISE from a client",
            &[
                post(1, &[]),
                frame(PUSH_PROMISE, END_HEADERS, 1, &[&[0, 0, 0, 2][..], &block(&GET)].concat()),
            ],
            Ends(PROTOCOL_ERROR),
        ),
        // 6.7: PING.
        case("6.7", "PING", &[frame(PING, 0, 0, b"abcdefgh")], sent(PING, ACK, 0, b"abcdefgh")),
        case("6.7", "an answer to no PING", &[frame(PING, ACK, 0, b"abcdefgh")], Nothing),
        case("6.7", "PING on a stream", &[frame(PING, 0, 1, &[0; 8])], Ends(PROTOCOL_ERROR)),
        case("6.7", "PING of seven bytes", &[frame(PING, 0, 0, &[0; 7])], Ends(FRAME_SIZE_ERROR)),
        case("6.7", "an answer of no bytes", &[frame(PING, ACK, 0, b"")], Ends(FRAME_SIZE_ERROR)),
        // 6.8: GOAWAY.
        case("6.8", "GOAWAY on a stream", &[frame(GOAWAY, 0, 1, &[0; 8])], Ends(PROTOCOL_ERROR)),
        case(
            "6.8",
            "GOAWAY of seven bytes",
            &[frame(GOAWAY, 0, 0, &[0; 7])],
            Ends(FRAME_SIZE_ERROR),
        ),
        case(
            "7",
            "GOAWAY with an unknown code",
            &[goaway(0, 0xff), frame(PING, 0, 0, &[2; 8])],
            sent(PING, ACK, 0, &[2; 8]),
        ),
        // RFC 9218, section 7.1.
        case(
            "7.1 of RFC 9218",
            "PRIORITY_UPDATE on a stream",
            &[frame(PRIORITY_UPDATE, 0, 1, &[0, 0, 0, 1])],
            Ends(1),
        ),
        case(
            "7.1 of RFC 9218",
            "PRIORITY_UPDATE of stream 0",
            &[frame(PRIORITY_UPDATE, 0, 0, &[0; 4])],
            Ends(1),
        ),
        case(
            "7.1 of RFC 9218",
            "PRIORITY_UPDATE of three bytes",
            &[frame(PRIORITY_UPDATE, 0, 0, &[0; 3])],
            Ends(6),
        ),
        case(
            "7.1 of RFC 9218",
            "PRIORITY_UPDATE of a push",
            &[frame(PRIORITY_UPDATE, 0, 0, &[0, 0, 0, 2])],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "7.1 of RFC 9218",
            "PRIORITY_UPDATE before and behind its request, and of no meaning",
            &[
                frame(PRIORITY_UPDATE, 0, 0, b"\0\0\0\x01u=1"),
                get(1),
                frame(PRIORITY_UPDATE, 0, 0, b"\0\0\0\x01\xff;;"),
            ],
            Answers(&[1]),
        ),
    ];
    check(ServerOptions::default(), &cases);
}

/// RFC 9218, section 7.1: of streams that are open and of such that are to come there may be as many as
/// there may be streams.
#[test]
fn priorities_of_streams_to_come() {
    let update =
        |stream: u32| frame(PRIORITY_UPDATE, 0, 0, &[&stream.to_be_bytes()[..], b"u=1"].concat());
    let options = ServerOptions { max_streams: 3, ..ServerOptions::default() };
    let three = [update(1), update(3), update(5)];
    let cases: [Case; 3] = [
        case(
            "7.1 of RFC 9218",
            "as many as there may be",
            &[&three[..], &[get(1)]].concat(),
            Answers(&[1]),
        ),
        case(
            "7.1 of RFC 9218",
            "one more",
            &[&three[..], &[update(7)]].concat(),
            Ends(PROTOCOL_ERROR),
        ),
        then(
            "7.1 of RFC 9218",
            "those that were passed over do not count",
            &three,
            &[get(7), update(9), update(11)],
            Answers(&[7]),
        ),
    ];
    check(options, &cases);
}
