//! WebSocket's frames (RFC 6455, section 5).

use bytes::{Buf, Bytes, BytesMut};

use crate::Wrong;
use crate::lengths::{LONG, MOST_BYTES};

/// What a client's payload is masked with.
pub type Mask = [u8; 4];

const FIN: u8 = 0x80;
const MASKED: u8 = 0x80;
/// Of a control frame's payload, at most.
const MOST_CONTROL_BYTES: usize = 125;
/// A close frame without words: the purpose is fulfilled (section 7.4.1).
const NORMAL_CLOSURE: u16 = 1000;

/// What a frame is (section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// More of a message.
    Continuation = 0x0,
    /// The start of a message that is text.
    Text = 0x1,
    /// The start of a message that is none.
    Binary = 0x2,
    /// The sender sends nothing more.
    Close = 0x8,
    /// To be answered.
    Ping = 0x9,
    /// The answer.
    Pong = 0xa,
}

impl Opcode {
    fn parse(code: u8) -> Result<Self, Wrong> {
        const ALL: [Opcode; 6] = [
            Opcode::Continuation,
            Opcode::Text,
            Opcode::Binary,
            Opcode::Close,
            Opcode::Ping,
            Opcode::Pong,
        ];
        let found = ALL.into_iter().find(|&opcode| opcode as u8 == code);
        found.ok_or(Wrong("a WebSocket frame of an unknown kind"))
    }

    fn is_control(self) -> bool {
        self as u8 >= Self::Close as u8
    }
}

/// A frame that is a whole message, or a control frame.
#[must_use]
pub fn frame(opcode: Opcode, payload: &[u8], mask: Option<Mask>) -> Vec<u8> {
    let mut out = vec![FIN | opcode as u8];
    let masked = if mask.is_some() { MASKED } else { 0 };
    match (u8::try_from(payload.len()), u16::try_from(payload.len())) {
        (Ok(short @ 0..=125), _) => out.push(masked | short),
        (_, Ok(length)) => {
            out.push(masked | 126);
            out.extend(length.to_be_bytes());
        }
        _ => {
            out.push(masked | 127);
            out.extend((payload.len() as u64).to_be_bytes());
        }
    }
    out.extend(mask.unwrap_or_default().iter().take(if mask.is_some() { 4 } else { 0 }));
    let start = out.len();
    out.extend(payload);
    if let Some(mask) = mask {
        apply(mask, &mut out[start..]);
    }
    out
}

/// The frame after which its sender sends nothing.
#[must_use]
pub fn close(mask: Option<Mask>) -> Vec<u8> {
    frame(Opcode::Close, &NORMAL_CLOSURE.to_be_bytes(), mask)
}

fn apply(mask: Mask, payload: &mut [u8]) {
    for (byte, key) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
    }
}

/// What comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard<'a> {
    /// A message, all of it.
    Message(&'a [u8]),
    /// What is to be answered, with the same words.
    Ping(&'a [u8]),
    /// Nothing more comes.
    Close,
}

/// Reads frames of one side.
#[derive(Debug)]
pub struct Reader {
    /// Whether they have to be masked: a client's have to, a server's must not be.
    is_masked: bool,
    waiting: BytesMut,
    /// What came of a message in several frames.
    parts: Option<BytesMut>,
    is_closed: bool,
}

/// A frame that came.
struct Frame {
    is_last: bool,
    opcode: Opcode,
    payload: Bytes,
}

impl Reader {
    pub(crate) fn kept(&self) -> usize {
        self.waiting.len() + self.parts.as_ref().map_or(0, BytesMut::len)
    }

    /// Of a client's frames, or of a server's.
    #[must_use]
    pub fn new(is_masked: bool) -> Self {
        Self { is_masked, waiting: BytesMut::new(), parts: None, is_closed: false }
    }

    /// Whether the other side has said that nothing more comes.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Takes what came.
    ///
    /// # Arguments
    /// * `heard` - is called with what is complete.
    ///
    /// # Errors
    /// What comes are no frames.
    pub fn read(&mut self, piece: &[u8], mut heard: impl FnMut(Heard<'_>)) -> Result<(), Wrong> {
        self.waiting.extend_from_slice(piece);
        while let Some(frame) = self.next()? {
            if self.is_closed {
                return Err(Wrong("a WebSocket frame behind the one that closes"));
            }
            match frame.opcode {
                Opcode::Ping => heard(Heard::Ping(&frame.payload)),
                Opcode::Pong => {}
                Opcode::Close => {
                    self.is_closed = true;
                    heard(Heard::Close);
                }
                _ => self.data(&frame, &mut heard)?,
            }
        }
        Ok(())
    }

    fn data(&mut self, frame: &Frame, heard: &mut impl FnMut(Heard<'_>)) -> Result<(), Wrong> {
        if (frame.opcode == Opcode::Continuation) != self.parts.is_some() {
            return Err(Wrong(
                "a WebSocket message in the middle of another one, or without a start",
            ));
        }
        let mut parts = self.parts.take().unwrap_or_default();
        parts.extend_from_slice(&frame.payload);
        if parts.len() > MOST_BYTES {
            return Err(LONG);
        }
        if frame.is_last {
            heard(Heard::Message(&parts));
        } else {
            self.parts = Some(parts);
        }
        Ok(())
    }

    /// The next frame, if all of it is there.
    fn next(&mut self) -> Result<Option<Frame>, Wrong> {
        let Some((&[first, second], rest)) = self.waiting.split_first_chunk() else {
            return Ok(None);
        };
        let opcode = Opcode::parse(first & 0x0f)?;
        let is_last = first & FIN != 0;
        if first & 0x70 != 0 {
            return Err(Wrong("a WebSocket frame with a reserved bit"));
        }
        if (second & MASKED != 0) != self.is_masked {
            return Err(Wrong(
                "a WebSocket frame of a server that is masked, or of a client that is not",
            ));
        }
        let Some((length, length_bytes)) = length(second & !MASKED, rest)? else { return Ok(None) };
        if opcode.is_control() && (length > MOST_CONTROL_BYTES || !is_last) {
            return Err(Wrong("a WebSocket control frame that is long, or in parts"));
        }
        let mask_bytes = if self.is_masked { size_of::<Mask>() } else { 0 };
        let head_bytes = 2 + length_bytes + mask_bytes;
        if self.waiting.len() < head_bytes + length {
            return Ok(None);
        }
        let head = self.waiting.split_to(head_bytes);
        let mut payload = self.waiting.split_to(length);
        if let Some(&mask) = head.last_chunk().filter(|_| self.is_masked) {
            apply(mask, &mut payload);
        }
        Ok(Some(Frame { is_last, opcode, payload: payload.freeze() }))
    }
}

/// How long a payload is, and how many bytes say so behind the first two; `None` if they are not there yet.
fn length(short: u8, mut rest: &[u8]) -> Result<Option<(usize, usize)>, Wrong> {
    let (length, bytes, least) = match short {
        126 if rest.len() >= 2 => (u64::from(rest.get_u16()), 2, 126),
        127 if rest.len() >= 8 => (rest.get_u64(), 8, 1 << 16),
        126 | 127 => return Ok(None),
        short => (u64::from(short), 0, 0),
    };
    if length < least {
        return Err(Wrong("the length of a WebSocket frame takes more bytes than it needs"));
    }
    let length = usize::try_from(length).ok().filter(|&length| length <= MOST_BYTES);
    Ok(Some((length.ok_or(LONG)?, bytes)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn heard(is_masked: bool, pieces: &[&[u8]]) -> Result<Vec<String>, Wrong> {
        let (mut reader, mut said) = (Reader::new(is_masked), Vec::new());
        for piece in pieces {
            reader.read(piece, |heard| {
                said.push(match heard {
                    Heard::Message(text) => format!("message {}", String::from_utf8_lossy(text)),
                    Heard::Ping(text) => format!("ping {}", String::from_utf8_lossy(text)),
                    Heard::Close => "close".to_owned(),
                });
            })?;
        }
        Ok(said)
    }

    #[test]
    fn frames_of_the_rfc() {
        let text = |words: &str| Ok(vec![words.to_owned()]);
        let unmasked = [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f];
        let masked = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
        let parts = [0x01, 0x03, 0x48, 0x65, 0x6c, 0x89, 0x00, 0x80, 0x02, 0x6c, 0x6f];
        assert_eq!(heard(false, &[&unmasked]), text("message Hello"));
        assert_eq!(heard(true, &[&masked]), text("message Hello"));
        let expected = ["ping ", "message Hello"].map(str::to_owned);
        assert_eq!(heard(false, &[&parts]), Ok(expected.into()));
        assert_eq!(frame(Opcode::Text, b"Hello", None), unmasked);
        assert_eq!(frame(Opcode::Text, b"Hello", Some([0x37, 0xfa, 0x21, 0x3d])), masked);
        assert_eq!(heard(false, &[&close(None)]), text("close"));
    }

    #[test]
    fn what_are_no_frames() {
        let cases: [&[u8]; 10] = [
            &[0x83, 0x00],
            &[0xc1, 0x00],
            &[0x81, 0x80],
            &[0x80, 0x00],
            &[0x01, 0x00, 0x81, 0x00],
            &[0x09, 0x00],
            &[0x89, 126, 0, 126],
            &[0x81, 126, 0, 125],
            &[0x81, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff],
            &[0x88, 0x00, 0x81, 0x00],
        ];
        for bytes in cases {
            assert!(heard(false, &[bytes]).is_err(), "{bytes:?}");
        }
        assert!(heard(true, &[&[0x81, 0x00]]).is_err());
        assert_eq!(heard(false, &[&[0x81, 127, 0, 0, 0, 1, 0, 0, 0, 0]]), Err(LONG));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            sizes in prop::collection::vec(prop_oneof![0usize..300, Just(65_535), Just(65_536)], 0..5),
            mask: Option<Mask>,
            cut in 1usize..5000,
        ) {
            let messages = sizes.iter().map(|&size| vec![b'a' + (size % 26) as u8; size]);
            let messages: Vec<Vec<u8>> = messages.collect();
            let frames = messages.iter().flat_map(|text| frame(Opcode::Binary, text, mask));
            let stream: Vec<u8> = frames.chain(close(mask)).collect();
            let (mut reader, mut read) = (Reader::new(mask.is_some()), Vec::new());
            for piece in stream.chunks(cut) {
                let told = reader.read(piece, |heard| {
                    if let Heard::Message(text) = heard {
                        read.push(text.to_vec());
                    }
                });
                prop_assert_eq!(told, Ok(()));
            }
            prop_assert!(reader.is_closed());
            prop_assert_eq!(read, messages);
        }
    }
}
