//! Sizes of what packets are made of, so that what is handed over for one fills it and no more.

/// An AEAD's tag (RFC 9001 section 5.3).
pub(crate) const TAG: usize = 16;
/// A 1-RTT header of unknown connection ID and packet number at its largest.
pub(crate) const MAX_SHORT_HEADER: usize = 1 + 20 + 4;

/// What quinn-proto leaves for the length of a STREAM frame that does not fill its packet.
pub(crate) const LENGTH: usize = 8;
/// What to leave for an ACK frame without gaps (RFC 9000 section 19.3): type, largest, delay, count
/// and first range take up to 17 bytes, and a STREAM frame before its end has a length of its own.
pub(crate) const LAZY_ACK: usize = 17 + LENGTH;

/// Bytes of a STREAM frame before its data (RFC 9000 section 19.8).
///
/// Without the length, which a packet's last frame can go without.
pub(crate) fn stream_header(stream: u64, offset: u64) -> usize {
    1 + varint_size(stream) + if offset == 0 { 0 } else { varint_size(offset) }
}

/// How much of a stream's data quinn-proto puts into a room for it in one go.
pub(crate) fn piece(queued: u64, room: usize) -> usize {
    let queued = usize::try_from(queued).unwrap_or(usize::MAX);
    if queued < room { queued.min(room - LENGTH) } else { room }
}

/// Bytes of a variable-length integer (RFC 9000 section 16).
pub(crate) fn varint_size(value: u64) -> usize {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

/// Bytes of a packet number (RFC 9000 section 17.1), as quinn-proto chooses them.
pub(crate) fn number_size(number: u64, largest_acked: Option<u64>) -> usize {
    match number.saturating_sub(largest_acked.unwrap_or(0)).saturating_mul(2) {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        0x1_0000..0x100_0000 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nearly_fills_a_room_leaves_some_behind() {
        assert_eq!(
            [91, 92, 93, 99, 100, 101].map(|queued| piece(queued, 100)),
            [91, 92, 92, 92, 100, 100]
        );
    }

    #[test]
    fn numbers_take_what_tells_them_from_those_under_way() {
        assert_eq!([0, 127, 128, 1 << 15].map(|n| number_size(n, None)), [1, 1, 2, 3]);
        assert_eq!(number_size(1000, Some(900)), 1);
        // Nobody can choose these, and neither ends the program.
        assert_eq!((number_size(5, Some(u64::MAX)), number_size(u64::MAX, None)), (1, 4));
    }

    #[test]
    fn a_frame_at_offset_zero_has_no_offset() {
        assert_eq!((stream_header(4, 0), stream_header(4, 1), stream_header(64, 70)), (2, 3, 5));
    }
}
