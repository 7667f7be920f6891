//! The control stream (RFC 9114 §6.2.1).

use bytes::Bytes;

use super::framing::{Framing, Item, Payload};
use super::{Error, ErrorCode, Role, Settings, frame_type};
use crate::varint;

/// Bytes a frame of the control stream may have.
const MAX_FRAME: usize = 16 * 1024;

/// What the control stream carries. CANCEL_PUSH is always an error: nothing is ever pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlFrame {
    /// SETTINGS, the first frame.
    Settings(Settings),
    /// GOAWAY: from a server the first request stream it will not process, from a client a push id.
    GoAway(u64),
    /// MAX_PUSH_ID, from a client.
    MaxPushId(u64),
    /// PRIORITY_UPDATE for a request, from a client (RFC 9218 §7.2).
    PriorityUpdate {
        /// The request stream.
        stream: u64,
        /// The new value of the Priority field, to be parsed as such.
        value: Bytes,
    },
}

/// Decodes the peer's control stream. It keeps at most 16 KiB.
#[derive(Debug)]
pub struct ControlStream {
    framing: Framing,
    role: Role,
    has_settings: bool,
    last_goaway: u64,
    max_push_id: u64,
}

impl ControlStream {
    /// At the start of the stream, behind its type.
    #[must_use]
    pub fn new(role: Role) -> Self {
        Self {
            framing: Framing::new(),
            role,
            has_settings: false,
            last_goaway: varint::MAX,
            max_push_id: 0,
        }
    }

    /// Takes bytes off `input` until there is a frame.
    ///
    /// # Errors
    ///
    /// H3_MISSING_SETTINGS if the first frame is another one; H3_FRAME_UNEXPECTED for a frame that may
    /// not come here, or not from this peer; H3_FRAME_ERROR for a payload of the wrong length;
    /// H3_SETTINGS_ERROR; H3_ID_ERROR; H3_EXCESSIVE_LOAD for a frame of more than 16 KiB.
    pub fn decode(&mut self, input: &mut Bytes) -> Result<Option<ControlFrame>, Error> {
        let Self { framing, role, has_settings, .. } = self;
        let item = framing.next(input, |frame_type| {
            let payload = rule(frame_type, *role, *has_settings)?;
            *has_settings = true;
            Ok(payload)
        })?;
        match item {
            Some(Item::Frame(frame_type, payload)) => self.parse(frame_type, payload).map(Some),
            Some(Item::Piece(_)) | None => Ok(None),
        }
    }

    /// Memory that a frame which is not whole takes, in bytes.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.framing.kept()
    }

    /// What the end of the stream means: always H3_CLOSED_CRITICAL_STREAM.
    #[must_use]
    pub const fn finish(&self) -> Error {
        Error::connection(ErrorCode::ClosedCriticalStream, "the control stream was closed")
    }

    fn parse(&mut self, frame_type: u64, mut payload: Bytes) -> Result<ControlFrame, Error> {
        if frame_type == frame_type::SETTINGS {
            return Settings::decode(payload).map(ControlFrame::Settings);
        }
        let id = varint::take(&mut payload).ok_or(FRAME_ERROR)?;
        match frame_type {
            frame_type::PRIORITY_UPDATE => {
                check_request_stream(id)?;
                return Ok(ControlFrame::PriorityUpdate { stream: id, value: payload });
            }
            frame_type::PRIORITY_UPDATE_PUSH => return Err(NO_SUCH_PUSH),
            _ if !payload.is_empty() => return Err(FRAME_ERROR),
            _ => {}
        }
        match frame_type {
            frame_type::GOAWAY => self.goaway(id),
            frame_type::MAX_PUSH_ID => self.max_push_id(id),
            _ => Err(NO_SUCH_PUSH), // CANCEL_PUSH
        }
    }

    /// RFC 9114 §7.2.6 and §5.2.
    fn goaway(&mut self, id: u64) -> Result<ControlFrame, Error> {
        if self.role == Role::Client {
            check_request_stream(id)?;
        }
        if id > self.last_goaway {
            return Err(Error::connection(
                ErrorCode::IdError,
                "GOAWAY with a larger id than before",
            ));
        }
        self.last_goaway = id;
        Ok(ControlFrame::GoAway(id))
    }

    /// RFC 9114 §7.2.7.
    fn max_push_id(&mut self, id: u64) -> Result<ControlFrame, Error> {
        if id < self.max_push_id {
            return Err(Error::connection(ErrorCode::IdError, "MAX_PUSH_ID smaller than before"));
        }
        self.max_push_id = id;
        Ok(ControlFrame::MaxPushId(id))
    }
}

const FRAME_ERROR: Error =
    Error::connection(ErrorCode::FrameError, "a payload of the wrong length");
const NO_SUCH_PUSH: Error = Error::connection(ErrorCode::IdError, "a push that does not exist");

/// Request streams are bidirectional and opened by the client (RFC 9000 §2.1).
fn check_request_stream(id: u64) -> Result<(), Error> {
    if id % 4 == 0 {
        Ok(())
    } else {
        Err(Error::connection(ErrorCode::IdError, "an id that is not of a request stream"))
    }
}

/// What to do with a frame (RFC 9114 §7.2 and table 1, RFC 9218 §7.2).
fn rule(frame_type: u64, role: Role, has_settings: bool) -> Result<Payload, Error> {
    let unexpected = |reason| Err(Error::connection(ErrorCode::FrameUnexpected, reason));
    match frame_type {
        frame_type::SETTINGS if has_settings => unexpected("SETTINGS twice"),
        frame_type::SETTINGS => Ok(Payload::Whole(MAX_FRAME)),
        _ if !has_settings => {
            let reason = "a control stream that does not start with SETTINGS";
            Err(Error::connection(ErrorCode::MissingSettings, reason))
        }
        frame_type::CANCEL_PUSH | frame_type::GOAWAY => Ok(Payload::Whole(MAX_FRAME)),
        frame_type::MAX_PUSH_ID
        | frame_type::PRIORITY_UPDATE
        | frame_type::PRIORITY_UPDATE_PUSH => match role {
            Role::Server => Ok(Payload::Whole(MAX_FRAME)),
            Role::Client => unexpected("a frame that only clients send"),
        },
        frame_type::DATA | frame_type::HEADERS | frame_type::PUSH_PROMISE => {
            unexpected("a frame of request streams on the control stream")
        }
        _ if frame_type::is_of_http2(frame_type) => unexpected("a frame type of HTTP/2"),
        _ => Ok(Payload::Skip),
    }
}
