//! The protocol of draft-banks-quic-performance: on a stream of its own, the client writes how many
//! bytes it wants, then whatever it has to send, and ends; the server sends that many bytes and
//! ends. Over TCP, a connection is the stream.
//!
//! The draft leaves open whether the server waits for the client's end before it answers. This one
//! does not wait, but ends its answer after the client's end.

use bytes::{Bytes, BytesMut};

use crate::channel::Channel;
use crate::failure::Failure;

/// The protocol's name for ALPN (RFC 7301).
pub(crate) const ALPN: &[u8] = b"perf";
/// Asks for an answer without end.
pub(crate) const UNLIMITED: u64 = u64::MAX;
/// Bytes of a request: a number in network byte order.
pub(crate) const REQUEST_BYTES: usize = 8;

/// What all data consist of.
static BLOCK: [u8; 64 << 10] = [0; 64 << 10];

/// A request for a number of bytes.
pub(crate) fn request(bytes: u64) -> Bytes {
    Bytes::copy_from_slice(&bytes.to_be_bytes())
}

/// A request on its way in.
#[derive(Debug, Default)]
pub(crate) struct RequestReader {
    read: BytesMut,
}

impl RequestReader {
    /// Takes the request's bytes off the front of data.
    ///
    /// # Returns
    /// The number of bytes wanted, if the request is complete.
    pub(crate) fn take(&mut self, data: &mut Bytes) -> Option<u64> {
        let missing = REQUEST_BYTES - self.read.len();
        self.read.extend_from_slice(&data.split_to(missing.min(data.len())));
        Some(u64::from_be_bytes(self.read[..].try_into().ok()?))
    }
}

/// Data that remain to be sent.
#[derive(Debug)]
pub(crate) struct Supply {
    /// `UNLIMITED` never becomes less.
    left: u64,
}

impl Supply {
    /// So many bytes, or [`UNLIMITED`].
    pub(crate) fn of(bytes: u64) -> Self {
        Self { left: bytes }
    }

    /// Whether it has no end but [`Supply::stop`].
    pub(crate) fn is_unlimited(&self) -> bool {
        self.left == UNLIMITED
    }

    /// Whether nothing is left.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left == 0
    }

    /// Nothing more is sent.
    pub(crate) fn stop(&mut self) {
        self.left = 0;
    }

    /// Writes as much as there is room for.
    ///
    /// # Returns
    /// How many bytes.
    pub(crate) fn pour(&mut self, channel: &mut dyn Channel) -> Result<u64, Failure> {
        let mut poured = 0;
        while !self.is_exhausted() {
            let piece = self.left.min(channel.room() as u64).min(BLOCK.len() as u64);
            if piece == 0 {
                break;
            }
            // At most the block's length, which is a usize.
            channel.write(Bytes::from_static(&BLOCK[..piece as usize]))?;
            if !self.is_unlimited() {
                self.left -= piece;
            }
            poured += piece;
        }
        Ok(poured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::testing::Sink;

    #[test]
    fn a_request_is_read_back_however_it_is_cut() {
        let sent = [&request(0x0102_0304_0506_0708)[..], b"upload"].concat();
        assert_eq!(sent[..2], [1, 2]);
        for cut in 0..=sent.len() {
            let mut reader = RequestReader::default();
            let (mut first, mut second) =
                (Bytes::copy_from_slice(&sent[..cut]), Bytes::copy_from_slice(&sent[cut..]));
            let wanted = reader.take(&mut first).or_else(|| reader.take(&mut second));
            assert_eq!(wanted, Some(0x0102_0304_0506_0708));
            assert_eq!([first, second].concat(), b"upload");
        }
    }

    #[test]
    fn a_supply_fills_the_room_and_ends() {
        let mut sink = Sink::with_room(100_000);
        let mut supply = Supply::of(150_000);
        assert_eq!(supply.pour(&mut sink).unwrap(), 100_000);
        assert!(!supply.is_exhausted());
        sink.room = 100_000;
        assert_eq!(supply.pour(&mut sink).unwrap(), 50_000);
        assert!(supply.is_exhausted());
        assert_eq!(sink.written, 150_000);
    }

    #[test]
    fn a_supply_without_end_ends_when_it_is_stopped() {
        let mut sink = Sink::with_room(1_000_000);
        let mut supply = Supply::of(UNLIMITED);
        assert_eq!(supply.pour(&mut sink).unwrap(), 1_000_000);
        assert!(supply.is_unlimited() && !supply.is_exhausted());
        supply.stop();
        assert!(supply.is_exhausted());
    }
}
