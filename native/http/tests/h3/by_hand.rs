//! Streams of HTTP/3 by hand (RFC 9114, RFC 9204), so that a mistake of the codecs cannot hide itself.

pub(crate) const DATA: u64 = 0x00;
pub(crate) const HEADERS: u64 = 0x01;
pub(crate) const CANCEL_PUSH: u64 = 0x03;
pub(crate) const SETTINGS: u64 = 0x04;
pub(crate) const PUSH_PROMISE: u64 = 0x05;
pub(crate) const GOAWAY: u64 = 0x07;
pub(crate) const MAX_PUSH_ID: u64 = 0x0d;
pub(crate) const PRIORITY_UPDATE: u64 = 0xf0700;
pub(crate) const PRIORITY_UPDATE_PUSH: u64 = 0xf0701;
/// Types that mean nothing (RFC 9114, section 7.2.8).
pub(crate) const RESERVED: u64 = 0x21;
/// Types of HTTP/2's frames that HTTP/3 does not have.
pub(crate) const OF_HTTP2: [u64; 4] = [0x02, 0x06, 0x08, 0x09];

pub(crate) const STREAM_CREATION_ERROR: u64 = 0x103;
pub(crate) const CLOSED_CRITICAL_STREAM: u64 = 0x104;
pub(crate) const FRAME_UNEXPECTED: u64 = 0x105;
pub(crate) const FRAME_ERROR: u64 = 0x106;
pub(crate) const EXCESSIVE_LOAD: u64 = 0x107;
pub(crate) const ID_ERROR: u64 = 0x108;
pub(crate) const SETTINGS_ERROR: u64 = 0x109;
pub(crate) const MISSING_SETTINGS: u64 = 0x10a;
pub(crate) const REQUEST_INCOMPLETE: u64 = 0x10d;
pub(crate) const MESSAGE_ERROR: u64 = 0x10e;
pub(crate) const DECOMPRESSION_FAILED: u64 = 0x200;
pub(crate) const ENCODER_STREAM_ERROR: u64 = 0x201;
pub(crate) const DECODER_STREAM_ERROR: u64 = 0x202;

/// A variable-length integer (RFC 9000, section 16).
pub(crate) fn integer(value: u64) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    match value {
        0..0x40 => bytes[7..].to_vec(),
        0x40..0x4000 => [&[bytes[6] | 0x40], &bytes[7..]].concat(),
        0x4000..0x4000_0000 => [&[bytes[4] | 0x80], &bytes[5..]].concat(),
        _ => [&[bytes[0] | 0xc0], &bytes[1..]].concat(),
    }
}

pub(crate) fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    [&integer(kind)[..], &integer(payload.len() as u64), payload].concat()
}

/// A frame of one number.
pub(crate) fn number(kind: u64, value: u64) -> Vec<u8> {
    frame(kind, &integer(value))
}

pub(crate) fn settings(settings: &[(u64, u64)]) -> Vec<u8> {
    let one = |&(id, value): &(u64, u64)| [integer(id), integer(value)].concat();
    frame(SETTINGS, &settings.iter().flat_map(one).collect::<Vec<_>>())
}

/// A control stream with no settings, and more frames.
pub(crate) fn control(frames: &[Vec<u8>]) -> Vec<u8> {
    [&[0][..], &settings(&[]), &frames.concat()].concat()
}

/// HEADERS of literal field lines with literal names (RFC 9204, section 4.5.6), of up to 126 bytes.
pub(crate) fn headers(lines: &[(&str, &str)]) -> Vec<u8> {
    let mut section = vec![0, 0];
    for (name, value) in lines {
        assert!(name.len() < 127 && value.len() < 127);
        match name.len() {
            0..7 => section.push(0x20 | name.len() as u8),
            long => section.extend([0x27, long as u8 - 7]),
        }
        section.extend(name.bytes());
        section.push(value.len() as u8);
        section.extend(value.bytes());
    }
    frame(HEADERS, &section)
}

/// The lines that a request has at least.
pub(crate) const GET: [(&str, &str); 4] = [
    (":method", "GET"),
    (":scheme", "https"),
    (":authority", "server.test"),
    (":path", "/bytes/300"),
];

pub(crate) fn get() -> Vec<u8> {
    headers(&GET)
}

/// A request with more lines.
pub(crate) fn get_with(more: &[(&str, &str)]) -> Vec<u8> {
    headers(&[&GET[..], more].concat())
}
