//! Taking fields off the front of a payload.

use super::error::FrameErrorKind;

/// The bytes not yet read; to take more than there are is [`FrameErrorKind::Truncated`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

type Taken<T> = Result<T, FrameErrorKind>;

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn remaining(&self) -> &'a [u8] {
        self.rest
    }

    /// A variable-length integer (RFC 9000 section 16).
    #[inline]
    pub(super) fn varint(&mut self) -> Taken<u64> {
        let first = *self.rest.first().ok_or(FrameErrorKind::Truncated)?;
        Ok(match first >> 6 {
            0 => {
                self.rest = &self.rest[1..];
                u64::from(first)
            }
            1 => u64::from(u16::from_be_bytes(*self.array()?)) & 0x3fff,
            2 => u64::from(u32::from_be_bytes(*self.array()?)) & 0x3fff_ffff,
            _ => u64::from_be_bytes(*self.array()?) & 0x3fff_ffff_ffff_ffff,
        })
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Taken<&'a [u8; N]> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(FrameErrorKind::Truncated)?;
        self.rest = rest;
        Ok(array)
    }

    #[inline]
    pub(super) fn bytes(&mut self, length: u64) -> Taken<&'a [u8]> {
        let split =
            usize::try_from(length).ok().and_then(|count| self.rest.split_at_checked(count));
        let (bytes, rest) = split.ok_or(FrameErrorKind::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Bytes with their number before them.
    #[inline]
    pub(super) fn prefixed(&mut self) -> Taken<&'a [u8]> {
        let length = self.varint()?;
        self.bytes(length)
    }

    /// Everything that is left.
    pub(super) fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Passes over zero bytes; their number.
    pub(super) fn zeros(&mut self) -> u64 {
        let count = self.rest.iter().position(|&byte| byte != 0).unwrap_or(self.rest.len());
        self.rest = &self.rest[count..];
        count as u64
    }
}
