//! What mutants of both sides are made of, and what neither may send.

use bytes::BytesMut;
use headway_testlink::Numbers;
use headway_wire::h2::{Decoder, Frame, Limits, Role};

/// Content in chunks of seven bytes with extensions, and a trailer (RFC 9112, section 7.1).
pub(crate) fn chunked(content: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for chunk in content.chunks(7) {
        text.extend_from_slice(format!("{:x};x=\"y\"\r\n", chunk.len()).as_bytes());
        text.extend_from_slice(chunk);
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"0\r\ntrailer: x\r\n\r\n");
    text
}

/// A frame of HTTP/2 of any type, with any flags and payload.
pub(crate) fn any_frame(numbers: &mut Numbers, stream: u32, out: &mut BytesMut) {
    let (kind, payload) = (numbers.any() as u8, numbers.bytes(30));
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, numbers.any() as u8]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(&payload);
}

/// Whoever watches what a side of HTTP/2 sends: good frames whatever it gets, and none behind GOAWAY.
pub(crate) struct Watching {
    decoder: Decoder,
    ended: bool,
}

impl Watching {
    /// Watches the peer of this one.
    pub(crate) fn from_side_of(role: Role) -> Self {
        let limits = Limits { max_frame_size: 1 << 24, ..Limits::default() };
        Self { decoder: Decoder::new(role, limits), ended: false }
    }

    pub(crate) fn take(&mut self, sent: BytesMut) {
        let mut sent = sent.freeze();
        while let Some(frame) = self.decoder.decode(&mut sent).expect("frames by the rules") {
            assert!(!self.ended, "{frame:?} behind GOAWAY");
            self.ended = matches!(frame, Frame::GoAway { .. });
        }
        assert!(sent.is_empty(), "half a frame");
    }
}
