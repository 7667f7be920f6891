//! Writing frames (RFC 9113 §6, RFC 7540 §6.3, RFC 9218 §7.1).

use bytes::{BufMut, BytesMut};

use super::payload::PRIORITY_LEN;
use super::{Error, ErrorCode, PREFACE, Settings, flag, frame_type};
use crate::priority::Dependency;

/// What a client sends first; SETTINGS must follow.
pub fn preface(out: &mut BytesMut) {
    out.put_slice(PREFACE);
}

/// The header of a DATA frame; `len` bytes of content must follow, at most the peer's
/// SETTINGS_MAX_FRAME_SIZE.
pub fn data_header(stream: u32, len: usize, end_stream: bool, out: &mut BytesMut) {
    let flags = if end_stream { flag::END_STREAM } else { 0 };
    header(len, frame_type::DATA, flags, stream, out);
}

/// A field block, in HEADERS and as many CONTINUATION frames as it needs if no payload may exceed
/// `max_frame_size`, the peer's SETTINGS_MAX_FRAME_SIZE.
pub fn headers(
    stream: u32,
    block: &[u8],
    dependency: Option<&Dependency>,
    end_stream: bool,
    max_frame_size: usize,
    out: &mut BytesMut,
) {
    let priority_len = if dependency.is_some() { PRIORITY_LEN } else { 0 };
    let (first, rest) = block.split_at(block.len().min(max_frame_size - priority_len));
    let mut flags = if end_stream { flag::END_STREAM } else { 0 };
    if rest.is_empty() {
        flags |= flag::END_HEADERS;
    }
    if dependency.is_some() {
        flags |= flag::PRIORITY;
    }
    header(priority_len + first.len(), frame_type::HEADERS, flags, stream, out);
    if let Some(dependency) = dependency {
        put_dependency(dependency, out);
    }
    out.put_slice(first);

    let mut fragments = rest.chunks(max_frame_size).peekable();
    while let Some(fragment) = fragments.next() {
        let flags = if fragments.peek().is_none() { flag::END_HEADERS } else { 0 };
        frame(frame_type::CONTINUATION, flags, stream, fragment, out);
    }
}

/// PRIORITY.
pub fn priority(stream: u32, dependency: &Dependency, out: &mut BytesMut) {
    header(PRIORITY_LEN, frame_type::PRIORITY, 0, stream, out);
    put_dependency(dependency, out);
}

/// RST_STREAM.
pub fn reset_stream(stream: u32, code: ErrorCode, out: &mut BytesMut) {
    frame(frame_type::RST_STREAM, 0, stream, &code.code().to_be_bytes(), out);
}

/// SETTINGS.
pub fn settings(settings: &Settings, out: &mut BytesMut) {
    let mut payload = BytesMut::new();
    settings.encode(&mut payload);
    frame(frame_type::SETTINGS, 0, 0, &payload, out);
}

/// The acknowledgment of SETTINGS.
pub fn settings_ack(out: &mut BytesMut) {
    frame(frame_type::SETTINGS, flag::ACK, 0, &[], out);
}

/// PING, or with `ack` the answer to one.
pub fn ping(ack: bool, payload: [u8; 8], out: &mut BytesMut) {
    frame(frame_type::PING, if ack { flag::ACK } else { 0 }, 0, &payload, out);
}

/// GOAWAY: `last_stream` is the last that may have been processed.
pub fn goaway(last_stream: u32, code: ErrorCode, debug: &[u8], out: &mut BytesMut) {
    header(8 + debug.len(), frame_type::GOAWAY, 0, 0, out);
    out.put_u32(last_stream);
    out.put_u32(code.code());
    out.put_slice(debug);
}

/// GOAWAY for an error of the connection.
pub fn goaway_for(last_stream: u32, error: &Error, out: &mut BytesMut) {
    goaway(last_stream, error.code, error.reason.as_bytes(), out);
}

/// WINDOW_UPDATE; stream 0 is the connection.
pub fn window_update(stream: u32, increment: u32, out: &mut BytesMut) {
    frame(frame_type::WINDOW_UPDATE, 0, stream, &increment.to_be_bytes(), out);
}

/// PRIORITY_UPDATE, from a client, with a new value of the Priority field.
pub fn priority_update(stream: u32, value: &[u8], out: &mut BytesMut) {
    header(4 + value.len(), frame_type::PRIORITY_UPDATE, 0, 0, out);
    out.put_u32(stream);
    out.put_slice(value);
}

fn frame(frame_type: u8, flags: u8, stream: u32, payload: &[u8], out: &mut BytesMut) {
    header(payload.len(), frame_type, flags, stream, out);
    out.put_slice(payload);
}

/// RFC 9113 §4.1.
fn header(len: usize, frame_type: u8, flags: u8, stream: u32, out: &mut BytesMut) {
    out.put_uint(len as u64, 3);
    out.put_u8(frame_type);
    out.put_u8(flags);
    out.put_u32(stream);
}

/// RFC 7540 §6.3.
fn put_dependency(dependency: &Dependency, out: &mut BytesMut) {
    let exclusive = if dependency.exclusive { 1 << 31 } else { 0 };
    out.put_u32(dependency.parent.unwrap_or(0) as u32 | exclusive);
    out.put_u8((dependency.weight - 1) as u8);
}
