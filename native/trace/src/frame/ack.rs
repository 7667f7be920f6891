//! The ranges of an ACK frame (RFC 9000 section 19.3).

use std::iter::FusedIterator;
use std::ops::RangeInclusive;

use super::error::FrameErrorKind;
use super::reader::Reader;

/// How many packets were received with each ECN codepoint (RFC 9000 section 19.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnCounts {
    /// With ECT(0).
    pub ect0: u64,
    /// With ECT(1).
    pub ect1: u64,
    /// With ECN-CE: congestion experienced.
    pub ce: u64,
}

/// The packet numbers an ACK frame acknowledges: disjoint ranges, largest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckRanges<'a> {
    /// The largest packet number of the next range.
    largest: u64,
    /// ACK Range Length of the next range, then pairs of Gap and ACK Range Length, checked.
    fields: Reader<'a>,
}

impl<'a> AckRanges<'a> {
    /// Reads the fields from First ACK Range on, of a frame with `more` ranges after that.
    ///
    /// One pass checks that no packet number is negative and finds the end, which bounds the work
    /// by the frame's bytes, whatever `more` claims.
    pub(super) fn read(
        reader: &mut Reader<'a>,
        largest: u64,
        more: u64,
    ) -> Result<AckRanges<'a>, FrameErrorKind> {
        let begin = reader.remaining();
        let mut smallest = lower(largest, reader.varint()?)?;
        for _ in 0..more {
            let next_largest = lower(smallest, reader.varint()? + 2)?;
            smallest = lower(next_largest, reader.varint()?)?;
        }
        let length = begin.len() - reader.remaining().len();
        Ok(AckRanges { largest, fields: Reader::new(&begin[..length]) })
    }
}

/// A packet number less a field.
fn lower(number: u64, field: u64) -> Result<u64, FrameErrorKind> {
    number.checked_sub(field).ok_or(FrameErrorKind::Invalid)
}

impl Iterator for AckRanges<'_> {
    type Item = RangeInclusive<u64>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let largest = self.largest;
        let smallest = largest - self.fields.varint().ok()?;
        if let Ok(gap) = self.fields.varint() {
            self.largest = smallest - gap - 2;
        }
        Some(smallest..=largest)
    }
}

impl FusedIterator for AckRanges<'_> {}
