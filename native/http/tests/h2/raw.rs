//! A server, and a client made by hand.

use bytes::BytesMut;
use headway_http::event::ServerEvent;
use headway_http::h2::{Server, ServerOptions};
use headway_http::side::ServerSide;
use headway_wire::h2::{Decoder, ErrorCode, Frame, Limits as FrameLimits, Role, Settings, encode};
use headway_wire::{Dependency, Request, hpack};

use crate::joined::get;
use crate::pattern::respond;

/// A server of frames of this size, whether a response is the only one or not.
pub(crate) fn frames_of(bytes: usize) -> ServerOptions {
    let (frame_bytes, lone_frame_bytes) = (bytes, bytes);
    ServerOptions { frame_bytes, lone_frame_bytes, ..ServerOptions::default() }
}

/// A client made by hand, that sees frames.
pub(crate) struct Raw {
    pub(crate) server: Server,
    pub(crate) out: BytesMut,
    pub(crate) decoder: Decoder,
    pub(crate) fields: hpack::Encoder,
}

impl Raw {
    pub(crate) fn new(options: ServerOptions, settings: Settings) -> Self {
        let mut out = BytesMut::new();
        encode::preface(&mut out);
        encode::settings(&settings, &mut out);
        let limits = FrameLimits { max_frame_size: 1 << 20, ..FrameLimits::default() };
        let decoder = Decoder::new(Role::Client, limits);
        Self { server: Server::new(options), out, decoder, fields: hpack::Encoder::default() }
    }

    pub(crate) fn with(strategy: &str) -> Self {
        let strategy = strategy.parse().unwrap();
        Self::new(ServerOptions { strategy, ..frames_of(1000) }, Settings::default())
    }

    pub(crate) fn request(
        &mut self,
        stream: u32,
        request: &Request,
        dependency: Option<Dependency>,
    ) {
        let mut block = BytesMut::new();
        self.fields.encode(request.lines(), &mut block);
        encode::headers(stream, &block, dependency.as_ref(), true, 16_384, &mut self.out);
    }

    /// Hands on what was written, answers requests, and returns what the server sends.
    pub(crate) fn exchange(&mut self) -> Vec<Frame> {
        self.flush();
        let mut sent = BytesMut::new();
        while self.server.wants_send() {
            self.server.send(1 << 20, &mut sent);
        }
        self.frames(sent)
    }

    pub(crate) fn flush(&mut self) {
        self.server.receive(self.out.split().freeze());
        while let Some(event) = self.server.poll() {
            if let ServerEvent::Request { id, request } = event {
                self.server.respond(id, respond(&request));
            }
        }
    }

    pub(crate) fn frames(&mut self, sent: BytesMut) -> Vec<Frame> {
        let mut sent = sent.freeze();
        std::iter::from_fn(|| self.decoder.decode(&mut sent).unwrap()).collect()
    }

    /// The streams of the DATA frames, in order.
    pub(crate) fn order(&mut self) -> Vec<u32> {
        let frames = self.exchange();
        let stream = |frame: &Frame| match frame {
            Frame::Data { stream, .. } => Some(*stream),
            _ => None,
        };
        frames.iter().filter_map(stream).collect()
    }

    pub(crate) fn goaway(&mut self) -> Option<ErrorCode> {
        let code = |frame: &Frame| match frame {
            Frame::GoAway { code, .. } => ErrorCode::from_code(*code),
            _ => None,
        };
        self.exchange().iter().find_map(code)
    }
}

pub(crate) fn prioritised(path: &str, value: &'static str) -> Request {
    let mut request = get(path);
    request.fields.push("priority", value);
    request
}
