//! Which packets are out, and what became of them.
//!
//! quinn-proto acknowledges and loses packets by itself and tells only how many; the ledger, which
//! sees every packet number sent and every ACK frame, knows which. It must never disagree. In a
//! packet number space quinn-proto declares lost the first packets below the largest acknowledged
//! one, by packet threshold as by time threshold: so their number is enough to name them.

mod numbered;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use headway_congestion::{Acked, Time};

use crate::observe::{Sent, Space};
use numbered::Numbered;

/// Lost packets that are remembered, per space, so as to notice their late acknowledgment.
const LOST_REMEMBERED: usize = 4096;
/// Initial, Handshake, and Application data, which is 0-RTT and 1-RTT (RFC 9000 section 12.3).
const NUMBER_SPACES: usize = 3;
/// Packets without frames that elicit acknowledgments that quinn-proto remembers beyond the last
/// one with such frames: nobody need ever acknowledge them.
const TAIL_REMEMBERED: u64 = 1001;

/// A packet of the ledger.
#[derive(Clone, Copy, Debug)]
struct Entry {
    packet: Acked,
    space: Space,
    in_flight: bool,
    ack_eliciting: bool,
    path: u32,
}

/// What acknowledgments brought.
#[derive(Debug, Default)]
pub(crate) struct NewlyAcked {
    /// Packets in flight on the present path.
    pub(crate) packets: Vec<Acked>,
    /// Packets declared lost before.
    pub(crate) spurious: Vec<Acked>,
    /// When the largest packet acknowledged was sent, if it was not acknowledged before and this
    /// gives a sample of the round-trip time (RFC 9002 section 5.1).
    pub(crate) rtt_sample: Option<Time>,
    /// The ordinal of that packet.
    pub(crate) largest: Option<u64>,
    /// Spaces in which packets were acknowledged for the first time.
    spaces: [bool; NUMBER_SPACES],
}

impl NewlyAcked {
    pub(crate) fn clear(&mut self) {
        self.packets.clear();
        self.spurious.clear();
        self.rtt_sample = None;
        self.largest = None;
        self.spaces = Default::default();
    }
}

/// A packet declared lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostPacket {
    /// Its keys.
    pub(crate) space: Space,
    /// Its number within its space.
    pub(crate) number: u64,
    pub(crate) packet: Acked,
    /// In flight on the path in use.
    pub(crate) on_path: bool,
    /// Whether later packets acknowledged, and not time, gave it away (RFC 9002 section 6.1.1).
    pub(crate) by_reordering_threshold: bool,
}

#[derive(Debug, Default)]
struct NumberSpace {
    outstanding: Numbered<Entry>,
    lost: BTreeMap<u64, Acked>,
    largest_acked: Option<u64>,
    largest_sent: Option<u64>,
    /// The last packet that elicits an acknowledgment.
    last_eliciting: u64,
    /// Packets out since then.
    tail: u64,
}

impl NumberSpace {
    fn insert(&mut self, number: u64, entry: Entry) -> Option<Entry> {
        let mut forgotten = None;
        if entry.ack_eliciting {
            self.tail = 0;
            self.last_eliciting = number;
        } else if self.tail >= TAIL_REMEMBERED {
            let oldest = self.outstanding.next_from(self.last_eliciting + 1);
            forgotten = oldest.and_then(|oldest| self.outstanding.remove(oldest));
        } else {
            self.tail += 1;
        }
        self.outstanding.insert(number, entry);
        self.largest_sent = Some(number);
        forgotten
    }

    fn remove(&mut self, number: u64) -> Option<Entry> {
        let entry = self.outstanding.remove(number)?;
        if !entry.ack_eliciting && number > self.last_eliciting {
            self.tail -= 1;
        }
        Some(entry)
    }

    /// The first packet that can be lost: one below the largest acknowledged.
    fn first_below_acked(&self) -> Option<(u64, &Entry)> {
        let (number, entry) = self.outstanding.first()?;
        (number < self.largest_acked?).then_some((number, entry))
    }

    fn is_beyond_threshold(&self, number: u64, packet_threshold: u64) -> bool {
        self.largest_acked.is_some_and(|largest| largest >= number.saturating_add(packet_threshold))
    }

    fn remember_lost(&mut self, number: u64, packet: Acked) {
        self.lost.insert(number, packet);
        if self.lost.len() > LOST_REMEMBERED {
            self.lost.pop_first();
        }
    }
}

/// All packets of a connection that are out.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    spaces: [NumberSpace; NUMBER_SPACES],
    path: u32,
    in_flight: u64,
    next_ordinal: u64,
    /// The last packet that tried whether the path takes its size; there is one at a time.
    mtu_probe: Option<u64>,
}

impl Ledger {
    /// Bytes in flight on the present path.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// The ordinal of the packet sent last, over all spaces.
    pub(crate) fn largest_sent(&self) -> u64 {
        self.next_ordinal.saturating_sub(1)
    }

    /// The ordinal that the next packet will have.
    pub(crate) fn next_ordinal(&self) -> u64 {
        self.next_ordinal
    }

    /// The largest packet number acknowledged in a space.
    pub(crate) fn largest_acked(&self, space: Space) -> Option<u64> {
        self.spaces[index(space)].largest_acked
    }

    /// The packet number sent last in a space.
    pub(crate) fn last_sent(&self, space: Space) -> Option<u64> {
        self.spaces[index(space)].largest_sent
    }

    /// A packet was sent.
    pub(crate) fn sent(&mut self, at: Time, sent: &Sent) {
        let packet = Acked { number: self.next_ordinal, bytes: sent.bytes, sent_at: at };
        self.next_ordinal += 1;
        let Sent { space, number, in_flight, ack_eliciting, .. } = *sent;
        let entry = Entry { packet, space, in_flight, ack_eliciting, path: self.path };
        if in_flight {
            self.in_flight += sent.bytes;
        }
        if let Some(forgotten) = self.spaces[index(space)].insert(number, entry) {
            self.land(&forgotten);
        }
    }

    /// The 1-RTT packet of this number tries the path's MTU.
    pub(crate) fn was_mtu_probe(&mut self, number: u64) {
        self.mtu_probe = Some(number);
    }

    /// The path did not take the packet that tried its MTU. quinn-proto does not count it among the lost.
    pub(crate) fn lose_mtu_probe(&mut self) {
        let numbers = &mut self.spaces[index(Space::OneRtt)];
        if let Some(entry) = self.mtu_probe.take().and_then(|number| numbers.remove(number)) {
            self.land(&entry);
        }
    }

    /// An ACK frame arrived.
    pub(crate) fn acknowledged(
        &mut self,
        space: Space,
        ranges: &[RangeInclusive<u64>],
        newly: &mut NewlyAcked,
    ) {
        let place = index(space);
        let Some(largest) = ranges.first().map(|range| *range.end()) else { return };
        // quinn-proto ends the connection (RFC 9000 section 13.1); until then it counts for nothing.
        if self.spaces[place].largest_sent < Some(largest) {
            return;
        }
        let is_new = self.spaces[place].largest_acked.is_none_or(|before| before < largest);
        let mut ack_eliciting = false;
        let mut largest_sent_at = None;
        for range in ranges {
            for number in self.spaces[place].outstanding.clamp(range) {
                let Some(entry) = self.spaces[place].remove(number) else { continue };
                newly.spaces[place] = true;
                ack_eliciting |= entry.ack_eliciting;
                if number == largest && is_new {
                    // RFC 9000 section 9.4: packets of an old path say nothing about this one.
                    let on_path = entry.path == self.path;
                    largest_sent_at = on_path.then_some(entry.packet.sent_at);
                    newly.largest = newly.largest.max(Some(entry.packet.number));
                }
                if self.land(&entry) {
                    newly.packets.push(entry.packet);
                }
            }
            let lost = &mut self.spaces[place].lost;
            while let Some((&number, _)) = lost.range(range.clone()).next() {
                newly.spurious.extend(lost.remove(&number));
            }
        }
        if ack_eliciting {
            newly.rtt_sample = largest_sent_at;
        }
        self.spaces[place].largest_acked = self.spaces[place].largest_acked.max(Some(largest));
    }

    /// A number of packets were declared lost; which, follows from the number.
    ///
    /// Losses are declared in a space when packets of it are acknowledged for the first time, or
    /// when a timer fires for the oldest packet of all.
    ///
    /// # Arguments
    /// * `count` - how many.
    /// * `packet_threshold` - quinn-proto's.
    /// * `newly` - what was acknowledged just before.
    pub(crate) fn lost(
        &mut self,
        count: u64,
        packet_threshold: u64,
        newly: &NewlyAcked,
    ) -> Vec<LostPacket> {
        let by_timer = newly.spaces == [false; NUMBER_SPACES];
        let mut lost = Vec::new();
        while (lost.len() as u64) < count {
            let next = (0..NUMBER_SPACES)
                .filter(|&place| by_timer || newly.spaces[place])
                .filter_map(|place| {
                    let (number, entry) = self.spaces[place].first_below_acked()?;
                    let beyond = self.spaces[place].is_beyond_threshold(number, packet_threshold);
                    // Those beyond the packet threshold are lost in any case, others by age.
                    Some((!beyond, entry.packet.sent_at, place, number))
                })
                .min();
            let Some((by_time, _, place, number)) = next else { break };
            lost.extend(self.lose(place, number, !by_time));
        }
        debug_assert_eq!(lost.len() as u64, count, "the ledger knows all that can be lost");
        lost
    }

    fn lose(
        &mut self,
        place: usize,
        number: u64,
        by_reordering_threshold: bool,
    ) -> Option<LostPacket> {
        let entry = self.spaces[place].remove(number)?;
        let Entry { packet, space, .. } = entry;
        let on_path = self.land(&entry);
        self.spaces[place].remember_lost(number, packet);
        Some(LostPacket { space, number, packet, on_path, by_reordering_threshold })
    }

    /// Keys were discarded: what was sent with them no longer counts (RFC 9002 section 6.4).
    pub(crate) fn discard(&mut self, space: Space) {
        let numbers = &mut self.spaces[index(space)];
        let on_path = numbers.outstanding.values().filter(|e| e.in_flight && e.path == self.path);
        self.in_flight -= on_path.map(|entry| entry.packet.bytes).sum::<u64>();
        numbers.outstanding.clear();
        numbers.lost.clear();
        numbers.tail = 0;
    }

    /// The connection uses another path: what is out on the old one no longer counts.
    pub(crate) fn change_path(&mut self) {
        self.path += 1;
        self.in_flight = 0;
    }

    /// A packet is no longer out.
    ///
    /// # Returns
    /// Whether it was in flight on the present path.
    fn land(&mut self, entry: &Entry) -> bool {
        let on_path = entry.in_flight && entry.path == self.path;
        if on_path {
            self.in_flight -= entry.packet.bytes;
        }
        on_path
    }
}

fn index(space: Space) -> usize {
    match space {
        Space::Initial => 0,
        Space::Handshake => 1,
        Space::ZeroRtt | Space::OneRtt => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgment_of_what_was_never_sent_counts_for_nothing() {
        let mut ledger = Ledger::default();
        let packet = |number| Sent {
            space: Space::OneRtt,
            number,
            header: 10,
            bytes: 1200,
            ack_eliciting: true,
            in_flight: true,
            path_challenge: false,
            plaintext: None,
        };
        for number in 0..3 {
            ledger.sent(Time::from_millis(number), &packet(number));
        }
        let mut newly = NewlyAcked::default();
        for false_ranges in [[0..=3], [2..=u64::MAX]] {
            ledger.acknowledged(Space::OneRtt, &false_ranges, &mut newly);
        }
        assert_eq!((newly.packets.len(), ledger.in_flight()), (0, 3600));
        assert_eq!(ledger.largest_acked(Space::OneRtt), None);
        ledger.acknowledged(Space::OneRtt, &[1..=2], &mut newly);
        assert_eq!((newly.packets.len(), ledger.in_flight()), (2, 1200));
    }
}
