use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard};

use headway_trace::frame::{Frame, Frames};

use super::backlog::Backlog;
use super::left_over::LeftOver;

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
    ack_eliciting: bool,
    /// Packet numbers acknowledged, largest first, and the ACK Delay as sent; for each ACK frame.
    pub(crate) acks: Vec<(Vec<RangeInclusive<u64>>, u64)>,
    /// The most CE marks that an ACK frame reports (RFC 9000 section 19.3.2).
    pub(crate) marked: u64,
    /// It held HANDSHAKE_DONE.
    pub(crate) handshake_done: bool,
    /// It held ACK_FREQUENCY.
    asks_for_fewer_acks: bool,
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
            ack_eliciting: false,
            acks: Vec::new(),
            marked: 0,
            handshake_done: false,
            asks_for_fewer_acks: false,
            plaintext: keep.then(|| Plaintext::new(header, payload)),
        };
        for frame in Frames::new(payload).map_while(Result::ok) {
            received.ack_eliciting |= frame.is_ack_eliciting();
            match frame {
                Frame::Ack { ranges, delay_raw, ecn, .. } => {
                    received.acks.push((ranges.collect(), delay_raw));
                    received.marked = received.marked.max(ecn.map_or(0, |counts| counts.ce));
                }
                Frame::HandshakeDone => received.handshake_done = true,
                Frame::AckFrequency { .. } => received.asks_for_fewer_acks = true,
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
    /// Whether packets are sent with ECT(1) where quinn-proto says ECT(0).
    pub(super) swaps_ect: bool,
    observations: Vec<Observation>,
    /// Data of streams that was handed over.
    pub(crate) backlog: Backlog,
    /// 1-RTT packets received since an ACK frame was sent that elicit none.
    quiet: u64,
    /// The peer asked for fewer acknowledgments (ACK_FREQUENCY), and got none since.
    owes_first_ack: bool,
    /// What quinn-proto keeps of streams because too much of them is unread, in bytes.
    pub(crate) left_over: LeftOver,
}

/// Packets that elicit no acknowledgment after which quinn-proto adds an ACK frame to the next packet
/// of its own accord.
const LAZY_ACK_THRESHOLD: u64 = 10;

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

    /// A connection's log.
    ///
    /// # Arguments
    /// * `keep_packets` - as of [`Self::shared`].
    /// * `swaps_ect` - whether its packets are sent with ECT(1) where quinn-proto says ECT(0).
    pub(crate) fn of_connection(keep_packets: bool, swaps_ect: bool) -> SharedLog {
        Arc::new(Mutex::new(Self { keep_packets, swaps_ect, ..Self::default() }))
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

    /// Whether the peer asked for fewer acknowledgments and got none since.
    pub(crate) fn owes_first_ack(&self) -> bool {
        self.owes_first_ack
    }

    /// Whether quinn-proto will add an ACK frame to the next packet though none is due.
    pub(crate) fn expects_lazy_ack(&self) -> bool {
        self.quiet > LAZY_ACK_THRESHOLD
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
            plaintext: self.keep_packets.then(|| Plaintext::new(header, payload)),
        };
        for frame in Frames::new(payload).map_while(Result::ok) {
            sent.ack_eliciting |= frame.is_ack_eliciting();
            match frame {
                Frame::Padding { .. } => sent.in_flight = true,
                Frame::PathChallenge { .. } => sent.path_challenge = true,
                Frame::Ack { .. } if space == Space::OneRtt => {
                    self.quiet = 0;
                    self.owes_first_ack = false;
                }
                Frame::Stream { id, offset, length, .. } => {
                    self.backlog.send(id, offset + length);
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
        self.left_over.receive(packet.1);
        let received = Received::new(space, number, bytes, packet, self.keep_packets);
        self.quiet += u64::from(space == Space::OneRtt && !received.ack_eliciting);
        self.owes_first_ack |= received.asks_for_fewer_acks;
        self.push(Observation::Received(received));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_frames_work_the_backlog_off() {
        let mut log = Log::default();
        log.backlog.hand_over(4, 5);
        // STREAM with offset and length: id 4, offset 0, three bytes; twice.
        for number in 0..2 {
            log.sent(Space::OneRtt, number, 40, (&[0; 10], &[0x0e, 4, 0, 3, 1, 2, 3]));
        }
        assert_eq!(log.backlog.unsent(), 2);
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
