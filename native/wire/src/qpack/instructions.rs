//! The instructions of the encoder stream and the decoder stream (RFC 9204 §4.3, §4.4).

use bytes::{Buf, Bytes, BytesMut};

use crate::fields::LINE_OVERHEAD;
use crate::primitive::{Invalid, Reader, integer, put_integer, put_string};

/// By how much Huffman encoding can make a string longer: no code has more than 30 bits.
const MAX_EXPANSION: u64 = 4;

/// Changes the decoder's dynamic table (§4.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EncoderInstruction {
    /// Set Dynamic Table Capacity, in bytes (§4.3.1).
    SetCapacity(u64),
    /// Insert with Name Reference (§4.3.2).
    InsertWithName { name: NameReference, value: Bytes },
    /// Insert with Literal Name (§4.3.3).
    Insert { name: Bytes, value: Bytes },
    /// Duplicate, of an entry by its relative index (§4.3.4).
    Duplicate(u64),
}

/// Where an inserted entry's name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameReference {
    /// An index of the static table.
    Static(u64),
    /// A relative index of the dynamic table: the entry inserted last has 0.
    Dynamic(u64),
}

impl EncoderInstruction {
    /// Writes the instruction.
    pub(super) fn encode(&self, out: &mut BytesMut) {
        match self {
            Self::SetCapacity(capacity) => put_integer(*capacity, 5, 0b0010_0000, out),
            Self::InsertWithName { name, value } => {
                match name {
                    NameReference::Static(index) => put_integer(*index, 6, 0b1100_0000, out),
                    NameReference::Dynamic(index) => put_integer(*index, 6, 0b1000_0000, out),
                }
                put_string(value, 7, 0, out);
            }
            Self::Insert { name, value } => {
                put_string(name, 5, 0b0100_0000, out);
                put_string(value, 7, 0, out);
            }
            Self::Duplicate(index) => put_integer(*index, 5, 0, out),
        }
    }

    /// Reads a whole instruction.
    fn decode(instruction: Bytes) -> Result<Self, Invalid> {
        let first = instruction[0];
        let mut reader = Reader::new(instruction);
        Ok(if first & 0b1000_0000 != 0 {
            let index = reader.integer(6)?;
            let is_static = first & 0b0100_0000 != 0;
            let name = if is_static { NameReference::Static } else { NameReference::Dynamic };
            Self::InsertWithName { name: name(index), value: reader.string(7)? }
        } else if first & 0b0100_0000 != 0 {
            Self::Insert { name: reader.string(5)?, value: reader.string(7)? }
        } else if first & 0b0010_0000 != 0 {
            Self::SetCapacity(reader.integer(5)?)
        } else {
            Self::Duplicate(reader.integer(5)?)
        })
    }

    /// The length of the instruction at the start of `bytes`, which are not empty, if it is whole. The
    /// dynamic table has so many bytes of capacity.
    fn measure(bytes: &[u8], capacity: u64) -> Result<Option<usize>, Invalid> {
        let inserts = bytes[0] & 0b1110_0000 != 0b0010_0000;
        if inserts && capacity < LINE_OVERHEAD {
            return Err(Invalid("an insertion into a dynamic table that holds nothing"));
        }
        let max_string = capacity * MAX_EXPANSION;
        let mut measure = Measure { bytes, len: 0, max_string };
        let is_whole = if bytes[0] & 0b1000_0000 != 0 {
            measure.integer(6)? && measure.string(7)?
        } else if bytes[0] & 0b0100_0000 != 0 {
            measure.string(5)? && measure.string(7)?
        } else {
            measure.integer(5)?
        };
        Ok(is_whole.then_some(measure.len))
    }
}

/// Goes through an instruction that may be cut short; what it returns is whether a part is whole.
struct Measure<'a> {
    bytes: &'a [u8],
    len: usize,
    max_string: u64,
}

impl Measure<'_> {
    fn integer(&mut self, bits: u32) -> Result<bool, Invalid> {
        Ok(self.value(bits)?.is_some())
    }

    fn string(&mut self, bits: u32) -> Result<bool, Invalid> {
        let Some(len) = self.value(bits)? else { return Ok(false) };
        if len > self.max_string {
            return Err(Invalid("an entry larger than the dynamic table"));
        }
        self.len += len as usize;
        Ok(self.len <= self.bytes.len())
    }

    fn value(&mut self, bits: u32) -> Result<Option<u64>, Invalid> {
        let Some((value, len)) = integer(&self.bytes[self.len..], bits)? else { return Ok(None) };
        self.len += len;
        Ok(Some(value))
    }
}

/// Tells what became of field sections (§4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecoderInstruction {
    /// Section Acknowledgment of a stream (§4.4.1).
    SectionAcknowledgment(u64),
    /// Stream Cancellation (§4.4.2).
    StreamCancellation(u64),
    /// Insert Count Increment (§4.4.3).
    InsertCountIncrement(u64),
}

impl DecoderInstruction {
    /// Writes the instruction.
    pub(super) fn encode(self, out: &mut BytesMut) {
        match self {
            Self::SectionAcknowledgment(stream) => put_integer(stream, 7, 0b1000_0000, out),
            Self::StreamCancellation(stream) => put_integer(stream, 6, 0b0100_0000, out),
            Self::InsertCountIncrement(increment) => put_integer(increment, 6, 0, out),
        }
    }

    /// The instruction at the start of `bytes`, which are not empty, and its length, if it is whole.
    fn decode(bytes: &[u8]) -> Result<Option<(Self, usize)>, Invalid> {
        let (bits, instruction): (u32, fn(u64) -> Self) = if bytes[0] & 0b1000_0000 != 0 {
            (7, Self::SectionAcknowledgment)
        } else if bytes[0] & 0b0100_0000 != 0 {
            (6, Self::StreamCancellation)
        } else {
            (6, Self::InsertCountIncrement)
        };
        Ok(integer(bytes, bits)?.map(|(value, len)| (instruction(value), len)))
    }
}

/// A stream of instructions, of which the last may not have arrived whole.
#[derive(Debug, Default)]
pub(super) struct Instructions {
    rest: BytesMut,
}

impl Instructions {
    /// More of the stream has arrived.
    pub(super) fn push(&mut self, input: &[u8]) {
        self.rest.extend_from_slice(input);
    }

    /// Bytes that wait for the rest of their instruction.
    pub(super) fn kept(&self) -> usize {
        self.rest.len()
    }

    /// The next instruction of an encoder stream, if it is whole. The dynamic table has so many bytes of
    /// capacity.
    pub(super) fn next_of_encoder(
        &mut self,
        capacity: u64,
    ) -> Result<Option<EncoderInstruction>, Invalid> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let Some(len) = EncoderInstruction::measure(&self.rest, capacity)? else {
            return Ok(None);
        };
        EncoderInstruction::decode(self.rest.split_to(len).freeze()).map(Some)
    }

    /// The next instruction of a decoder stream, if it is whole.
    pub(super) fn next_of_decoder(&mut self) -> Result<Option<DecoderInstruction>, Invalid> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let Some((instruction, len)) = DecoderInstruction::decode(&self.rest)? else {
            return Ok(None);
        };
        self.rest.advance(len);
        Ok(Some(instruction))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_encoder_instruction() -> impl Strategy<Value = EncoderInstruction> {
        let number = (0..1_u64 << 62, 0..62_u32).prop_map(|(value, shift)| value >> shift);
        let string = prop::collection::vec(any::<u8>(), 0..200).prop_map(Bytes::from);
        let name = (any::<bool>(), number.clone()).prop_map(|(is_static, index)| {
            if is_static { NameReference::Static(index) } else { NameReference::Dynamic(index) }
        });
        prop_oneof![
            number.clone().prop_map(EncoderInstruction::SetCapacity),
            number.prop_map(EncoderInstruction::Duplicate),
            (name, string.clone())
                .prop_map(|(name, value)| EncoderInstruction::InsertWithName { name, value }),
            (string.clone(), string)
                .prop_map(|(name, value)| EncoderInstruction::Insert { name, value }),
        ]
    }

    fn any_decoder_instruction() -> impl Strategy<Value = DecoderInstruction> {
        let number = (0..1_u64 << 62, 0..62_u32).prop_map(|(value, shift)| value >> shift);
        prop_oneof![
            number.clone().prop_map(DecoderInstruction::SectionAcknowledgment),
            number.clone().prop_map(DecoderInstruction::StreamCancellation),
            number.prop_map(DecoderInstruction::InsertCountIncrement),
        ]
    }

    #[test]
    fn endless_integers() {
        let endless = |first| {
            let mut stream = Instructions::default();
            stream.push(&[&[first][..], &[0x80; 11]].concat());
            stream
        };
        for first in [0x3f, 0x1f, 0xff, 0xbf, 0x5f] {
            assert!(endless(first).next_of_encoder(100).is_err(), "{first:x}");
        }
        for first in [0xff, 0x7f, 0x3f] {
            assert!(endless(first).next_of_decoder().is_err(), "{first:x}");
        }
    }

    #[test]
    fn a_string_beyond_the_limit_is_not_waited_for() {
        let mut stream = Instructions::default();
        stream.push(b"\x41a\x7f\x51"); // 208 bytes, perhaps 52 when decoded
        assert_eq!(stream.next_of_encoder(52), Ok(None));
        assert!(stream.next_of_encoder(51).is_err());
    }

    proptest! {
        #[test]
        fn encoder_stream_in_pieces(
            instructions in prop::collection::vec(any_encoder_instruction(), 0..6),
            piece in 1..40_usize,
        ) {
            let mut bytes = BytesMut::new();
            instructions.iter().for_each(|instruction| instruction.encode(&mut bytes));
            let (mut stream, mut read) = (Instructions::default(), Vec::new());
            for piece in bytes.chunks(piece) {
                stream.push(piece);
                while let Some(instruction) = stream.next_of_encoder(200).unwrap() {
                    read.push(instruction);
                }
            }
            prop_assert_eq!(read, instructions);
        }

        #[test]
        fn decoder_stream_in_pieces(
            instructions in prop::collection::vec(any_decoder_instruction(), 0..6),
            piece in 1..12_usize,
        ) {
            let mut bytes = BytesMut::new();
            instructions.iter().for_each(|instruction| instruction.encode(&mut bytes));
            let (mut stream, mut read) = (Instructions::default(), Vec::new());
            for piece in bytes.chunks(piece) {
                stream.push(piece);
                while let Some(instruction) = stream.next_of_decoder().unwrap() {
                    read.push(instruction);
                }
            }
            prop_assert_eq!(read, instructions);
        }
    }
}
