//! Output in large pieces that never stops its program.

use std::io::{self, Write};

/// A piece is written once it has grown to this.
const PIECE_BYTES: usize = 1 << 16;
/// Few records are longer.
const RECORD_BYTES: usize = 1 << 12;

/// Bytes on their way out. The first error ends the output; [`Buffer::flush`] tells of it.
#[derive(Debug)]
pub(crate) struct Buffer<W: Write> {
    out: W,
    piece: Vec<u8>,
    failure: Option<io::ErrorKind>,
}

impl<W: Write> Buffer<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, piece: Vec::with_capacity(PIECE_BYTES + RECORD_BYTES), failure: None }
    }

    /// Lets a record append itself.
    pub(crate) fn append(&mut self, record: impl FnOnce(&mut Vec<u8>)) {
        if self.failure.is_some() {
            return;
        }
        record(&mut self.piece);
        if self.piece.len() >= PIECE_BYTES {
            // The failure is kept for the next flush.
            let _ = self.write_piece();
        }
    }

    /// Writes what is there; an error is told again by every later call.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.write_piece()?;
        self.out.flush()
    }

    /// Nothing follows an error, as readers could not tell where it would go on.
    fn write_piece(&mut self) -> io::Result<()> {
        if self.failure.is_none() {
            self.failure = self.out.write_all(&self.piece).err().map(|error| error.kind());
        }
        self.piece.clear();
        self.failure.map_or(Ok(()), |kind| Err(kind.into()))
    }
}

impl<W: Write> Drop for Buffer<W> {
    fn drop(&mut self) {
        // Whoever wants to know of an error has flushed.
        let _ = self.flush();
    }
}
