//! Responses (RFC 9113, section 8).

use super::Expect::{Finishes, Resets};
use super::{case, check, ok, response};
use crate::frames::*;

#[test]
fn messages() {
    let with = |name: &str, value: &str| response("200", &[(name, value)], WHOLE);
    let lines = |lines: &[(&str, &str)]| headers(1, WHOLE, &block(lines));
    let status = (":status", "200");
    let length = |length: &str| response("200", &[("content-length", length)], END_HEADERS);
    let trailers = |flags| headers(1, flags, &block(&[("x", "y")]));
    let cases = [
        case(
            "8.1",
            "a response",
            &[ok(END_HEADERS), data(1, END_STREAM, b"123")],
            Finishes(200, 3),
        ),
        case(
            "8.1",
            "interim responses",
            &[response("100", &[], 4), response("103", &[("link", "x")], 4), ok(WHOLE)],
            Finishes(200, 0),
        ),
        case(
            "8.1",
            "an interim one that ends the stream",
            &[response("103", &[], WHOLE)],
            Resets(PROTOCOL_ERROR),
        ),
        case("8.6", "status 101", &[response("101", &[], END_HEADERS)], Resets(PROTOCOL_ERROR)),
        case("8.1", "content first", &[data(1, 0, b"x")], Resets(PROTOCOL_ERROR)),
        case(
            "8.1",
            "content behind an interim response",
            &[response("103", &[], 4), data(1, 0, b"x")],
            Resets(PROTOCOL_ERROR),
        ),
        case(
            "8.1",
            "trailers",
            &[ok(END_HEADERS), data(1, 0, b"12"), trailers(WHOLE)],
            Finishes(200, 2),
        ),
        case(
            "8.1",
            "trailers without end",
            &[ok(END_HEADERS), trailers(END_HEADERS)],
            Resets(PROTOCOL_ERROR),
        ),
        case("8.1", "a status in trailers", &[ok(END_HEADERS), ok(WHOLE)], Resets(PROTOCOL_ERROR)),
        case(
            "8.1.1",
            "as much as announced",
            &[length("3"), data(1, 0, b"12"), data(1, 1, b"3")],
            Finishes(200, 3),
        ),
        case(
            "8.1.1",
            "more",
            &[length("3"), data(1, 0, b"12"), data(1, 1, b"34")],
            Resets(PROTOCOL_ERROR),
        ),
        case(
            "8.1.1",
            "less",
            &[length("3"), data(1, 0, b"1"), data(1, 1, b"")],
            Resets(PROTOCOL_ERROR),
        ),
        case(
            "8.1.1",
            "less, in front of trailers",
            &[length("3"), trailers(WHOLE)],
            Resets(PROTOCOL_ERROR),
        ),
        case(
            "8.1.1",
            "nothing",
            &[response("200", &[("content-length", "3")], WHOLE)],
            Resets(PROTOCOL_ERROR),
        ),
        case("8.1.1", "a length that is none", &[length("3x")], Resets(PROTOCOL_ERROR)),
        case(
            "8.1.1",
            "two lengths",
            &[response("200", &[("content-length", "1"), ("content-length", "2")], 4)],
            Resets(1),
        ),
        case(
            "8.1.1",
            "content of a 204",
            &[response("204", &[], END_HEADERS), data(1, 1, b"x")],
            Resets(PROTOCOL_ERROR),
        ),
        case(
            "8.1.1",
            "the length of a 304",
            &[response("304", &[("content-length", "9")], WHOLE)],
            Finishes(304, 0),
        ),
        case("8.2.1", "a name with upper case", &[with("X-Test", "y")], Resets(PROTOCOL_ERROR)),
        case("8.2.1", "a name with a space", &[with("x y", "y")], Resets(PROTOCOL_ERROR)),
        case("8.2.1", "LF in a value", &[with("x", "a\nb")], Resets(PROTOCOL_ERROR)),
        case("8.2.1", "a space in front of a value", &[with("x", " y")], Resets(PROTOCOL_ERROR)),
        case("8.2.2", "Connection", &[with("connection", "close")], Resets(PROTOCOL_ERROR)),
        case(
            "8.2.2",
            "Transfer-Encoding",
            &[with("transfer-encoding", "chunked")],
            Resets(PROTOCOL_ERROR),
        ),
        case(
            "8.3",
            "an unknown pseudo-header field",
            &[with(":test", "y")],
            Resets(PROTOCOL_ERROR),
        ),
        case("8.3", "one of requests", &[with(":path", "/")], Resets(PROTOCOL_ERROR)),
        case("8.3", "one behind a field", &[lines(&[("x", "y"), status])], Resets(PROTOCOL_ERROR)),
        case("8.3.2", "no status", &[lines(&[("x", "y")])], Resets(PROTOCOL_ERROR)),
        case("8.3.2", "a status twice", &[lines(&[status, status])], Resets(PROTOCOL_ERROR)),
        case(
            "8.3.2",
            "a status that is none",
            &[response("2x0", &[], WHOLE)],
            Resets(PROTOCOL_ERROR),
        ),
    ];
    check("GET", &cases);
    let cases = [
        case(
            "8.1.1",
            "the length of an answer to HEAD",
            &[response("200", &[("content-length", "9")], WHOLE)],
            Finishes(200, 0),
        ),
        case(
            "8.1.1",
            "content of an answer to HEAD",
            &[length("9"), data(1, 1, b"123456789")],
            Resets(PROTOCOL_ERROR),
        ),
    ];
    check("HEAD", &cases);
}
