//! Request streams (RFC 9114 §4.1): one message each way.

use bytes::Bytes;

use super::framing::{Framing, Item, Payload};
use super::{Error, ErrorCode, Role, frame_type};

/// What a request stream carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestFrame {
    /// An encoded field section: the header section, or after content the trailer section.
    Headers(Bytes),
    /// A piece of content, not empty, in the memory it arrived in.
    Data(Bytes),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Headers,
    DataOrTrailers,
    Nothing,
}

/// Decodes the peer's side of a request stream. It keeps at most `max_section` bytes.
#[derive(Debug)]
pub struct RequestStream {
    framing: Framing,
    role: Role,
    max_section: usize,
    expect: Expect,
}

impl RequestStream {
    /// At the start of the stream. An encoded field section may have up to `max_section` bytes.
    #[must_use]
    pub fn new(role: Role, max_section: usize) -> Self {
        Self { framing: Framing::new(), role, max_section, expect: Expect::Headers }
    }

    /// Memory that a section which is not whole takes, in bytes.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.framing.kept()
    }

    /// To be called by a client when the last HEADERS were those of an interim response: another
    /// header section follows.
    pub fn interim(&mut self) {
        self.expect = Expect::Headers;
    }

    /// Takes bytes off `input` until there is a frame, or a piece of one.
    ///
    /// # Errors
    ///
    /// H3_FRAME_UNEXPECTED for a frame that may not come here or now, H3_ID_ERROR for a push,
    /// H3_EXCESSIVE_LOAD for too large a section.
    pub fn decode(&mut self, input: &mut Bytes) -> Result<Option<RequestFrame>, Error> {
        let Self { framing, role, max_section, expect } = self;
        let item = framing.next(input, |frame_type| {
            let (payload, next) = rule(frame_type, *expect, *role, *max_section)?;
            *expect = next;
            Ok(payload)
        })?;
        Ok(item.map(|item| match item {
            Item::Piece(piece) => RequestFrame::Data(piece),
            Item::Frame(_, section) => RequestFrame::Headers(section),
        }))
    }

    /// At the end of the stream.
    ///
    /// # Errors
    ///
    /// H3_FRAME_ERROR inside a frame; before the header section H3_REQUEST_INCOMPLETE at a server and
    /// H3_MESSAGE_ERROR at a client.
    pub fn finish(&self) -> Result<(), Error> {
        if !self.framing.at_frame_boundary() {
            return Err(Error::connection(ErrorCode::FrameError, "a stream that ends in a frame"));
        }
        match (self.expect, self.role) {
            (Expect::Headers, Role::Server) => {
                Err(Error::stream(ErrorCode::RequestIncomplete, "a stream without a request"))
            }
            (Expect::Headers, Role::Client) => {
                Err(Error::stream(ErrorCode::MessageError, "a stream without a final response"))
            }
            _ => Ok(()),
        }
    }
}

/// What to do with a frame, and what may follow it (RFC 9114 §4.1 and table 1).
fn rule(
    frame_type: u64,
    expect: Expect,
    role: Role,
    max_section: usize,
) -> Result<(Payload, Expect), Error> {
    let unexpected = |reason| Err(Error::connection(ErrorCode::FrameUnexpected, reason));
    match (frame_type, expect) {
        (frame_type::HEADERS, Expect::Headers) => {
            Ok((Payload::Whole(max_section), Expect::DataOrTrailers))
        }
        (frame_type::HEADERS, Expect::DataOrTrailers) => {
            Ok((Payload::Whole(max_section), Expect::Nothing))
        }
        (frame_type::DATA, Expect::DataOrTrailers) => Ok((Payload::Pieces, expect)),
        (frame_type::HEADERS, Expect::Nothing) => unexpected("HEADERS after trailers"),
        (frame_type::DATA, Expect::Headers) => unexpected("DATA before HEADERS"),
        (frame_type::DATA, Expect::Nothing) => unexpected("DATA after trailers"),
        (frame_type::PUSH_PROMISE, _) if role == Role::Client => {
            Err(Error::connection(ErrorCode::IdError, "PUSH_PROMISE without MAX_PUSH_ID"))
        }
        (frame_type::PUSH_PROMISE, _) => unexpected("PUSH_PROMISE from a client"),
        (
            frame_type::CANCEL_PUSH
            | frame_type::SETTINGS
            | frame_type::GOAWAY
            | frame_type::MAX_PUSH_ID
            | frame_type::PRIORITY_UPDATE
            | frame_type::PRIORITY_UPDATE_PUSH,
            _,
        ) => unexpected("a frame of the control stream on a request stream"),
        _ if frame_type::is_of_http2(frame_type) => unexpected("a frame type of HTTP/2"),
        _ => Ok((Payload::Skip, expect)),
    }
}
