//! A client, and a server that sends it what a table says (RFC 9113).

mod connection;
mod messages;

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
                ClientEvent::Trailers { .. } => {}
                ClientEvent::Sent { .. } | ClientEvent::Continued { .. } => {}
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
