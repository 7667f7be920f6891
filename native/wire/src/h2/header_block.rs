//! Field blocks in several frames (RFC 9113 §4.3, §6.10).

use bytes::{Bytes, BytesMut};

use super::{Error, ErrorCode, Frame};
use crate::priority::Dependency;

/// CONTINUATION frames a block may have. They may be as small as they like, and without a limit they
/// would cost the sender next to nothing.
const MAX_CONTINUATIONS: usize = 64;

/// A HEADERS frame whose block has not ended.
#[derive(Debug)]
pub(super) struct HeaderBlock {
    pub(super) stream: u32,
    pub(super) dependency: Option<Dependency>,
    pub(super) end_stream: bool,
    block: BytesMut,
    continuations: usize,
}

impl HeaderBlock {
    /// From the HEADERS frame, with the first fragment.
    pub(super) fn new(
        stream: u32,
        dependency: Option<Dependency>,
        end_stream: bool,
        fragment: &Bytes,
    ) -> Self {
        let block = BytesMut::from(&fragment[..]);
        Self { stream, dependency, end_stream, block, continuations: 0 }
    }

    /// Appends the fragment of a CONTINUATION frame; the block may have `max_block` bytes.
    pub(super) fn add(&mut self, fragment: &Bytes, max_block: usize) -> Result<(), Error> {
        self.continuations += 1;
        check_size(self.block.len() + fragment.len(), max_block)?;
        if self.continuations > MAX_CONTINUATIONS {
            return Err(Error::connection(ErrorCode::EnhanceYourCalm, "too many CONTINUATIONs"));
        }
        self.block.extend_from_slice(fragment);
        Ok(())
    }

    /// Memory that it takes, in bytes.
    pub(super) fn kept(&self) -> usize {
        self.block.capacity()
    }

    /// When the block has ended.
    pub(super) fn into_frame(self) -> Frame {
        let Self { stream, dependency, end_stream, block, .. } = self;
        Frame::Headers { stream, block: block.freeze(), dependency, end_stream }
    }
}

/// Whether a block of `len` bytes is acceptable.
pub(super) fn check_size(len: usize, max_block: usize) -> Result<(), Error> {
    if len > max_block {
        let reason = "a field block larger than the limit";
        return Err(Error::connection(ErrorCode::EnhanceYourCalm, reason));
    }
    Ok(())
}
