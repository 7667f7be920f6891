//! TCP's view of a QUIC connection: sequence numbers, of which what is sent again has that of what was lost.

use std::collections::{BTreeMap, BTreeSet};

use crate::controller::Acked;

/// Lost packets whose late acknowledgement is still recognised.
const LOST_REMEMBERED: usize = 4096;

/// A packet that is out.
#[derive(Clone, Copy, Debug)]
struct Out {
    sequence: u64,
    bytes: u64,
}

/// What of a connection's packets was delivered, and what has to be sent again.
///
/// QUIC gives every packet a new number and sends lost data in the packets that follow. The first packets
/// after a loss therefore take the places of the lost ones. All counts are of packets, as in Linux.
#[derive(Debug, Default)]
pub(super) struct Scoreboard {
    out: BTreeMap<u64, Out>,
    out_bytes: u64,
    /// Places that nobody has yet (`snd_nxt`).
    next: u64,
    /// Places that were not delivered.
    open: BTreeSet<u64>,
    /// Of these, places that were lost (`lost_out`), and what waits to be sent again.
    lost: BTreeSet<u64>,
    waiting: BTreeSet<u64>,
    /// Places of lost packets by number.
    remembered: BTreeMap<u64, u64>,
}

impl Scoreboard {
    /// Packets in flight.
    pub(super) fn in_flight(&self) -> u64 {
        self.out.len() as u64
    }

    /// The place of the next packet with new data.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The first place that was not delivered (`snd_una`).
    pub(super) fn unacknowledged(&self) -> u64 {
        self.open.first().copied().unwrap_or(self.next)
    }

    /// Whether something that was lost is not delivered yet.
    pub(super) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    pub(super) fn on_sent(&mut self, number: u64, bytes: u64) {
        let sequence = self.waiting.pop_first().unwrap_or(self.next);
        self.next = self.next.max(sequence + 1);
        self.open.insert(sequence);
        self.out.insert(number, Out { sequence, bytes });
        self.out_bytes = self.out_bytes.saturating_add(bytes);
    }

    /// # Returns
    /// How many packets were delivered that had not been.
    pub(super) fn on_ack(&mut self, packets: &[Acked]) -> u64 {
        let delivered = packets.iter().filter(|packet| {
            let out = self.take(packet.number);
            out.is_some_and(|out| self.deliver(out.sequence))
        });
        delivered.count() as u64
    }

    /// # Returns
    /// The places of the packets that were lost.
    pub(super) fn on_loss(&mut self, packets: &[Acked]) -> Vec<u64> {
        let mut places = Vec::new();
        for packet in packets {
            let Some(Out { sequence, .. }) = self.take(packet.number) else { continue };
            if self.open.contains(&sequence) {
                self.lost.insert(sequence);
                self.waiting.insert(sequence);
                places.push(sequence);
            }
            self.remembered.insert(packet.number, sequence);
            if self.remembered.len() > LOST_REMEMBERED {
                self.remembered.pop_first();
            }
        }
        places
    }

    /// Lost packets were delivered after all.
    ///
    /// # Returns
    /// Their places.
    pub(super) fn on_spurious_loss(&mut self, packets: &[Acked]) -> Vec<u64> {
        let mut places = Vec::new();
        for packet in packets {
            if let Some(sequence) = self.remembered.remove(&packet.number) {
                self.deliver(sequence);
                places.push(sequence);
            }
        }
        places
    }

    /// Forgets packets whose keys are gone, of which nobody tells: the oldest, until no more than so many
    /// bytes are out.
    pub(super) fn agree_on(&mut self, in_flight_bytes: u64) {
        while self.out_bytes > in_flight_bytes {
            let Some((&oldest, _)) = self.out.first_key_value() else { break };
            if let Some(out) = self.take(oldest) {
                self.deliver(out.sequence);
            }
        }
    }

    fn take(&mut self, number: u64) -> Option<Out> {
        let out = self.out.remove(&number)?;
        self.out_bytes -= out.bytes;
        Some(out)
    }

    fn deliver(&mut self, sequence: u64) -> bool {
        self.lost.remove(&sequence);
        self.waiting.remove(&sequence);
        self.open.remove(&sequence)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn packets(numbers: &[u64]) -> Vec<Acked> {
        let packet = |&number| Acked { number, bytes: 1000, sent_at: Duration::ZERO };
        numbers.iter().map(packet).collect()
    }

    fn sent(count: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..count).for_each(|number| board.on_sent(number, 1000));
        board
    }

    #[test]
    fn the_first_packet_after_a_loss_takes_its_place() {
        let mut board = sent(5);
        assert_eq!(board.on_ack(&packets(&[0, 2, 3])), 3);
        assert_eq!((board.unacknowledged(), board.in_flight()), (1, 2));
        assert_eq!(board.on_loss(&packets(&[1])), [1]);
        board.on_sent(5, 1000);
        board.on_sent(6, 1000);
        assert_eq!((board.next(), board.has_lost()), (6, true), "one is new, one is not");
        assert_eq!(board.on_ack(&packets(&[4, 6])), 2);
        assert_eq!(board.unacknowledged(), 1);
        board.on_ack(&packets(&[5]));
        assert_eq!((board.unacknowledged(), board.has_lost(), board.in_flight()), (6, false, 0));
    }

    #[test]
    fn what_is_lost_again_waits_again() {
        let mut board = sent(1);
        board.on_loss(&packets(&[0]));
        board.on_sent(1, 1000);
        assert_eq!(board.on_loss(&packets(&[1])), [0]);
        board.on_sent(2, 1000);
        board.on_ack(&packets(&[2]));
        assert_eq!((board.unacknowledged(), board.next()), (1, 1));
    }

    #[test]
    fn what_was_not_lost_need_not_be_sent_again() {
        let mut board = sent(2);
        board.on_loss(&packets(&[0]));
        assert_eq!(board.on_spurious_loss(&packets(&[0])), [0]);
        board.on_sent(2, 1000);
        assert_eq!((board.next(), board.has_lost()), (3, false));
    }

    #[test]
    fn packets_that_nobody_tells_of_are_forgotten() {
        let mut board = sent(3);
        board.agree_on(1000);
        assert_eq!((board.in_flight(), board.unacknowledged()), (1, 2));
    }
}
