//! The layout of frames (RFC 9114 §7.1), whatever they mean.

use bytes::{Buf, Bytes};

use super::{Error, ErrorCode};
use crate::gather::Gather;
use crate::varint;

/// Bytes of the longest frame header: type and length.
const MAX_HEADER: usize = 2 * varint::MAX_LEN;

/// What to do with the payload of a frame.
#[derive(Clone, Copy)]
pub(super) enum Payload {
    /// Pass it on as it comes.
    Pieces,
    /// Pass it on when it is whole; it must not exceed so many bytes.
    Whole(usize),
    /// Drop it.
    Skip,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A piece, not empty, of a payload that was asked for in pieces.
    Piece(Bytes),
    /// A frame whose payload was asked for as a whole: its type and payload.
    Frame(u64, Bytes),
}

#[derive(Debug)]
enum State {
    /// In front of a frame header, or inside one.
    Header,
    Pieces {
        remaining: u64,
    },
    Whole {
        frame_type: u64,
        len: usize,
    },
    Skip {
        remaining: u64,
    },
}

/// Takes a stream of frames apart. Keeps at most a frame header or what [`Payload::Whole`] permits.
#[derive(Debug)]
pub(super) struct Framing {
    state: State,
    header: [u8; MAX_HEADER],
    /// Bytes of `header` that have arrived.
    header_len: usize,
    payload: Gather,
}

impl Framing {
    pub(super) fn new() -> Self {
        Self {
            state: State::Header,
            header: [0; MAX_HEADER],
            header_len: 0,
            payload: Gather::default(),
        }
    }

    /// Memory that a frame which is not whole takes, in bytes.
    pub(super) fn kept(&self) -> usize {
        self.payload.kept()
    }

    /// Whether the stream may end here: not inside a frame (RFC 9114 §7.1).
    pub(super) fn at_frame_boundary(&self) -> bool {
        match self.state {
            State::Header => self.header_len == 0,
            State::Pieces { remaining } | State::Skip { remaining } => remaining == 0,
            State::Whole { .. } => false,
        }
    }

    /// Takes bytes off `input` until there is an item. `payload` says what to do with a frame of a type
    /// and length, and whether it may be here at all.
    pub(super) fn next(
        &mut self,
        input: &mut Bytes,
        mut payload: impl FnMut(u64) -> Result<Payload, Error>,
    ) -> Result<Option<Item>, Error> {
        loop {
            match &mut self.state {
                State::Header => {
                    let Some((frame_type, len)) = self.take_header(input) else { return Ok(None) };
                    self.state = start(frame_type, len, payload(frame_type)?)?;
                }
                State::Pieces { remaining: 0 } | State::Skip { remaining: 0 } => {
                    self.state = State::Header;
                }
                State::Pieces { .. } | State::Skip { .. } if input.is_empty() => return Ok(None),
                State::Pieces { remaining } => {
                    return Ok(Some(Item::Piece(take(input, remaining))));
                }
                State::Skip { remaining } => drop(take(input, remaining)),
                State::Whole { frame_type, len } => {
                    let frame_type = *frame_type;
                    let Some(payload) = self.payload.take(input, *len) else { return Ok(None) };
                    self.state = State::Header;
                    return Ok(Some(Item::Frame(frame_type, payload)));
                }
            }
        }
    }

    fn take_header(&mut self, input: &mut Bytes) -> Option<(u64, u64)> {
        let filled = MAX_HEADER.min(self.header_len + input.len());
        let added = filled - self.header_len;
        self.header[self.header_len..filled].copy_from_slice(&input[..added]);
        let Some((frame_type, len, header_len)) = parse_header(&self.header[..filled]) else {
            self.header_len = filled;
            input.advance(added);
            return None;
        };
        input.advance(header_len - self.header_len);
        self.header_len = 0;
        Some((frame_type, len))
    }
}

/// Type, length, and the bytes they take.
fn parse_header(bytes: &[u8]) -> Option<(u64, u64, usize)> {
    let (frame_type, type_len) = varint::decode(bytes)?;
    let (len, len_len) = varint::decode(&bytes[type_len..])?;
    Some((frame_type, len, type_len + len_len))
}

fn start(frame_type: u64, len: u64, payload: Payload) -> Result<State, Error> {
    match payload {
        Payload::Pieces => Ok(State::Pieces { remaining: len }),
        Payload::Skip => Ok(State::Skip { remaining: len }),
        Payload::Whole(limit) => match usize::try_from(len) {
            Ok(len) if len <= limit => Ok(State::Whole { frame_type, len }),
            _ => Err(Error::connection(ErrorCode::ExcessiveLoad, "a frame larger than the limit")),
        },
    }
}

/// Takes what there is of the `remaining` bytes.
fn take(input: &mut Bytes, remaining: &mut u64) -> Bytes {
    let len = input.len().min(usize::try_from(*remaining).unwrap_or(usize::MAX));
    *remaining -= len as u64;
    input.split_to(len)
}
