//! A server: settings and windows (RFC 9113, sections 6.5 and 6.9).

use headway_http::h2::ServerOptions;

use crate::frames::*;
use crate::peer::Expect::{Answers, Content, Ends, Nothing, Resets};
use crate::peer::{case, check, sent, then};

#[test]
fn settings_and_windows() {
    let overlong = [(INITIAL_WINDOW_SIZE, MAX_WINDOW + 1)];
    let cases = [
        // 6.5: SETTINGS.
        case(
            "6.5.3",
            "SETTINGS",
            &[settings(&[(MAX_CONCURRENT_STREAMS, 5)])],
            sent(SETTINGS, ACK, 0, b""),
        ),
        case(
            "6.5",
            "an acknowledgment with a payload",
            &[frame(SETTINGS, ACK, 0, &[0; 6])],
            Ends(6),
        ),
        case(
            "6.5",
            "SETTINGS on a stream",
            &[frame(SETTINGS, 0, 1, &[0; 6])],
            Ends(PROTOCOL_ERROR),
        ),
        case("6.5", "half a setting", &[frame(SETTINGS, 0, 0, &[0, 3, 0])], Ends(FRAME_SIZE_ERROR)),
        case("6.5.2", "ENABLE_PUSH 2", &[settings(&[(ENABLE_PUSH, 2)])], Ends(PROTOCOL_ERROR)),
        case("6.5.2", "too large a window", &[settings(&overlong)], Ends(FLOW_CONTROL_ERROR)),
        case(
            "6.5.2",
            "MAX_FRAME_SIZE 2^14 - 1",
            &[settings(&[(MAX_FRAME_SIZE, (1 << 14) - 1)])],
            Ends(1),
        ),
        case("6.5.2", "MAX_FRAME_SIZE 2^24", &[settings(&[(MAX_FRAME_SIZE, 1 << 24)])], Ends(1)),
        case("6.5.2", "an unknown setting", &[settings(&[(0xff, 1)]), get(1)], Answers(&[1])),
        case(
            "2.1 of RFC 9218",
            "NO_RFC7540_PRIORITIES 2",
            &[settings(&[(9, 2)])],
            Ends(PROTOCOL_ERROR),
        ),
        case(
            "6.5.3",
            "a setting twice: the last one counts",
            &[settings(&[(INITIAL_WINDOW_SIZE, 100), (INITIAL_WINDOW_SIZE, 1)]), get(1)],
            Content(1, &[1]),
        ),
        case("6.5.3", "an acknowledgment of nothing", &[frame(SETTINGS, ACK, 0, b"")], Nothing),
        // 6.9: windows.
        case("6.9", "an increment of 0", &[window_update(0, 0)], Ends(PROTOCOL_ERROR)),
        case(
            "6.9",
            "the same on a stream",
            &[get(1), window_update(1, 0)],
            Resets(1, PROTOCOL_ERROR),
        ),
        case("6.9", "three bytes", &[frame(WINDOW_UPDATE, 0, 0, &[0; 3])], Ends(FRAME_SIZE_ERROR)),
        case(
            "6.9",
            "five bytes on a stream",
            &[get(1), frame(WINDOW_UPDATE, 0, 1, &[0; 5])],
            Ends(6),
        ),
        case("6.9", "the reserved bit", &[window_update(0, (1 << 31) | 1), get(1)], Answers(&[1])),
        case(
            "6.9.1",
            "no more than the stream's window",
            &[settings(&[(INITIAL_WINDOW_SIZE, 3)]), get(1)],
            Content(1, &[3]),
        ),
        case(
            "6.9.1",
            "the connection's window above 2^31-1",
            &[window_update(0, MAX_WINDOW)],
            Ends(3),
        ),
        case(
            "6.9.1",
            "a stream's window above 2^31-1",
            &[settings(&[(INITIAL_WINDOW_SIZE, 1)]), get(1), window_update(1, MAX_WINDOW)],
            Resets(1, FLOW_CONTROL_ERROR),
        ),
        then(
            "6.9.2",
            "SETTINGS open the windows of streams",
            &[settings(&[(INITIAL_WINDOW_SIZE, 0)]), get(1)],
            &[settings(&[(INITIAL_WINDOW_SIZE, 1)])],
            Content(1, &[1]),
        ),
        then(
            "6.9.2",
            "a window below 0",
            &[settings(&[(INITIAL_WINDOW_SIZE, 3)]), get(1)],
            &[settings(&[(INITIAL_WINDOW_SIZE, 2)]), window_update(1, 2)],
            Content(1, &[3, 1]),
        ),
        case(
            "6.9.2",
            "SETTINGS that make a stream's window too large",
            &[
                settings(&[(INITIAL_WINDOW_SIZE, 0)]),
                get(1),
                window_update(1, MAX_WINDOW),
                settings(&[(INITIAL_WINDOW_SIZE, 1000)]),
            ],
            Ends(FLOW_CONTROL_ERROR),
        ),
        case(
            "5.2.2",
            "windows are given back as content comes",
            &[
                post(1, &[]),
                data(1, 0, &[0; 16_384]).repeat(2),
                post(3, &[]),
                data(3, 0, &[0; 16_384]).repeat(2),
            ],
            Answers(&[1, 3]),
        ),
        case(
            "5.2.2",
            "and as padding does",
            &[post(1, &[]), data(1, PADDED, &[&[255][..], &[0; 16_383]].concat()).repeat(5)],
            Answers(&[1]),
        ),
    ];
    check(ServerOptions::default(), &cases);
}
