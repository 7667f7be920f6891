//! The control stream, and others of one direction (RFC 9114, sections 6.2 and 7.2).

use headway_http::h3::Compression;

use super::Expect::{Answers, Closes};
use super::{Case, UNI, check, on_control, one_way};
use crate::by_hand::*;

#[test]
fn the_control_stream() {
    let begins = |frame: Vec<u8>| [&[0][..], &frame].concat();
    let setting = |settings_: &[(u64, u64)]| begins(settings(settings_));
    let update = |id: u64| frame(PRIORITY_UPDATE, &[&integer(id)[..], b"u=1, i"].concat());
    let mut cases = vec![
        on_control("6.2.1", "SETTINGS", &[], Answers),
        one_way("6.2.1", "DATA first", &begins(frame(DATA, b"x")), Closes(MISSING_SETTINGS)),
        one_way("6.2.1", "HEADERS first", &begins(get()), Closes(MISSING_SETTINGS)),
        one_way("6.2.1", "GOAWAY first", &begins(number(GOAWAY, 0)), Closes(MISSING_SETTINGS)),
        one_way(
            "6.2.1",
            "MAX_PUSH_ID first",
            &begins(number(MAX_PUSH_ID, 0)),
            Closes(MISSING_SETTINGS),
        ),
        one_way(
            "6.2.1",
            "a reserved frame first",
            &begins(frame(RESERVED, b"")),
            Closes(MISSING_SETTINGS),
        ),
        on_control("7.2.1", "DATA", &[frame(DATA, b"x")], Closes(FRAME_UNEXPECTED)),
        on_control("7.2.2", "HEADERS", &[get()], Closes(FRAME_UNEXPECTED)),
        on_control("7.2.3", "CANCEL_PUSH of no push", &[number(CANCEL_PUSH, 0)], Closes(ID_ERROR)),
        on_control("7.1", "an empty CANCEL_PUSH", &[frame(CANCEL_PUSH, b"")], Closes(FRAME_ERROR)),
        on_control(
            "7.1",
            "CANCEL_PUSH and more",
            &[frame(CANCEL_PUSH, &[0, 0])],
            Closes(FRAME_ERROR),
        ),
        on_control("7.2.4", "SETTINGS again", &[settings(&[])], Closes(FRAME_UNEXPECTED)),
        one_way("7.2.4", "a setting twice", &setting(&[(6, 1), (6, 1)]), Closes(SETTINGS_ERROR)),
        one_way(
            "7.2.4",
            "unknown ones",
            &setting(&[(0x21, 7), (0x40, 1), (0x3fff_ffff, 2)]),
            Answers,
        ),
        one_way(
            "7.2.4",
            "an unknown one twice",
            &setting(&[(0x21, 7), (0x21, 7)]),
            Closes(SETTINGS_ERROR),
        ),
        one_way(
            "7.1",
            "a setting without value",
            &begins(frame(SETTINGS, &[6])),
            Closes(FRAME_ERROR),
        ),
        one_way(
            "7.1",
            "a setting cut short",
            &begins(frame(SETTINGS, &[6, 0x40])),
            Closes(FRAME_ERROR),
        ),
        on_control(
            "7.2.5",
            "PUSH_PROMISE",
            &[frame(PUSH_PROMISE, &[0, 0, 0])],
            Closes(FRAME_UNEXPECTED),
        ),
        on_control("7.2.6", "GOAWAY", &[number(GOAWAY, 3)], Answers),
        on_control(
            "5.2",
            "GOAWAY that grows",
            &[number(GOAWAY, 1), number(GOAWAY, 2)],
            Closes(ID_ERROR),
        ),
        on_control("5.2", "GOAWAY that shrinks", &[number(GOAWAY, 2), number(GOAWAY, 1)], Answers),
        on_control("7.1", "an empty GOAWAY", &[frame(GOAWAY, b"")], Closes(FRAME_ERROR)),
        on_control("7.1", "GOAWAY and more", &[frame(GOAWAY, &[0, 0])], Closes(FRAME_ERROR)),
        on_control("7.1", "a number cut short", &[frame(GOAWAY, &[0x40])], Closes(FRAME_ERROR)),
        on_control(
            "7.2.7",
            "MAX_PUSH_ID",
            &[number(MAX_PUSH_ID, 5), number(MAX_PUSH_ID, 5)],
            Answers,
        ),
        on_control(
            "7.2.7",
            "MAX_PUSH_ID that shrinks",
            &[number(MAX_PUSH_ID, 5), number(MAX_PUSH_ID, 4)],
            Closes(ID_ERROR),
        ),
        on_control("7.1", "an empty MAX_PUSH_ID", &[frame(MAX_PUSH_ID, b"")], Closes(FRAME_ERROR)),
        on_control(
            "7.1",
            "MAX_PUSH_ID and more",
            &[frame(MAX_PUSH_ID, &[1, 1])],
            Closes(FRAME_ERROR),
        ),
        on_control(
            "7.2.8",
            "a reserved frame",
            &[frame(RESERVED, &[1; 300]), frame(0x1f * 70 + 0x21, b"")],
            Answers,
        ),
        on_control("9", "an unknown frame", &[frame(0x0f, b"what")], Answers),
        on_control(
            "7.1",
            "a number in more bytes than it needs",
            &[frame(0x07, &[0x80, 0, 0, 1])],
            Answers,
        ),
        on_control("7.2 of RFC 9218", "PRIORITY_UPDATE", &[update(0)], Answers),
        on_control("7.2 of RFC 9218", "of a request to come", &[update(400)], Answers),
        on_control("7.2 of RFC 9218", "of the server's stream", &[update(1)], Closes(ID_ERROR)),
        on_control(
            "7.2 of RFC 9218",
            "of a stream of one direction",
            &[update(2)],
            Closes(ID_ERROR),
        ),
        on_control(
            "7.2 of RFC 9218",
            "of no stream",
            &[frame(PRIORITY_UPDATE, b"")],
            Closes(FRAME_ERROR),
        ),
        on_control(
            "7.2 of RFC 9218",
            "of a push",
            &[number(PRIORITY_UPDATE_PUSH, 0)],
            Closes(ID_ERROR),
        ),
        on_control(
            "7.2 of RFC 9218",
            "of no meaning",
            &[frame(PRIORITY_UPDATE, b"\0u=\xff;;")],
            Answers,
        ),
    ];
    for kind in OF_HTTP2 {
        let name = format!("HTTP/2's type {kind:#x}");
        cases.push(on_control("7.2.8", &name, &[frame(kind, &[0; 8])], Closes(FRAME_UNEXPECTED)));
    }
    for id in [0, 2, 3, 4, 5] {
        let name = format!("HTTP/2's setting {id:#x}");
        cases.push(one_way("7.2.4.1", &name, &setting(&[(id, 1)]), Closes(SETTINGS_ERROR)));
    }
    check(Compression::default(), cases);
}

#[test]
fn streams_of_one_direction() {
    let critical = [("control", control(&[])), ("encoder", vec![2]), ("decoder", vec![3])];
    let mut cases = vec![
        one_way("6.2.2", "a push from a client", &[1, 0], Closes(STREAM_CREATION_ERROR)),
        one_way("6.2.3", "a reserved type", &[0x21, 1, 2, 3], Answers),
        one_way("6.2", "an unknown type", &integer(0x1234_5678), Answers),
        one_way(
            "6.2",
            "a type in more bytes than it needs",
            &[&[0x40, 0][..], &settings(&[])].concat(),
            Answers,
        ),
    ];
    for (name, bytes) in critical {
        let ends = vec![(UNI, bytes.clone(), true)];
        let twice = vec![(UNI, bytes.clone(), false), (UNI + 4, bytes, false)];
        let (ended, opened_twice) = (format!("{name} ends"), format!("{name} twice"));
        cases.push(Case {
            section: "6.2.1",
            name: ended,
            streams: ends,
            expect: Closes(CLOSED_CRITICAL_STREAM),
        });
        cases.push(Case {
            section: "6.2.1",
            name: opened_twice,
            streams: twice,
            expect: Closes(STREAM_CREATION_ERROR),
        });
    }
    for (name, bytes) in [("without a type", vec![]), ("half a type", vec![0x40])] {
        let streams = vec![(UNI, bytes, true)];
        cases.push(Case { section: "6.2", name: name.into(), streams, expect: Answers });
    }
    check(Compression::default(), cases);
}
