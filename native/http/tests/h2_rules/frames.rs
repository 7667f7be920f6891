//! Frames by hand (RFC 9113, sections 4 and 6).

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;
/// RFC 9218, section 7.1.
pub(crate) const PRIORITY_UPDATE: u8 = 16;
/// A type that nobody has defined.
pub(crate) const UNKNOWN: u8 = 0xbe;

pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;
pub(crate) const WITH_PRIORITY: u8 = 0x20;
pub(crate) const WHOLE: u8 = END_STREAM | END_HEADERS;

pub(crate) const NO_ERROR: u32 = 0;
pub(crate) const PROTOCOL_ERROR: u32 = 1;
pub(crate) const FLOW_CONTROL_ERROR: u32 = 3;
pub(crate) const STREAM_CLOSED: u32 = 5;
pub(crate) const FRAME_SIZE_ERROR: u32 = 6;
pub(crate) const REFUSED_STREAM: u32 = 7;
pub(crate) const CANCEL: u32 = 8;
pub(crate) const COMPRESSION_ERROR: u32 = 9;
pub(crate) const ENHANCE_YOUR_CALM: u32 = 11;

/// Settings (RFC 9113, section 6.5.2).
pub(crate) const HEADER_TABLE_SIZE: u16 = 1;
pub(crate) const ENABLE_PUSH: u16 = 2;
pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;
pub(crate) const MAX_FRAME_SIZE: u16 = 5;

/// The largest window.
pub(crate) const MAX_WINDOW: u32 = 0x7fff_ffff;

/// What was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Got {
    /// The number that a frame has in four of its bytes.
    pub(crate) fn number(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let start = [length[1], length[2], length[3], kind, flags];
    [&start[..], &stream.to_be_bytes(), payload].concat()
}

/// Takes bytes apart that are whole frames.
pub(crate) fn frames(mut bytes: &[u8]) -> Vec<Got> {
    let mut frames = Vec::new();
    while let [a, b, c, kind, flags, s0, s1, s2, s3, rest @ ..] = bytes {
        let (payload, behind) = rest.split_at(u32::from_be_bytes([0, *a, *b, *c]) as usize);
        let stream = u32::from_be_bytes([*s0, *s1, *s2, *s3]);
        frames.push(Got { kind: *kind, flags: *flags, stream, payload: payload.to_vec() });
        bytes = behind;
    }
    assert!(bytes.is_empty(), "half a frame");
    frames
}

pub(crate) fn data(stream: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    frame(DATA, flags, stream, payload)
}

pub(crate) fn headers(stream: u32, flags: u8, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, flags, stream, block)
}

pub(crate) fn continuation(stream: u32, flags: u8, block: &[u8]) -> Vec<u8> {
    frame(CONTINUATION, flags, stream, block)
}

pub(crate) fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let one = |&(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(SETTINGS, 0, 0, &settings.iter().flat_map(one).collect::<Vec<_>>())
}

pub(crate) fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

pub(crate) fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}

pub(crate) fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

/// A field block of literals that no table has a part in (RFC 7541, section 6.2.2), without Huffman's
/// code; names and values have up to 126 bytes.
pub(crate) fn block(lines: &[(&str, &str)]) -> Vec<u8> {
    lines.iter().flat_map(|(name, value)| literal(0, name, value)).collect()
}

/// A literal with a name that follows, of the kind that the first byte says.
pub(crate) fn literal(first: u8, name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| {
        assert!(text.len() < 127);
        [&[text.len() as u8][..], text.as_bytes()].concat()
    };
    [&[first][..], &text(name), &text(value)].concat()
}

/// The lines that a request has at least.
pub(crate) const GET: [(&str, &str); 4] = [
    (":method", "GET"),
    (":scheme", "https"),
    (":authority", "server.test"),
    (":path", "/bytes/10"),
];

/// A request without content.
pub(crate) fn get(stream: u32) -> Vec<u8> {
    headers(stream, WHOLE, &block(&GET))
}

/// A request for so much.
pub(crate) fn get_bytes(stream: u32, size: u32) -> Vec<u8> {
    let path = format!("/bytes/{size}");
    headers(stream, WHOLE, &block(&[GET[0], GET[1], GET[2], (":path", &path)]))
}

/// A request whose content follows.
pub(crate) fn post(stream: u32, more: &[(&str, &str)]) -> Vec<u8> {
    let lines = [&[(":method", "POST")], &GET[1..], more].concat();
    headers(stream, END_HEADERS, &block(&lines))
}
