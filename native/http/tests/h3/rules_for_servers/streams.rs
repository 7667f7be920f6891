//! The control stream, and others of the server's (RFC 9114, sections 6.2 and 7.2).

use super::Expect::{Closes, Finishes, Refused};
use super::{BIDIRECTIONAL, Case, SECOND_UNI, UNI, check, ok, on_control, stream};
use crate::by_hand::*;

#[test]
fn the_servers_streams() {
    let begins = |frame: Vec<u8>| [&[0][..], &frame].concat();
    let setting = |id: u64| begins(settings(&[(id, 1)]));
    let mut cases = vec![
        on_control("6.2.1", "SETTINGS", &[], Finishes(200, 0)),
        stream(
            "6.2.1",
            "GOAWAY first",
            UNI,
            &begins(number(GOAWAY, 0)),
            false,
            Closes(MISSING_SETTINGS),
        ),
        stream(
            "6.2.1",
            "a reserved frame first",
            UNI,
            &begins(frame(RESERVED, b"")),
            false,
            Closes(MISSING_SETTINGS),
        ),
        stream(
            "6.2.1",
            "the control stream ends",
            UNI,
            &control(&[]),
            true,
            Closes(CLOSED_CRITICAL_STREAM),
        ),
        stream(
            "4.2 of RFC 9204",
            "the encoder stream ends",
            UNI,
            &[2],
            true,
            Closes(CLOSED_CRITICAL_STREAM),
        ),
        stream(
            "4.2 of RFC 9204",
            "the decoder stream ends",
            UNI,
            &[3],
            true,
            Closes(CLOSED_CRITICAL_STREAM),
        ),
        stream(
            "6.1",
            "a stream of both directions",
            BIDIRECTIONAL,
            b"x",
            false,
            Closes(STREAM_CREATION_ERROR),
        ),
        stream("4.6", "a push that nobody allowed", UNI, &[1, 0], false, Closes(ID_ERROR)),
        stream("6.2.3", "a reserved type", UNI, &[0x21, 9, 9], false, Finishes(200, 0)),
        stream("6.2", "an unknown type", UNI, &integer(0x1234_5678), true, Finishes(200, 0)),
        stream("6.2", "no type", UNI, &[0x40], true, Finishes(200, 0)),
        on_control("7.2.1", "DATA", &[frame(DATA, b"x")], Closes(FRAME_UNEXPECTED)),
        on_control("7.2.2", "HEADERS", &[ok()], Closes(FRAME_UNEXPECTED)),
        on_control("7.2.3", "CANCEL_PUSH", &[number(CANCEL_PUSH, 0)], Closes(ID_ERROR)),
        on_control("7.2.4", "SETTINGS again", &[settings(&[])], Closes(FRAME_UNEXPECTED)),
        on_control(
            "7.2.5",
            "PUSH_PROMISE",
            &[frame(PUSH_PROMISE, &[0, 0, 0])],
            Closes(FRAME_UNEXPECTED),
        ),
        on_control(
            "7.2.6",
            "GOAWAY of the server's stream",
            &[number(GOAWAY, 1)],
            Closes(ID_ERROR),
        ),
        on_control(
            "5.2",
            "GOAWAY that grows",
            &[number(GOAWAY, 4), number(GOAWAY, 8)],
            Closes(ID_ERROR),
        ),
        on_control("5.2", "GOAWAY of a request", &[number(GOAWAY, 4)], Refused),
        on_control("5.2", "GOAWAY that shrinks", &[number(GOAWAY, 8), number(GOAWAY, 4)], Refused),
        on_control("5.2", "GOAWAY of none", &[number(GOAWAY, 8)], Finishes(200, 0)),
        on_control("7.1", "an empty GOAWAY", &[frame(GOAWAY, b"")], Closes(FRAME_ERROR)),
        on_control("7.1", "GOAWAY and more", &[frame(GOAWAY, &[0, 0])], Closes(FRAME_ERROR)),
        on_control("7.2.7", "MAX_PUSH_ID", &[number(MAX_PUSH_ID, 1)], Closes(FRAME_UNEXPECTED)),
        on_control(
            "7.2 of RFC 9218",
            "PRIORITY_UPDATE",
            &[number(PRIORITY_UPDATE, 0)],
            Closes(FRAME_UNEXPECTED),
        ),
        on_control(
            "7.2.8",
            "reserved frames",
            &[frame(RESERVED, &[3; 99]), frame(0x5f, b"")],
            Finishes(200, 0),
        ),
        stream("7.2.4", "unknown settings", UNI, &setting(0x7777), false, Finishes(200, 0)),
        stream(
            "7.1",
            "half a setting",
            UNI,
            &begins(frame(SETTINGS, &[1])),
            false,
            Closes(FRAME_ERROR),
        ),
        stream(
            "4.3.1 of RFC 9204",
            "a capacity above the limit",
            UNI,
            &[2, 0x3f, 1],
            false,
            Closes(ENCODER_STREAM_ERROR),
        ),
        stream(
            "4.3.2 of RFC 9204",
            "an insertion without a table",
            UNI,
            &[2, 0xc1, 0],
            false,
            Closes(ENCODER_STREAM_ERROR),
        ),
        stream(
            "4.4.1 of RFC 9204",
            "an acknowledgment of nothing",
            UNI,
            &[3, 0x80],
            false,
            Closes(DECODER_STREAM_ERROR),
        ),
        stream(
            "4.4.3 of RFC 9204",
            "an increment of 0",
            UNI,
            &[3, 0],
            false,
            Closes(DECODER_STREAM_ERROR),
        ),
        stream("4.4.2 of RFC 9204", "a cancellation", UNI, &[3, 0x40], false, Finishes(200, 0)),
    ];
    for kind in OF_HTTP2 {
        let name = format!("HTTP/2's type {kind:#x}");
        cases.push(on_control("7.2.8", &name, &[frame(kind, &[0; 8])], Closes(FRAME_UNEXPECTED)));
    }
    for id in [0, 2, 3, 4, 5] {
        let name = format!("HTTP/2's setting {id:#x}");
        cases.push(stream("7.2.4.1", &name, UNI, &setting(id), false, Closes(SETTINGS_ERROR)));
    }
    for (name, bytes) in [("control", control(&[])), ("encoder", vec![2]), ("decoder", vec![3])] {
        let streams = vec![(UNI, bytes.clone(), false), (SECOND_UNI, bytes, false)];
        let expect = Closes(STREAM_CREATION_ERROR);
        cases.push(Case { section: "6.2.1", name: format!("{name} twice"), streams, expect });
    }
    check("GET", cases);
}
