use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use rustix::buffer::spare_capacity;
use rustix::io::{pread, retry_on_intr};

/// Read from the file at once: a stream that is served in frames of a packet's size would otherwise
/// cost a system call a frame.
const AHEAD_BYTES: u64 = 64 << 10;
/// As much as this at once goes straight to where it is wanted: it is worth a system call of its own, and
/// not another copy.
const DIRECT_BYTES: usize = 32 << 10;
/// What is read ahead of all files together, at most. Further ones are read frame by frame, so that no
/// number of clients that stop reading takes more memory.
const ALL_AHEAD_BYTES: u64 = 4 << 20;

thread_local! {
    static ALL_AHEAD: Cell<u64> = const { Cell::new(0) };
}

/// A part of a file, read by `pread`.
#[derive(Debug)]
pub struct FilePart {
    file: Arc<File>,
    /// Of the next byte in the file.
    offset: u64,
    remaining: u64,
    ahead: Ahead,
}

impl FilePart {
    /// The part of `length` bytes from `offset` on. Several parts may share a file.
    #[must_use]
    pub fn new(file: impl Into<Arc<File>>, offset: u64, length: u64) -> Self {
        Self { file: file.into(), offset, remaining: length, ahead: Ahead::default() }
    }

    /// How much of it has not been read, in bytes.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Appends the next `length` bytes, which must be there.
    pub(crate) fn read(&mut self, into: &mut BytesMut, mut length: usize) -> io::Result<()> {
        while length > 0 {
            let ready = self.ahead.from(self.offset);
            let piece = if !ready.is_empty() {
                let piece = length.min(ready.len());
                into.extend_from_slice(&ready[..piece]);
                piece
            } else if length < DIRECT_BYTES
                && self.ahead.read(&self.file, self.offset, self.remaining)?
            {
                continue;
            } else {
                let start = into.len();
                into.resize(start + length, 0);
                self.file.read_exact_at(&mut into[start..], self.offset)?;
                length
            };
            self.offset += piece as u64;
            self.remaining -= piece as u64;
            length -= piece;
        }
        if self.remaining == 0 {
            self.ahead = Ahead::default();
        }
        Ok(())
    }

    /// The next `length` bytes, which must be there.
    pub(crate) fn take(&mut self, length: usize) -> io::Result<Bytes> {
        if length < DIRECT_BYTES || !self.ahead.from(self.offset).is_empty() {
            let mut piece = BytesMut::with_capacity(length);
            self.read(&mut piece, length)?;
            return Ok(piece.freeze());
        }
        // Nothing is written there before the file is.
        let mut piece = Vec::with_capacity(length);
        while piece.len() < length {
            let offset = self.offset + piece.len() as u64;
            if retry_on_intr(|| pread(&self.file, spare_capacity(&mut piece), offset))? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        piece.truncate(length);
        self.offset += length as u64;
        self.remaining -= length as u64;
        if self.remaining == 0 {
            self.ahead = Ahead::default();
        }
        Ok(piece.into())
    }

    /// What it has in memory, in bytes.
    #[cfg(test)]
    pub(crate) fn ahead_bytes(&self) -> usize {
        self.ahead.bytes.len()
    }

    /// Goes back by `length` bytes, which were read before.
    pub(crate) fn unread(&mut self, length: usize) {
        self.offset -= length as u64;
        self.remaining += length as u64;
    }
}

/// What was read ahead of a file.
#[derive(Debug, Default)]
struct Ahead {
    bytes: Vec<u8>,
    /// Of the first of them in the file.
    offset: u64,
    /// Its share of what all files may take.
    share: u64,
}

impl Ahead {
    /// What there is from a byte of the file on.
    fn from(&self, offset: u64) -> &[u8] {
        let skipped = offset.checked_sub(self.offset).and_then(|bytes| usize::try_from(bytes).ok());
        skipped.and_then(|bytes| self.bytes.get(bytes..)).unwrap_or_default()
    }

    /// Reads from a byte of the file on, if other files leave room for it.
    ///
    /// # Returns
    /// Whether they do.
    fn read(&mut self, file: &File, offset: u64, remaining: u64) -> io::Result<bool> {
        if self.share == 0 {
            let all = ALL_AHEAD.get() + AHEAD_BYTES;
            if all > ALL_AHEAD_BYTES {
                return Ok(false);
            }
            ALL_AHEAD.set(all);
            self.share = AHEAD_BYTES;
        }
        let bytes = remaining.min(AHEAD_BYTES);
        self.bytes.resize(usize::try_from(bytes).expect("at most AHEAD_BYTES"), 0);
        self.offset = offset;
        file.read_exact_at(&mut self.bytes, offset)?;
        Ok(true)
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        ALL_AHEAD.set(ALL_AHEAD.get() - self.share);
    }
}
