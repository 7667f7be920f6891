//! Responses and their fields (RFC 9114, section 4).

use super::Expect::{Closes, Finishes, Malformed};
use super::{check, ok, response, status};
use crate::by_hand::*;

#[test]
fn responses() {
    let data = |content: &[u8]| frame(DATA, content);
    let length = |length: &str| status("200", &[("content-length", length)]);
    let trailers = || headers(&[("x", "y")]);
    let unexpected = || Closes(FRAME_UNEXPECTED);
    let malformed = || Malformed(MESSAGE_ERROR);
    let with = |name, value| status("200", &[(name, value)]);
    let mut cases = vec![
        response("4.1", "a response", &[ok(), data(b"123")], Finishes(200, 3)),
        response(
            "4.1",
            "interim ones before it",
            &[status("100", &[]), status("103", &[("link", "x")]), ok()],
            Finishes(200, 0),
        ),
        response("4.1", "trailers", &[ok(), data(b"1"), trailers()], Finishes(200, 1)),
        response("4.1", "nothing", &[], malformed()),
        response("4.1", "an interim one alone", &[status("103", &[])], malformed()),
        response("4.5", "status 101", &[status("101", &[]), ok()], malformed()),
        response("4.1", "DATA first", &[data(b"x"), ok()], unexpected()),
        response(
            "4.1",
            "DATA behind an interim one",
            &[status("103", &[]), data(b"x")],
            unexpected(),
        ),
        response("4.1", "DATA behind trailers", &[ok(), trailers(), data(b"x")], unexpected()),
        response("4.1", "HEADERS behind trailers", &[ok(), trailers(), trailers()], unexpected()),
        response("4.1", "two responses", &[ok(), ok()], malformed()),
        response("7.1", "HEADERS cut short", &[ok()[..5].to_vec()], Closes(FRAME_ERROR)),
        response("7.1", "DATA cut short", &[ok(), vec![0, 9, 1]], Closes(FRAME_ERROR)),
        response("7.2.4", "SETTINGS", &[settings(&[])], unexpected()),
        response(
            "7.2.5",
            "PUSH_PROMISE that nobody allowed",
            &[frame(PUSH_PROMISE, &[0, 0, 0])],
            Closes(ID_ERROR),
        ),
        response("7.2.6", "GOAWAY", &[number(GOAWAY, 0)], unexpected()),
        response("7.2.7", "MAX_PUSH_ID", &[number(MAX_PUSH_ID, 0)], unexpected()),
        response(
            "7.2.8",
            "reserved frames",
            &[frame(RESERVED, b"x"), ok(), frame(0x5f, b""), data(b"1")],
            Finishes(200, 1),
        ),
        response(
            "10.5.1",
            "a section above the limit",
            &[[integer(HEADERS), integer(1 << 20)].concat()],
            Closes(EXCESSIVE_LOAD),
        ),
        response("4.1.2", "as much as announced", &[length("3"), data(b"123")], Finishes(200, 3)),
        response("4.1.2", "less", &[length("3"), data(b"12")], malformed()),
        response("4.1.2", "more", &[length("3"), data(b"1234")], malformed()),
        response("4.1.2", "content of a 204", &[status("204", &[]), data(b"x")], malformed()),
        response(
            "4.1.2",
            "the length of a 304",
            &[status("304", &[("content-length", "9")])],
            Finishes(304, 0),
        ),
        response("4.2", "a name with upper case", &[with("X", "y")], malformed()),
        response("4.2", "Connection", &[with("connection", "close")], malformed()),
        response("4.2", "Transfer-Encoding", &[with("transfer-encoding", "chunked")], malformed()),
        response("10.3", "LF in a value", &[with("x", "a\nb")], malformed()),
        response("10.3", "no name", &[with("", "y")], malformed()),
        response("4.3", "a pseudo-header field of requests", &[with(":path", "/")], malformed()),
        response("4.3", "an unknown one", &[with(":test", "y")], malformed()),
        response(
            "4.3",
            "one behind a field",
            &[headers(&[("x", "y"), (":status", "200")])],
            malformed(),
        ),
        response("4.3", "one in trailers", &[ok(), headers(&[(":status", "200")])], malformed()),
        response("4.3.2", "no status", &[headers(&[("x", "y")])], malformed()),
        response(
            "4.3.2",
            "a status twice",
            &[headers(&[(":status", "200"), (":status", "200")])],
            malformed(),
        ),
        response("4.3.2", "a status that is none", &[status("20", &[])], malformed()),
        response(
            "4.5.1 of RFC 9204",
            "no prefix",
            &[frame(HEADERS, b"")],
            Closes(DECOMPRESSION_FAILED),
        ),
        response(
            "4.5.1.1 of RFC 9204",
            "insertions without a table",
            &[frame(HEADERS, &[2, 0])],
            Closes(DECOMPRESSION_FAILED),
        ),
        response(
            "3.1 of RFC 9204",
            "entry 99 of the static table",
            &[frame(HEADERS, &[0, 0, 0xff, 0x24])],
            Closes(DECOMPRESSION_FAILED),
        ),
        response(
            "3.2.5 of RFC 9204",
            "an entry of no table",
            &[frame(HEADERS, &[0, 0, 0x80])],
            Closes(DECOMPRESSION_FAILED),
        ),
    ];
    for kind in OF_HTTP2 {
        cases.push(response(
            "7.2.8",
            &format!("HTTP/2's type {kind:#x}"),
            &[ok(), frame(kind, b"")],
            unexpected(),
        ));
    }
    check("GET", cases);
    let cases = vec![
        response("4.1.2", "the length of an answer to HEAD", &[length("9")], Finishes(200, 0)),
        response(
            "4.1.2",
            "content of an answer to HEAD",
            &[length("3"), data(b"123")],
            malformed(),
        ),
    ];
    check("HEAD", cases);
}
