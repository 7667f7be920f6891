//! Bytes that are only of use together.

use bytes::{Bytes, BytesMut};

/// Collects a known number of bytes from the pieces of a stream; without a copy if they come in one.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    kept: BytesMut,
}

impl Gather {
    /// Takes up to `len` bytes off `input` and returns them once there are so many. `len` must stay
    /// the same until then.
    pub(crate) fn take(&mut self, input: &mut Bytes, len: usize) -> Option<Bytes> {
        let missing = len - self.kept.len();
        let part = input.split_to(missing.min(input.len()));
        if part.len() == missing && self.kept.is_empty() {
            return Some(part);
        }
        self.kept.extend_from_slice(&part);
        (part.len() == missing).then(|| self.kept.split().freeze())
    }
}
