//! The peer's encoder and decoder streams (RFC 9204 §4.3, §4.4), on which, without a dynamic table,
//! hardly anything is legal.

use bytes::{Buf, Bytes};

use crate::h3::{Error, ErrorCode};
use crate::primitive::{self, Invalid, MAX_INTEGER_LEN};

/// Reads the peer's encoder stream.
#[derive(Debug, Default)]
pub struct EncoderStream(Instructions);

impl EncoderStream {
    /// At the start of the stream, behind its type.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes of the stream.
    ///
    /// # Errors
    ///
    /// QPACK_ENCODER_STREAM_ERROR for whatever is not Set Dynamic Table Capacity to 0: everything else
    /// inserts into a table that can hold nothing, or makes it larger than was allowed.
    pub fn read(&mut self, input: Bytes) -> Result<(), Error> {
        self.0
            .read(input, set_capacity)
            .map_err(|invalid| Error::connection(ErrorCode::QpackEncoderStreamError, invalid.0))
    }
}

/// RFC 9204 §4.3.1.
fn set_capacity(bytes: &[u8]) -> Result<Option<usize>, Invalid> {
    if bytes[0] & 0b1110_0000 != 0b0010_0000 {
        return Err(Invalid("an insertion into a dynamic table of capacity 0"));
    }
    match primitive::integer(bytes, 5)? {
        Some((0, len)) => Ok(Some(len)),
        Some(_) => Err(Invalid("a dynamic table capacity above the maximum of 0")),
        None => Ok(None),
    }
}

/// Reads the peer's decoder stream.
#[derive(Debug, Default)]
pub struct DecoderStream(Instructions);

impl DecoderStream {
    /// At the start of the stream, behind its type.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes of the stream.
    ///
    /// # Errors
    ///
    /// QPACK_DECODER_STREAM_ERROR for whatever is not a Stream Cancellation: everything else
    /// acknowledges insertions, and there were none.
    pub fn read(&mut self, input: Bytes) -> Result<(), Error> {
        self.0
            .read(input, stream_cancellation)
            .map_err(|invalid| Error::connection(ErrorCode::QpackDecoderStreamError, invalid.0))
    }
}

/// RFC 9204 §4.4.2.
fn stream_cancellation(bytes: &[u8]) -> Result<Option<usize>, Invalid> {
    if bytes[0] & 0b1100_0000 != 0b0100_0000 {
        return Err(Invalid("an acknowledgment of what was never inserted"));
    }
    Ok(primitive::integer(bytes, 6)?.map(|(_, len)| len))
}

/// A stream of instructions, of which the last may not have arrived whole. Those that are legal consist
/// of one integer.
#[derive(Debug, Default)]
struct Instructions {
    partial: [u8; MAX_INTEGER_LEN],
    partial_len: usize,
}

impl Instructions {
    /// `instruction` gets at least one byte and returns the length of the instruction they start with,
    /// if that is whole.
    fn read(
        &mut self,
        mut input: Bytes,
        instruction: fn(&[u8]) -> Result<Option<usize>, Invalid>,
    ) -> Result<(), Invalid> {
        while !input.is_empty() {
            let added = input.len().min(MAX_INTEGER_LEN - self.partial_len);
            let filled = self.partial_len + added;
            self.partial[self.partial_len..filled].copy_from_slice(&input[..added]);
            match instruction(&self.partial[..filled])? {
                Some(len) => input.advance(len - std::mem::take(&mut self.partial_len)),
                None => {
                    input.advance(added);
                    self.partial_len = filled;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of a stream, which must not depend on how it is cut.
    fn read(
        mut stream: impl FnMut(Bytes) -> Result<(), Error>,
        bytes: &'static [u8],
    ) -> Option<ErrorCode> {
        for byte in bytes.chunks(1) {
            if let Err(error) = stream(Bytes::from_static(byte)) {
                return Some(error.code);
            }
        }
        None
    }

    #[test]
    fn encoder_stream() {
        let cases: [(&[u8], bool); 8] = [
            (b"", true),
            (b"\x20\x20\x20", true),
            (b"\x21", false),     // capacity 1
            (b"\x3f\x00", false), // capacity 31
            (b"\x80", false),     // Insert with Name Reference
            (b"\x40", false),     // Insert with Literal Name
            (b"\x00", false),     // Duplicate
            (b"\x3f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", false), // endless
        ];
        for (bytes, good) in cases {
            let code = (!good).then_some(ErrorCode::QpackEncoderStreamError);
            let mut stream = EncoderStream::new();
            assert_eq!(read(|bytes| stream.read(bytes), bytes), code, "{bytes:?}");
            let whole = EncoderStream::new().read(Bytes::from_static(bytes));
            assert_eq!(whole.err().map(|error| error.code), code, "{bytes:?}");
        }
    }

    #[test]
    fn decoder_stream() {
        let cases: [(&[u8], bool); 7] = [
            (b"", true),
            (b"\x40\x44\x7f\x81\x01\x40", true),
            (b"\x7f\xff\xff\xff\xff\xff\xff\xff\xff\x3e\x40", true), // the largest stream id
            (b"\x80", false),                                        // Section Acknowledgment
            (b"\x00", false),                                        // Insert Count Increment of 0
            (b"\x01", false),                                        // and of 1
            (b"\x7f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", false), // endless
        ];
        for (bytes, good) in cases {
            let code = (!good).then_some(ErrorCode::QpackDecoderStreamError);
            let mut stream = DecoderStream::new();
            assert_eq!(read(|bytes| stream.read(bytes), bytes), code, "{bytes:?}");
            let whole = DecoderStream::new().read(Bytes::from_static(bytes));
            assert_eq!(whole.err().map(|error| error.code), code, "{bytes:?}");
        }
    }
}
