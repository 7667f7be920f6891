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
    /// Bytes of streams that were never sent before.
    pub(crate) new_stream_bytes: u64,
    /// Its frames, if payloads are kept.
    pub(crate) payload: Option<Box<[u8]>>,
}

/// A packet just after decryption.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) space: Space,
    pub(crate) number: u64,
    /// Size with header and authentication tag.
    pub(crate) bytes: u64,
    /// Packet numbers acknowledged, largest first, and the ACK Delay as sent.
    pub(crate) ack: Option<(Vec<RangeInclusive<u64>>, u64)>,
    /// It held HANDSHAKE_DONE.
    pub(crate) handshake_done: bool,
    /// Its frames, if payloads are kept.
    pub(crate) payload: Option<Box<[u8]>>,
}

/// A packet seen.
#[derive(Debug)]
pub(crate) enum Observation {
    Sent(Sent),
    Received(Received),
}

/// What was seen and not yet looked at.
#[derive(Debug, Default)]
pub(crate) struct Log {
    keep_payloads: bool,
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
    /// * `keep_payloads` - whether observations hold their packets' frames.
    pub(crate) fn shared(keep_payloads: bool) -> SharedLog {
        Arc::new(Mutex::new(Self { keep_payloads, ..Self::default() }))
    }

    /// The log itself; a program of one thread never waits for it.
    pub(crate) fn of(shared: &SharedLog) -> MutexGuard<'_, Self> {
        shared.lock().expect("no thread panics while it holds the log")
    }

    /// Moves what was seen since the last time to the end of a list.
    pub(crate) fn take(&mut self, into: &mut Vec<Observation>) {
        into.append(&mut self.observations);
    }

    /// Forgets a stream that is over.
    pub(crate) fn forget_stream(&mut self, stream: u64) {
        self.sent_to.remove(&stream);
    }

    pub(super) fn sent(
        &mut self,
        space: Space,
        number: u64,
        header: usize,
        bytes: usize,
        payload: &[u8],
    ) {
        let mut sent = Sent {
            space,
            number,
            header,
            bytes: bytes as u64,
            ack_eliciting: false,
            in_flight: false,
            new_stream_bytes: 0,
            payload: self.keep_payloads.then(|| payload.into()),
        };
        for frame in Frames::new(payload).map_while(Result::ok) {
            sent.ack_eliciting |= frame.is_ack_eliciting();
            sent.in_flight |= matches!(frame, Frame::Padding { .. });
            if let Frame::Stream { id, offset, length, .. } = frame {
                sent.new_stream_bytes += self.count_new(id, offset + length);
            }
        }
        sent.in_flight |= sent.ack_eliciting;
        self.observations.push(Observation::Sent(sent));
    }

    pub(super) fn received(&mut self, space: Space, number: u64, bytes: usize, payload: &[u8]) {
        let mut received = Received {
            space,
            number,
            bytes: bytes as u64,
            ack: None,
            handshake_done: false,
            payload: self.keep_payloads.then(|| payload.into()),
        };
        for frame in Frames::new(payload).map_while(Result::ok) {
            match frame {
                Frame::Ack { ranges, delay_raw, .. } => {
                    received.ack = Some((ranges.collect(), delay_raw));
                }
                Frame::HandshakeDone => received.handshake_done = true,
                _ => {}
            }
        }
        self.observations.push(Observation::Received(received));
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
            log.sent(Space::OneRtt, number as u64, 10, 40, payload);
        }
        let mut seen = Vec::new();
        log.take(&mut seen);
        let new: Vec<u64> = seen
            .iter()
            .map(|observation| match observation {
                Observation::Sent(sent) => sent.new_stream_bytes,
                Observation::Received(_) => unreachable!("nothing was received"),
            })
            .collect();
        assert_eq!(new, [3, 0, 3]);
    }

    #[test]
    fn padding_is_in_flight_but_asks_for_no_ack() {
        let mut log = Log::default();
        log.sent(Space::Initial, 0, 10, 30, &[0, 0, 0]);
        let mut seen = Vec::new();
        log.take(&mut seen);
        let Observation::Sent(sent) = &seen[0] else { panic!("it was sent") };
        assert!(sent.in_flight && !sent.ack_eliciting);
    }
}
