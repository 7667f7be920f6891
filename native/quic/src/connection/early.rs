//! Packets that come before there are keys for them (RFC 9001, section 5.7).

use std::collections::VecDeque;

use quinn_proto::ConnectionEvent;

/// As many datagrams are kept at most, and as many bytes if they are larger than the path is taken to let through;
/// a client sends no more than its first window before the handshake is over.
const MOST: usize = 32;

/// What a datagram's first packet is (RFC 9000, section 17), as far as keys are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstPacket {
    /// Of those that everybody can read, or of 0-RTT.
    Initial,
    Handshake,
    OneRtt,
}

impl FirstPacket {
    pub(crate) fn of(datagram: &[u8]) -> Self {
        const LONG_HEADER: u8 = 0x80;
        const TYPE: u8 = 0x30;
        const HANDSHAKE: u8 = 0x20;
        match datagram.first() {
            Some(first) if first & LONG_HEADER == 0 => Self::OneRtt,
            Some(first) if first & TYPE == HANDSHAKE => Self::Handshake,
            _ => Self::Initial,
        }
    }
}

/// What came to a server ahead of the client's Finished, which was lost or overtaken.
///
/// quinn-proto throws it away, and the client would wait for its own probe timeout to send the request again.
#[derive(Default)]
pub(super) struct Early {
    datagrams: VecDeque<ConnectionEvent>,
    bytes: usize,
}

impl Early {
    /// # Arguments
    /// * `size` - of the datagram.
    /// * `usual` - the size that datagrams of the path have.
    pub(super) fn hold(&mut self, datagram: ConnectionEvent, size: usize, usual: usize) {
        if self.datagrams.len() < MOST && self.bytes + size <= MOST * usual {
            self.bytes += size;
            self.datagrams.push_back(datagram);
        }
    }

    /// Memory that they take, in bytes.
    pub(super) fn kept(&self) -> u64 {
        self.bytes as u64
    }

    /// The next one, when the handshake is complete.
    pub(super) fn next(&mut self) -> Option<ConnectionEvent> {
        self.bytes = 0;
        self.datagrams.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::FirstPacket::{self, Handshake, Initial, OneRtt};

    #[test]
    fn packets_are_told_by_their_first_byte() {
        let kinds = [0xc3, 0xd0, 0xe1, 0xf0, 0x41, 0x00].map(|first| FirstPacket::of(&[first]));
        assert_eq!(kinds, [Initial, Initial, Handshake, Initial, OneRtt, OneRtt]);
        assert_eq!(FirstPacket::of(&[]), Initial);
    }
}
