//! Writing streams and frames (RFC 9114 §6.2, §7.2, RFC 9218 §7.2).

use bytes::{BufMut, BytesMut};

use super::{Settings, StreamType, frame_type};
use crate::fields::Line;
use crate::{qpack, varint};

/// The start of a unidirectional stream.
pub fn stream_type(stream_type: StreamType, out: &mut BytesMut) {
    varint::encode(stream_type.code(), out);
}

/// The header of a DATA frame; `len` bytes of content must follow.
pub fn data_header(len: u64, out: &mut BytesMut) {
    header(frame_type::DATA, len, out);
}

/// HEADERS: a field section, compressed.
pub fn headers<'a>(lines: impl IntoIterator<Item = Line<'a>>, out: &mut BytesMut) {
    let mut section = BytesMut::new();
    qpack::encode_section(lines, &mut section);
    frame(frame_type::HEADERS, &section, out);
}

/// SETTINGS, the first frame of a control stream.
pub fn settings(settings: &Settings, out: &mut BytesMut) {
    let mut payload = BytesMut::new();
    settings.encode(&mut payload);
    frame(frame_type::SETTINGS, &payload, out);
}

/// GOAWAY: from a server the first request stream it will not process, from a client a push id.
pub fn goaway(id: u64, out: &mut BytesMut) {
    header(frame_type::GOAWAY, varint::len(id) as u64, out);
    varint::encode(id, out);
}

/// PRIORITY_UPDATE for a request stream, from a client, with a new value of the Priority field.
pub fn priority_update(stream: u64, value: &[u8], out: &mut BytesMut) {
    header(frame_type::PRIORITY_UPDATE, (varint::len(stream) + value.len()) as u64, out);
    varint::encode(stream, out);
    out.put_slice(value);
}

/// Any other frame.
pub fn frame(frame_type: u64, payload: &[u8], out: &mut BytesMut) {
    header(frame_type, payload.len() as u64, out);
    out.put_slice(payload);
}

fn header(frame_type: u64, len: u64, out: &mut BytesMut) {
    varint::encode(frame_type, out);
    varint::encode(len, out);
}
