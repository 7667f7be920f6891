use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

/// Content that comes over time. Its end is told, and not known beforehand.
#[derive(Debug, Default)]
pub struct Growing {
    pieces: VecDeque<Bytes>,
    remaining: u64,
    has_ended: bool,
}

impl Growing {
    /// Bytes that came and were not read.
    pub(super) fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Whether more may come.
    pub(super) fn is_open(&self) -> bool {
        !self.has_ended
    }

    /// More comes.
    pub(super) fn push(&mut self, piece: Bytes) {
        self.remaining += piece.len() as u64;
        self.pieces.push_back(piece);
    }

    /// That was all.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    /// Appends the next `length` bytes, which must be there.
    pub(super) fn read(&mut self, into: &mut BytesMut, mut length: usize) {
        while let (1.., Some(first)) = (length, self.pieces.front_mut()) {
            let piece = first.split_to(first.len().min(length));
            if first.is_empty() {
                self.pieces.pop_front();
            }
            self.remaining -= piece.len() as u64;
            length -= piece.len();
            into.extend_from_slice(&piece);
        }
    }
}
