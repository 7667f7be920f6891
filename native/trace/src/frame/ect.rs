//! Where the counts of ECT(0) and ECT(1) are in a payload (RFC 9000, section 19.3.2).

use std::ops::Range;

use super::ack::AckRanges;
use super::error::FrameErrorKind;
use super::reader::Reader;
use super::{Frame, Frames};

/// The bytes of both counts, one after the other, of each ACK frame with counts.
#[must_use]
pub fn ect_counts(payload: &[u8]) -> Vec<[Range<usize>; 2]> {
    let mut counts = Vec::new();
    let mut frames = Frames::new(payload);
    loop {
        let begin = payload.len() - frames.remaining();
        match frames.next() {
            Some(Ok(Frame::Ack { ecn: Some(_), .. })) => {
                counts.extend(of_frame(&payload[begin..], begin));
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return counts,
        }
    }
}

fn of_frame(frame: &[u8], begin: usize) -> Result<[Range<usize>; 2], FrameErrorKind> {
    let mut reader = Reader::new(frame);
    let (_type, largest, _delay) = (reader.varint()?, reader.varint()?, reader.varint()?);
    let more = reader.varint()?;
    AckRanges::read(&mut reader, largest, more)?;
    let mut next = || {
        let start = frame.len() - reader.remaining().len();
        reader.varint()?;
        Ok(begin + start..begin + frame.len() - reader.remaining().len())
    };
    Ok([next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_where_they_are_whatever_is_before() {
        // PING; ACK of 4 to 6 and 1 to 2 with 42, 300 and 12; STREAM.
        let ack = [0x03, 6, 0, 1, 2, 0, 1, 42, 0x41, 0x2c, 12];
        let payload = [&[0x01][..], &ack, &[0x08, 4, 1, 2]].concat();
        assert_eq!(ect_counts(&payload), [[8..9, 9..11]]);
        assert!(ect_counts(&payload[..9]).is_empty());
        assert!(ect_counts(&[0x02, 6, 0, 0, 2]).is_empty());
    }
}
