use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard};

use headway_trace::frame::{Frame, Frames};

/// What encrypts a packet (RFC 9001 section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Space {
    Initial,
    Handshake,
    ZeroRtt,
    OneRtt,
}

/// A packet in plaintext, without its authentication tag.
#[derive(Debug)]
pub(crate) struct Plaintext {
    header: usize,
    bytes: Box<[u8]>,
}

impl Plaintext {
    fn new(header: &[u8], payload: &[u8]) -> Self {
        Self { header: header.len(), bytes: [header, payload].concat().into() }
    }

    /// The header, packet number included, before header protection.
    pub(crate) fn header(&self) -> &[u8] {
        &self.bytes[..self.header]
    }

    /// The frames.
    pub(crate) fn payload(&self) -> &[u8] {
        &self.bytes[self.header..]
    }
}

/// A packet just before encryption.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) space: Space,
    pub(crate) number: u64,
    /// Size of the header, packet number included.
    pub(crate) header: usize,
    /// Size with header and authentication tag.
    pub(crate) bytes: u64,
    pub(crate) ack_eliciting: bool,
    /// Whether it counts as in flight (RFC 9002 section 2).
    pub(crate) in_flight: bool,
    /// It holds PATH_CHALLENGE.
    pub(crate) path_challenge: bool,
    /// Bytes of streams that were never sent before.
    pub(crate) new_stream_bytes: u64,
    /// The packet itself, if packets are kept.
    pub(crate) plaintext: Option<Plaintext>,
}

/// A packet just after decryption.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) space: Space,
    pub(crate) number: u64,
    /// Size with header and authentication tag.
    pub(crate) bytes: u64,
    /// Packet numbers acknowledged, largest first, and the ACK Delay as sent; for each ACK frame.
    pub(crate) acks: Vec<(Vec<RangeInclusive<u64>>, u64)>,
    /// It held HANDSHAKE_DONE.
    pub(crate) handshake_done: bool,
    /// The packet itself, if packets are kept.
    pub(crate) plaintext: Option<Plaintext>,
}

impl Received {
    /// A packet.
    ///
    /// # Arguments
    /// * `bytes` - size with header and authentication tag.
    /// * `keep` - whether to keep the packet itself.
    pub(super) fn new(
        space: Space,
        number: u64,
        bytes: usize,
        (header, payload): (&[u8], &[u8]),
        keep: bool,
    ) -> Self {
        let mut received = Self {
            space,
            number,
            bytes: bytes as u64,
            acks: Vec::new(),
            handshake_done: false,
            plaintext: keep.then(|| Plaintext::new(header, payload)),
        };
        for frame in Frames::new(payload).map_while(Result::ok) {
            match frame {
                Frame::Ack { ranges, delay_raw, .. } => {
                    received.acks.push((ranges.collect(), delay_raw));
                }
                Frame::HandshakeDone => received.handshake_done = true,
                _ => {}
            }
        }
        received
    }
}

/// Something seen of a connection.
#[derive(Debug)]
pub(crate) enum Observation {
    Sent(Sent),
    Received(Received),
    /// A server's Retry was accepted (RFC 9000 section 17.2.5).
    Retry,
    /// This end's transport parameters, encoded.
    OwnParameters(Vec<u8>),
    /// The peer's, encoded.
    PeerParameters(Vec<u8>),
}

/// What was seen and not yet looked at.
#[derive(Debug, Default)]
pub(crate) struct Log {
    keep_packets: bool,
    observations: Vec<Observation>,
    /// For each stream, where it was sent to.
    sent_to: HashMap<u64, u64>,
}

/// A log that keys of a connection write.
pub(crate) type SharedLog = Arc<Mutex<Log>>;

impl Log {
    /// A log.
    ///
    /// # Arguments
    /// * `keep_packets` - whether observations hold the packets themselves.
    pub(crate) fn shared(keep_packets: bool) -> SharedLog {
        Arc::new(Mutex::new(Self { keep_packets, ..Self::default() }))
    }

    /// The log itself; a program of one thread never waits for it.
    pub(crate) fn of(shared: &SharedLog) -> MutexGuard<'_, Self> {
        shared.lock().expect("no thread panics while it holds the log")
    }

    /// Moves what was seen since the last time to the end of a list.
    pub(crate) fn take(&mut self, into: &mut Vec<Observation>) {
        into.append(&mut self.observations);
    }

    /// Adds what another log saw to the beginning.
    pub(crate) fn precede(&mut self, earlier: &mut Self) {
        self.observations.splice(0..0, earlier.observations.drain(..));
    }

    /// Forgets what was seen.
    pub(crate) fn clear(&mut self) {
        self.observations.clear();
    }

    /// Adds something seen.
    pub(crate) fn push(&mut self, observation: Observation) {
        self.observations.push(observation);
    }

    /// Forgets a stream that is over.
    ///
    /// # Returns
    /// Where it was sent to.
    pub(crate) fn forget_stream(&mut self, stream: u64) -> u64 {
        self.sent_to.remove(&stream).unwrap_or(0)
    }

    /// Forgets all streams.
    pub(crate) fn forget_streams(&mut self) {
        self.sent_to.clear();
    }

    /// A packet is about to be encrypted.
    ///
    /// # Arguments
    /// * `bytes` - size with header and authentication tag.
    pub(super) fn sent(
        &mut self,
        space: Space,
        number: u64,
        bytes: usize,
        (header, payload): (&[u8], &[u8]),
    ) {
        let mut sent = Sent {
            space,
            number,
            header: header.len(),
            bytes: bytes as u64,
            ack_eliciting: false,
            in_flight: false,
            path_challenge: false,
            new_stream_bytes: 0,
            plaintext: self.keep_packets.then(|| Plaintext::new(header, payload)),
        };
        for frame in Frames::new(payload).map_while(Result::ok) {
            sent.ack_eliciting |= frame.is_ack_eliciting();
            match frame {
                Frame::Padding { .. } => sent.in_flight = true,
                Frame::PathChallenge { .. } => sent.path_challenge = true,
                Frame::Stream { id, offset, length, .. } => {
                    sent.new_stream_bytes += self.count_new(id, offset + length);
                }
                _ => {}
            }
        }
        sent.in_flight |= sent.ack_eliciting;
        self.push(Observation::Sent(sent));
    }

    /// A packet was decrypted; the arguments are those of [`Self::sent`].
    pub(super) fn received(
        &mut self,
        space: Space,
        number: u64,
        bytes: usize,
        packet: (&[u8], &[u8]),
    ) {
        let received = Received::new(space, number, bytes, packet, self.keep_packets);
        self.push(Observation::Received(received));
    }

    fn count_new(&mut self, stream: u64, end: u64) -> u64 {
        let sent_to = self.sent_to.entry(stream).or_default();
        let new = end.saturating_sub(*sent_to);
        *sent_to += new;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_bytes_are_new_once() {
        let mut log = Log::default();
        // STREAM with offset and length: id 4, offset 0 or 3, three bytes.
        let first = [0x0e, 4, 0, 3, 1, 2, 3];
        let second = [0x0e, 4, 3, 3, 1, 2, 3];
        for (number, payload) in [&first, &first, &second].into_iter().enumerate() {
            log.sent(Space::OneRtt, number as u64, 40, (&[0; 10], payload));
        }
        let mut seen = Vec::new();
        log.take(&mut seen);
        let new: Vec<u64> = seen
            .iter()
            .map(|observation| match observation {
                Observation::Sent(sent) => sent.new_stream_bytes,
                _ => unreachable!("nothing was received"),
            })
            .collect();
        assert_eq!(new, [3, 0, 3]);
    }

    #[test]
    fn padding_is_in_flight_but_asks_for_no_ack() {
        let mut log = Log::default();
        log.sent(Space::Initial, 0, 30, (&[0; 10], &[0, 0, 0]));
        let mut seen = Vec::new();
        log.take(&mut seen);
        let Observation::Sent(sent) = &seen[0] else { panic!("it was sent") };
        assert!(sent.in_flight && !sent.ack_eliciting);
    }
}
