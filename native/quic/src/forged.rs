//! What nobody authenticates and no client sends: a packet that looks like a Retry, in a datagram to a server.
//!
//! A few bits that a path flips, or a stranger who knows the connection's ID, make one of a Handshake packet. RFC
//! 9000, section 17.2.5, has servers discard it. quinn-proto closes the connection with `PROTOCOL_VIOLATION`.

use bytes::BytesMut;

const LONG_HEADER: u8 = 0x80;
const RETRY: u8 = 3;
const INITIAL: u8 = 0;
const VERSION_BYTES: usize = 4;

/// Takes what looks like a Retry off a datagram, with all behind it, since a Retry has no length; whether anything
/// is left.
pub(crate) fn without_retry(datagram: &mut BytesMut) -> bool {
    if let Some(place) = retry_begins(datagram) {
        datagram.truncate(place);
    }
    !datagram.is_empty()
}

/// Where a packet begins that looks like a Retry.
fn retry_begins(datagram: &[u8]) -> Option<usize> {
    let mut reader = Reader(datagram);
    loop {
        let place = datagram.len() - reader.0.len();
        let first = reader.byte()?;
        if first & LONG_HEADER == 0 {
            return None;
        }
        let kind = first >> 4 & 3;
        if kind == RETRY {
            return Some(place);
        }
        reader.skip(VERSION_BYTES)?;
        for _ in ["destination", "source"] {
            let length = usize::from(reader.byte()?);
            reader.skip(length)?;
        }
        if kind == INITIAL {
            let token = reader.integer()?;
            reader.skip(token)?;
        }
        let length = reader.integer()?;
        reader.skip(length)?;
    }
}

/// Reads headers of packets (RFC 9000, section 17.2).
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.0 = self.0.get(count..)?;
        Some(())
    }

    /// An integer of variable length (RFC 9000, section 16).
    fn integer(&mut self) -> Option<usize> {
        let first = self.byte()?;
        let mut value = u64::from(first & 0x3f);
        for _ in 1..1 << (first >> 6) {
            value = value << 8 | u64::from(self.byte()?);
        }
        usize::try_from(value).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet with a long header of a type, with 20 bytes behind its length.
    fn packet(kind: u8) -> Vec<u8> {
        let mut bytes = vec![0xc0 | kind << 4, 0, 0, 0, 1, 4, 1, 2, 3, 4, 2, 5, 6];
        if kind == INITIAL {
            bytes.extend([0x40, 3, 7, 8, 9]);
        }
        bytes.push(20);
        bytes.extend([0xff; 20]);
        bytes
    }

    fn left(packets: &[Vec<u8>]) -> usize {
        let mut datagram = BytesMut::from(&packets.concat()[..]);
        let any = without_retry(&mut datagram);
        assert_eq!(any, !datagram.is_empty());
        datagram.len()
    }

    #[test]
    fn a_retry_is_taken_off_wherever_it_begins() {
        let (initial, handshake, retry) = (packet(INITIAL), packet(2), packet(RETRY));
        assert_eq!(left(&[retry.clone()]), 0);
        assert_eq!(left(&[initial.clone(), retry.clone(), handshake.clone()]), initial.len());
        assert_eq!(left(&[handshake.clone(), retry]), handshake.len());
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        let (initial, early, handshake) = (packet(INITIAL), packet(1), packet(2));
        let short = vec![0x40, 1, 2, 3, 4, 0xf0, 0xf0];
        for packets in [
            vec![initial.clone()],
            vec![initial.clone(), handshake.clone(), short.clone()],
            vec![early, short.clone()],
            vec![short],
            vec![handshake[..12].to_vec()],
            vec![vec![0xc0]],
        ] {
            assert_eq!(left(&packets), packets.concat().len());
        }
    }
}
