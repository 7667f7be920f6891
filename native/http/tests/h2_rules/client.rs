//! A client, and a server that sends it what a table says (RFC 9113).

use bytes::{Bytes, BytesMut};
use headway_http::event::{ClientEvent, Failure, RequestId};
use headway_http::h2::{Client, ClientOptions};
use headway_http::side::ClientSide;
use headway_wire::Request;

use crate::frames::*;

/// What must come of it. The bytes are about the first of two requests, on stream 1.
#[derive(Debug)]
enum Expect {
    /// The connection ends, with this code in GOAWAY; both requests fail.
    Ends(u32),
    /// The stream is reset with this code, and its request fails as malformed; the other one is answered.
    Resets(u32),
    /// A response of this status and so many bytes; the other request is answered, too.
    Finishes(u16, usize),
    /// The request fails for a reason that holds these words, and nothing is reset.
    Fails(&'static str),
    /// The request may be sent elsewhere.
    Refused,
    /// The client sends this frame, and both requests are answered.
    Sends(u8, u8, u32, &'static [u8]),
}
use Expect::{Ends, Fails, Finishes, Refused, Resets, Sends};

struct Case {
    section: &'static str,
    name: &'static str,
    bytes: Vec<u8>,
    expect: Expect,
}

fn case(section: &'static str, name: &'static str, frames: &[Vec<u8>], expect: Expect) -> Case {
    Case { section, name, bytes: frames.concat(), expect }
}

/// The start of a response.
fn response(status: &str, more: &[(&str, &str)], flags: u8) -> Vec<u8> {
    headers(1, flags, &block(&[&[(":status", status)], more].concat()))
}

fn ok(flags: u8) -> Vec<u8> {
    response("200", &[], flags)
}

#[derive(Default)]
struct Outcome {
    status: Option<u16>,
    content: usize,
    finished: bool,
    failure: Option<Failure>,
}

struct Asking {
    client: Client,
    outcomes: [Outcome; 2],
    /// All that the client sent behind its preface.
    sent: Vec<Got>,
}

impl Asking {
    /// Both requests were sent, the first with this method.
    fn new(method: &str) -> Self {
        let mut client = Client::new(ClientOptions::default());
        let get = || Request::get("https", "server.test", "/");
        client.request(RequestId(0), Request { method: method.into(), ..get() }, None);
        client.request(RequestId(1), get(), None);
        let mut start = BytesMut::new();
        client.send(usize::MAX, &mut start);
        assert!(start.starts_with(crate::peer::PREFACE));
        let sent = frames(&start[crate::peer::PREFACE.len()..]);
        assert_eq!(sent[0].kind, SETTINGS, "3.4");
        assert!(sent[0].payload.windows(6).any(|setting| setting == [0, 2, 0, 0, 0, 0]), "8.4");
        let mut asking = Self { client, outcomes: Default::default(), sent };
        asking.take_events();
        asking
    }

    fn receive(&mut self, bytes: &[u8], piece: usize) {
        for piece in bytes.chunks(piece) {
            self.client.receive(Bytes::copy_from_slice(piece));
        }
        self.take_events();
        let mut sent = BytesMut::new();
        self.client.send(usize::MAX, &mut sent);
        self.sent.extend(frames(&sent));
    }

    fn take_events(&mut self) {
        while let Some(event) = self.client.poll() {
            let outcome = &mut self.outcomes[event.id().0 as usize];
            assert!(!outcome.finished && outcome.failure.is_none(), "{event:?} behind the end");
            match event {
                ClientEvent::Sent { .. } => {}
                ClientEvent::Head { response, .. } => outcome.status = Some(response.status),
                ClientEvent::Data { data, .. } => outcome.content += data.len(),
                ClientEvent::Finished { .. } => outcome.finished = true,
                ClientEvent::Failed { failure, .. } => outcome.failure = Some(failure),
            }
        }
    }

    fn check(&mut self, expect: &Expect, what: &str) {
        let of = |kind| self.sent.iter().filter(move |frame| frame.kind == kind);
        let goaway: Vec<u32> = of(GOAWAY).map(|frame| frame.number(4)).collect();
        let resets: Vec<_> = of(RST_STREAM).map(|frame| (frame.stream, frame.number(0))).collect();
        let [first, second] = &self.outcomes;
        let failure = first.failure.as_ref();
        if let Ends(code) = expect {
            assert_eq!(goaway, [*code], "{what}");
            let failed = matches!(failure, Some(Failure::Connection(_)));
            assert!(
                failed || first.finished || matches!(failure, Some(Failure::Reset(_))),
                "{what}: {failure:?}"
            );
            assert!(
                matches!(second.failure, Some(Failure::Connection(_))) && self.client.is_closed()
            );
            return;
        }
        assert!(goaway.is_empty(), "{what}: {goaway:?} {failure:?}");
        let reset = if let Resets(code) = expect { vec![(1, *code)] } else { vec![] };
        assert_eq!(resets, reset, "{what}: {failure:?}");
        match expect {
            Resets(_) => {
                assert!(matches!(failure, Some(Failure::Malformed(_))), "{what}: {failure:?}");
            }
            Finishes(status, content) => {
                assert!(first.finished, "{what}: {failure:?}");
                assert_eq!((first.status, first.content), (Some(*status), *content), "{what}");
            }
            Fails(words) => {
                let said = failure.map(ToString::to_string).unwrap_or_default();
                assert!(said.contains(words), "{what}: {said}");
            }
            Refused => assert_eq!(failure, Some(&Failure::Refused), "{what}"),
            Sends(kind, flags, stream, payload) => {
                let frame =
                    Got { kind: *kind, flags: *flags, stream: *stream, payload: payload.to_vec() };
                assert!(self.sent.contains(&frame), "{what}: {:?}", self.sent);
            }
            Ends(_) => unreachable!(),
        }
        if !matches!(expect, Refused | Fails(_)) {
            let other = headers(3, END_HEADERS, &block(&[(":status", "200")]));
            self.receive(&[other, data(3, END_STREAM, b"12345")].concat(), usize::MAX);
            assert!(self.outcomes[1].finished && self.outcomes[1].content == 5, "{what}");
        }
    }
}

fn check(method: &str, cases: &[Case]) {
    for Case { section, name, bytes, expect } in cases {
        for piece in [usize::MAX, 1, 11] {
            let mut asking = Asking::new(method);
            asking.receive(&settings(&[]), usize::MAX);
            asking.receive(bytes, piece);
            asking.check(expect, &format!("{section} {name}, pieces of {piece}"));
        }
    }
}

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
