//! The layout of payloads that come whole (RFC 9113 §6).

use bytes::{Buf, Bytes};

use super::{Error, ErrorCode, Frame, Header, MAX_STREAM, Role, flag};
use crate::priority::Dependency;

/// Bytes of the priority in HEADERS and PRIORITY.
pub(super) const PRIORITY_LEN: usize = 5;

/// What HEADERS holds.
pub(super) struct Headers {
    pub(super) dependency: Option<Dependency>,
    pub(super) fragment: Bytes,
}

/// RFC 9113 §6.2.
pub(super) fn headers(header: Header, mut payload: Bytes) -> Result<Headers, Error> {
    let priority_len = if header.has(flag::PRIORITY) { PRIORITY_LEN } else { 0 };
    let pad_length_len = usize::from(header.has(flag::PADDED));
    if payload.len() < priority_len + pad_length_len {
        return Err(frame_size_error("HEADERS too short"));
    }
    let padding = if header.has(flag::PADDED) { usize::from(payload.get_u8()) } else { 0 };
    let dependency = header.has(flag::PRIORITY).then(|| dependency(&mut payload));
    if dependency.is_some_and(|dependency| dependency.parent == Some(header.stream.into())) {
        // As an error of the stream it would lose the block, and with it the state of HPACK.
        return Err(protocol_error("a stream that depends on itself"));
    }
    let fragment_len =
        payload.len().checked_sub(padding).ok_or(protocol_error("more padding than payload"))?;
    payload.truncate(fragment_len);
    Ok(Headers { dependency, fragment: payload })
}

/// RFC 7540 §6.3; `payload` has at least five bytes.
fn dependency(payload: &mut Bytes) -> Dependency {
    let parent = payload.get_u32();
    Dependency {
        parent: (parent & MAX_STREAM != 0).then_some((parent & MAX_STREAM).into()),
        weight: u16::from(payload.get_u8()) + 1,
        exclusive: parent > MAX_STREAM,
    }
}

/// RFC 7540 §5.3.1 and §6.3. These errors concern the stream only.
pub(super) fn priority(stream: u32, mut payload: Bytes) -> Result<Frame, Error> {
    if payload.len() != PRIORITY_LEN {
        let reason = "PRIORITY that is not five bytes";
        return Err(Error::stream(stream, ErrorCode::FrameSizeError, reason));
    }
    let dependency = dependency(&mut payload);
    if dependency.parent == Some(stream.into()) {
        let reason = "a stream that depends on itself";
        return Err(Error::stream(stream, ErrorCode::ProtocolError, reason));
    }
    Ok(Frame::Priority { stream, dependency })
}

/// RFC 9113 §6.4.
pub(super) fn reset_stream(stream: u32, mut payload: Bytes) -> Result<Frame, Error> {
    if payload.len() != 4 {
        return Err(frame_size_error("RST_STREAM that is not four bytes"));
    }
    Ok(Frame::ResetStream { stream, code: payload.get_u32() })
}

/// RFC 9113 §6.5.
pub(super) fn settings(header: Header, payload: Bytes, role: Role) -> Result<Frame, Error> {
    if !header.has(flag::ACK) {
        return super::Settings::decode(payload, role).map(Frame::Settings);
    }
    if !payload.is_empty() {
        return Err(frame_size_error("an acknowledgment of SETTINGS with a payload"));
    }
    Ok(Frame::SettingsAck)
}

/// RFC 9113 §6.7.
pub(super) fn ping(header: Header, payload: &Bytes) -> Result<Frame, Error> {
    let payload =
        payload[..].try_into().map_err(|_| frame_size_error("PING that is not eight bytes"))?;
    Ok(Frame::Ping { ack: header.has(flag::ACK), payload })
}

/// RFC 9113 §6.8.
pub(super) fn goaway(mut payload: Bytes) -> Result<Frame, Error> {
    if payload.len() < 8 {
        return Err(frame_size_error("GOAWAY of less than eight bytes"));
    }
    let last_stream = payload.get_u32() & MAX_STREAM;
    Ok(Frame::GoAway { last_stream, code: payload.get_u32(), debug: payload })
}

/// RFC 9113 §6.9.
pub(super) fn window_update(stream: u32, mut payload: Bytes) -> Result<Frame, Error> {
    if payload.len() != 4 {
        return Err(frame_size_error("WINDOW_UPDATE that is not four bytes"));
    }
    let increment = payload.get_u32() & MAX_STREAM;
    let reason = "WINDOW_UPDATE by nothing";
    match (increment, stream) {
        (0, 0) => Err(protocol_error(reason)),
        (0, _) => Err(Error::stream(stream, ErrorCode::ProtocolError, reason)),
        _ => Ok(Frame::WindowUpdate { stream, increment }),
    }
}

/// RFC 9218 §7.1.
pub(super) fn priority_update(mut payload: Bytes) -> Result<Frame, Error> {
    if payload.len() < 4 {
        return Err(frame_size_error("PRIORITY_UPDATE of less than four bytes"));
    }
    match payload.get_u32() & MAX_STREAM {
        0 => Err(protocol_error("PRIORITY_UPDATE of stream 0")),
        stream => Ok(Frame::PriorityUpdate { stream, value: payload }),
    }
}

pub(super) const fn frame_size_error(reason: &'static str) -> Error {
    Error::connection(ErrorCode::FrameSizeError, reason)
}

pub(super) const fn protocol_error(reason: &'static str) -> Error {
    Error::connection(ErrorCode::ProtocolError, reason)
}
