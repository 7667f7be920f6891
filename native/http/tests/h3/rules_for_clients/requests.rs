//! Requests and their fields (RFC 9114, section 4).

use headway_http::h3::Compression;

use super::Expect::{Answers, Closes, Resets};
use super::{check, request};
use crate::by_hand::*;

#[test]
fn request_streams() {
    let trailers = || headers(&[("x", "y")]);
    let data = |content: &[u8]| frame(DATA, content);
    let announced = |length: &str| get_with(&[("content-length", length)]);
    let unexpected = || Closes(FRAME_UNEXPECTED);
    let mut cases = vec![
        request("4.1", "a request", &[get()], Answers),
        request(
            "4.1",
            "content and trailers",
            &[get(), data(b"ab"), data(b""), trailers()],
            Answers,
        ),
        request("4.1", "trailers without content", &[get(), trailers()], Answers),
        request("4.1", "nothing", &[], Resets(REQUEST_INCOMPLETE)),
        request(
            "4.1",
            "a reserved frame alone",
            &[frame(RESERVED, b"x")],
            Resets(REQUEST_INCOMPLETE),
        ),
        request("4.1", "DATA first", &[data(b"x"), get()], unexpected()),
        request("4.1", "DATA behind trailers", &[get(), trailers(), data(b"x")], unexpected()),
        request("4.1", "HEADERS behind trailers", &[get(), trailers(), trailers()], unexpected()),
        request("7.1", "HEADERS cut short", &[get()[..9].to_vec()], Closes(FRAME_ERROR)),
        request("7.1", "DATA cut short", &[get(), vec![0, 9, 1]], Closes(FRAME_ERROR)),
        request("7.1", "half a length", &[get(), vec![0, 0x40]], Closes(FRAME_ERROR)),
        request(
            "7.1",
            "a reserved frame cut short",
            &[get(), vec![0x21, 5, 0]],
            Closes(FRAME_ERROR),
        ),
        request("7.2.3", "CANCEL_PUSH", &[get(), number(CANCEL_PUSH, 0)], unexpected()),
        request("7.2.4", "SETTINGS", &[get(), settings(&[])], unexpected()),
        request("7.2.4", "SETTINGS first", &[settings(&[]), get()], unexpected()),
        request("7.2.5", "PUSH_PROMISE", &[get(), frame(PUSH_PROMISE, &[0, 0, 0])], unexpected()),
        request("7.2.6", "GOAWAY", &[get(), number(GOAWAY, 0)], unexpected()),
        request("7.2.7", "MAX_PUSH_ID", &[get(), number(MAX_PUSH_ID, 0)], unexpected()),
        request(
            "7.2 of RFC 9218",
            "PRIORITY_UPDATE",
            &[get(), number(PRIORITY_UPDATE, 0)],
            unexpected(),
        ),
        request(
            "7.2.8",
            "reserved frames everywhere",
            &[
                frame(RESERVED, b""),
                get(),
                frame(0x40, b"x"),
                data(b"x"),
                frame(RESERVED, &[9; 99]),
                trailers(),
                frame(0x5f, b""),
            ],
            Answers,
        ),
        request(
            "10.5.1",
            "a section above the limit",
            &[[integer(HEADERS), integer(1 << 20)].concat()],
            Closes(EXCESSIVE_LOAD),
        ),
        request(
            "4.1.2",
            "as much as announced",
            &[announced("3"), data(b"ab"), data(b"c")],
            Answers,
        ),
        request("4.1.2", "less", &[announced("3"), data(b"ab")], Resets(MESSAGE_ERROR)),
        request("4.1.2", "more", &[announced("3"), data(b"abcd")], Resets(MESSAGE_ERROR)),
        request("4.1.2", "nothing", &[announced("3")], Resets(MESSAGE_ERROR)),
        request("4.1.2", "a length that is none", &[announced("-1")], Resets(MESSAGE_ERROR)),
        request(
            "4.1.2",
            "two lengths",
            &[get_with(&[("content-length", "1"), ("content-length", "2")]), data(b"x")],
            Resets(MESSAGE_ERROR),
        ),
    ];
    for kind in OF_HTTP2 {
        cases.push(request(
            "7.2.8",
            &format!("HTTP/2's type {kind:#x}"),
            &[get(), frame(kind, &[0; 4])],
            unexpected(),
        ));
    }
    check(Compression::default(), cases);
}

#[test]
fn fields_of_requests() {
    let but = |place: usize, line: (&'static str, &'static str)| {
        let mut lines = GET;
        lines[place] = line;
        headers(&lines)
    };
    let without = |place: usize| {
        let lines: Vec<_> = (0..4).filter(|at| *at != place).map(|at| GET[at]).collect();
        headers(&lines)
    };
    let bad =
        |section, name, bytes: Vec<u8>| request(section, name, &[bytes], Resets(MESSAGE_ERROR));
    let good = |section, name, bytes: Vec<u8>| request(section, name, &[bytes], Answers);
    let one = |name, value| get_with(&[(name, value)]);
    let behind = headers(&[GET[0], GET[1], GET[2], ("x", "y"), GET[3]]);
    let cases = vec![
        bad("4.2", "a name with upper case", one("X", "y")),
        bad("10.3", "a name with a space", one("a b", "y")),
        bad("10.3", "no name", one("", "y")),
        bad("10.3", "NUL in a value", one("x", "a\0")),
        bad("10.3", "CR in a value", one("x", "a\rb")),
        bad("10.3", "LF in a value", one("x", "a\nb")),
        bad("4.2", "Connection", one("connection", "close")),
        bad("4.2", "Keep-Alive", one("keep-alive", "1")),
        bad("4.2", "Proxy-Connection", one("proxy-connection", "close")),
        bad("4.2", "Transfer-Encoding", one("transfer-encoding", "chunked")),
        bad("4.2", "Upgrade", one("upgrade", "websocket")),
        bad("4.2", "TE that is not trailers", one("te", "gzip")),
        good("4.2", "TE: trailers", one("te", "trailers")),
        bad("4.3", "an unknown pseudo-header field", one(":test", "y")),
        bad("4.3", "one of responses", one(":status", "200")),
        bad("4.3", "one behind a field", behind),
        request(
            "4.3",
            "one in trailers",
            &[get(), headers(&[(":path", "/")])],
            Resets(MESSAGE_ERROR),
        ),
        bad("4.3.1", ":method twice", one(":method", "GET")),
        bad("4.3.1", ":path twice", one(":path", "/")),
        bad("4.3.1", "no :method", without(0)),
        bad("4.3.1", "no :scheme", without(1)),
        bad("4.3.1", "neither :authority nor Host", without(2)),
        bad("4.3.1", "no :path", without(3)),
        bad("4.3.1", "an empty :method", but(0, (":method", ""))),
        bad("4.3.1", "an empty :scheme", but(1, (":scheme", ""))),
        bad("4.3.1", "an empty :authority", but(2, (":authority", ""))),
        bad("4.3.1", "userinfo", but(2, (":authority", "me@server.test"))),
        bad("4.3.1", "an empty :path", but(3, (":path", ""))),
        bad("4.3.1", "a :path without a slash", but(3, (":path", "x"))),
        bad("4.3.1", "Host that differs", one("host", "other.test")),
        bad(
            "7.2 of RFC 9110",
            "Host twice",
            headers(&[GET[0], GET[1], GET[3], ("host", "a"), ("host", "b")]),
        ),
        good("4.3.1", "Host that agrees", one("host", "server.test")),
        good("4.3.1", "Host alone", headers(&[GET[0], GET[1], GET[3], ("host", "server.test")])),
        good(
            "4.2.1",
            "cookies in several lines",
            get_with(&[("cookie", "a=b"), ("cookie", "c=d")]),
        ),
        bad("4.4", "CONNECT with :scheme", but(0, (":method", "CONNECT"))),
        good(
            "4.4",
            "CONNECT",
            headers(&[(":method", "CONNECT"), (":authority", "server.test:443")]),
        ),
    ];
    check(Compression::default(), cases);
}
