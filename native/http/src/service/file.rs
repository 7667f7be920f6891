use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::BytesMut;

/// Read from the file at once: a stream that is served in frames of a packet's size would otherwise
/// cost a system call a frame.
const AHEAD_BYTES: u64 = 64 << 10;

/// A part of a file, read by `pread`.
#[derive(Debug)]
pub struct FilePart {
    file: Arc<File>,
    offset: u64,
    remaining: u64,
    ahead: Vec<u8>,
    taken: usize,
}

impl FilePart {
    /// The part of `length` bytes from `offset` on. Several parts may share a file.
    #[must_use]
    pub fn new(file: impl Into<Arc<File>>, offset: u64, length: u64) -> Self {
        Self { file: file.into(), offset, remaining: length, ahead: Vec::new(), taken: 0 }
    }

    /// How much of it has not been read, in bytes.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Appends the next `length` bytes, which must be there.
    pub(crate) fn read(&mut self, into: &mut BytesMut, mut length: usize) -> io::Result<()> {
        while length > 0 {
            if self.taken == self.ahead.len() {
                self.fill()?;
            }
            let piece = length.min(self.ahead.len() - self.taken);
            into.extend_from_slice(&self.ahead[self.taken..self.taken + piece]);
            self.taken += piece;
            self.remaining -= piece as u64;
            length -= piece;
        }
        Ok(())
    }

    fn fill(&mut self) -> io::Result<()> {
        let bytes = self.remaining.min(AHEAD_BYTES);
        self.ahead.resize(usize::try_from(bytes).expect("at most AHEAD_BYTES"), 0);
        self.taken = 0;
        self.file.read_exact_at(&mut self.ahead, self.offset)?;
        self.offset += bytes;
        Ok(())
    }
}
