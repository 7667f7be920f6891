//! A server, and a client that sends it what a table says.

use bytes::{Bytes, BytesMut};
use headway_http::event::ServerEvent;
use headway_http::h2::{Server, ServerOptions};
use headway_http::side::ServerSide;

use crate::frames::{
    ACK, CONTINUATION, DATA, GOAWAY, Got, HEADERS, NO_ERROR, RST_STREAM, SETTINGS, frame, frames,
    get, settings,
};
use crate::pattern::respond;

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream that no case uses.
const LATER: u32 = 100_001;

/// What must come back.
#[derive(Debug)]
pub(crate) enum Expect {
    /// The connection ends, with this code in GOAWAY.
    Ends(u32),
    /// This stream ends, with this code in RST_STREAM, and others are served.
    Resets(u32, u32),
    /// These streams are answered, in whatever order, and no others.
    Answers(&'static [u32]),
    /// Among others this frame comes back.
    Sends(Got),
    /// A stream's content comes in frames of these sizes.
    Content(u32, &'static [usize]),
    /// Nothing but the server's SETTINGS and its acknowledgment of the client's.
    Nothing,
}

/// A row of a table.
pub(crate) struct Case {
    /// Of RFC 9113 if nothing else is said.
    pub(crate) section: &'static str,
    pub(crate) name: &'static str,
    /// What the client sends behind its SETTINGS; behind each step the server answers.
    pub(crate) steps: Vec<Vec<u8>>,
    pub(crate) expect: Expect,
}

/// A row whose bytes come at once.
pub(crate) fn case(
    section: &'static str,
    name: &'static str,
    frames: &[Vec<u8>],
    expect: Expect,
) -> Case {
    Case { section, name, steps: vec![frames.concat()], expect }
}

/// A row whose second bytes come when the server has answered the first.
pub(crate) fn then(
    section: &'static str,
    name: &'static str,
    first: &[Vec<u8>],
    second: &[Vec<u8>],
    expect: Expect,
) -> Case {
    Case { section, name, steps: vec![first.concat(), second.concat()], expect }
}

/// That this frame is among what comes back.
pub(crate) fn sent(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Expect {
    Expect::Sends(Got { kind, flags, stream, payload: payload.to_vec() })
}

pub(crate) struct Peer {
    pub(crate) server: Server,
    /// All that the server sent.
    pub(crate) received: Vec<Got>,
}

impl Peer {
    pub(crate) fn new(options: ServerOptions) -> Self {
        Self { server: Server::new(options), received: Vec::new() }
    }

    /// Hands bytes over, so many at a time; then the server answers and sends.
    pub(crate) fn send(&mut self, bytes: &[u8], piece: usize) {
        for piece in bytes.chunks(piece) {
            self.server.receive(Bytes::copy_from_slice(piece));
        }
        while let Some(event) = self.server.poll() {
            if let ServerEvent::Request { id, request } = event {
                self.server.respond(id, respond(&request));
            }
        }
        let mut sent = BytesMut::new();
        while self.server.wants_send() {
            self.server.send(1 << 20, &mut sent);
        }
        self.received.extend(frames(&sent));
    }

    fn of(&self, kind: u8) -> impl Iterator<Item = &Got> {
        self.received.iter().filter(move |frame| frame.kind == kind)
    }

    pub(crate) fn goaway(&self) -> Option<u32> {
        self.of(GOAWAY).next().map(|frame| frame.number(4))
    }

    /// Streams that were reset because of an error, and its code.
    fn resets(&self) -> Vec<(u32, u32)> {
        let all = self.of(RST_STREAM).map(|frame| (frame.stream, frame.number(0)));
        // Of what a request still has when it was answered no more is wanted (section 8.1).
        all.filter(|(_, code)| *code != NO_ERROR).collect()
    }

    fn answered(&self) -> Vec<u32> {
        let mut streams: Vec<u32> = self.of(HEADERS).map(|frame| frame.stream).collect();
        streams.sort_unstable();
        streams
    }

    fn check(mut self, expect: &Expect, what: &str) {
        let told = format!("{what}: {:?}", self.received);
        match expect {
            Expect::Ends(code) => {
                assert_eq!(self.goaway(), Some(*code), "{told}");
                assert!(self.server.is_finished(), "{told}");
                return;
            }
            Expect::Resets(stream, code) => {
                assert_eq!(self.resets(), [(*stream, *code)], "{told}");
            }
            Expect::Answers(streams) => {
                assert_eq!(self.answered(), *streams, "{told}");
                assert_eq!(self.resets(), [], "{told}");
            }
            Expect::Sends(frame) => assert!(self.received.contains(frame), "{told}"),
            Expect::Content(stream, sizes) => {
                let of_stream = self.of(DATA).filter(|frame| frame.stream == *stream);
                let came: Vec<usize> = of_stream.map(|frame| frame.payload.len()).collect();
                assert_eq!(came, *sizes, "{told}");
            }
            Expect::Nothing => {
                assert!(self.received.iter().all(|frame| frame.kind == SETTINGS), "{told}");
            }
        }
        // The connection is as good as before.
        assert_eq!(self.goaway(), None, "{told}");
        self.send(&get(LATER), usize::MAX);
        assert!(self.answered().contains(&LATER), "{told}");
    }
}

/// What of a case depends on how bytes arrive: nothing.
const PIECES: [usize; 3] = [usize::MAX, 1, 7];

/// Tries the rows of a table.
pub(crate) fn check(options: ServerOptions, cases: &[Case]) {
    for case in cases {
        for piece in PIECES {
            let mut peer = Peer::new(options);
            peer.send(&[PREFACE, &settings(&[])].concat(), usize::MAX);
            peer.send(&frame(SETTINGS, ACK, 0, b""), usize::MAX);
            for step in &case.steps {
                peer.send(step, piece);
            }
            peer.check(&case.expect, &format!("{} {}, pieces of {piece}", case.section, case.name));
        }
    }
}

/// No field block of the server's is in several frames here.
pub(crate) fn assert_plain(peer: &Peer) {
    assert!(peer.of(CONTINUATION).next().is_none());
}
