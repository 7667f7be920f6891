//! Which packets are out, and what became of them.
//!
//! quinn-proto acknowledges and loses packets by itself and tells only how many; the ledger, which
//! sees every packet number sent and every ACK frame, knows which. It must never disagree:
//! quinn-proto declares lost the lowest-numbered packets below the largest acknowledged one, by
//! packet threshold as by time threshold, so their number is enough to name them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use headway_congestion::{Acked, Time};

use crate::observe::Space;

/// Lost packets that are remembered, per space, so as to notice their late acknowledgment.
const LOST_REMEMBERED: usize = 4096;
/// Initial, Handshake, and Application data, which is 0-RTT and 1-RTT (RFC 9000 section 12.3).
const NUMBER_SPACES: usize = 3;

/// A packet of the ledger.
#[derive(Clone, Copy, Debug)]
struct Entry {
    packet: Acked,
    in_flight: bool,
    ack_eliciting: bool,
    path: u32,
}

/// What an ACK frame brought.
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
}

/// A packet declared lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostPacket {
    /// Its packet number space's keys; 0-RTT counts as 1-RTT.
    pub(crate) space: Space,
    /// Its number within the space.
    pub(crate) number: u64,
    pub(crate) packet: Acked,
    /// On the path in use.
    pub(crate) on_path: bool,
    /// Whether later packets acknowledged, and not time, gave it away (RFC 9002 section 6.1.1).
    pub(crate) by_reordering_threshold: bool,
}

#[derive(Debug, Default)]
struct NumberSpace {
    outstanding: BTreeMap<u64, Entry>,
    lost: BTreeMap<u64, Acked>,
    largest_acked: Option<u64>,
}

/// All packets of a connection that are out.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    spaces: [NumberSpace; NUMBER_SPACES],
    path: u32,
    in_flight: u64,
    next_ordinal: u64,
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

    /// A packet was sent.
    pub(crate) fn sent(
        &mut self,
        space: Space,
        number: u64,
        bytes: u64,
        at: Time,
        in_flight: bool,
        ack_eliciting: bool,
    ) {
        let packet = Acked { number: self.next_ordinal, bytes, sent_at: at };
        self.next_ordinal += 1;
        let entry = Entry { packet, in_flight, ack_eliciting, path: self.path };
        self.spaces[index(space)].outstanding.insert(number, entry);
        if in_flight {
            self.in_flight += bytes;
        }
    }

    /// An ACK frame arrived.
    pub(crate) fn acknowledged(
        &mut self,
        space: Space,
        ranges: &[RangeInclusive<u64>],
    ) -> NewlyAcked {
        let numbers = &mut self.spaces[index(space)];
        let mut newly = NewlyAcked::default();
        let Some(largest) = ranges.first().map(|range| *range.end()) else { return newly };
        let is_new = numbers.largest_acked.is_none_or(|before| before < largest);
        let mut ack_eliciting = false;
        for range in ranges {
            for number in keys_in(&numbers.outstanding, range) {
                let Some(entry) = numbers.outstanding.remove(&number) else { continue };
                ack_eliciting |= entry.ack_eliciting;
                if number == largest && is_new {
                    newly.rtt_sample = Some(entry.packet.sent_at);
                    newly.largest = Some(entry.packet.number);
                }
                if entry.in_flight && entry.path == self.path {
                    self.in_flight -= entry.packet.bytes;
                    newly.packets.push(entry.packet);
                }
            }
            for number in keys_in(&numbers.lost, range) {
                newly.spurious.extend(numbers.lost.remove(&number));
            }
        }
        newly.rtt_sample = newly.rtt_sample.filter(|_| ack_eliciting);
        numbers.largest_acked = numbers.largest_acked.max(Some(largest));
        newly
    }

    /// A number of packets were declared lost; which, follows from the number.
    ///
    /// # Arguments
    /// * `count` - how many.
    /// * `packet_threshold` - quinn-proto's; tells the trigger, and in the spaces of the handshake
    ///   which packets can be meant.
    pub(crate) fn lost(&mut self, count: u64, packet_threshold: u64) -> Vec<LostPacket> {
        let mut lost = Vec::new();
        for space in [Space::OneRtt, Space::Handshake, Space::Initial] {
            while (lost.len() as u64) < count {
                let Some(packet) = self.lose_first(space, packet_threshold) else { break };
                lost.push(packet);
            }
        }
        lost
    }

    fn lose_first(&mut self, space: Space, packet_threshold: u64) -> Option<LostPacket> {
        let numbers = &mut self.spaces[index(space)];
        let largest_acked = numbers.largest_acked?;
        let (&number, _) = numbers.outstanding.range(..largest_acked).next()?;
        let entry = numbers.outstanding.remove(&number)?;
        let on_path = entry.path == self.path;
        if entry.in_flight && on_path {
            self.in_flight -= entry.packet.bytes;
        }
        numbers.lost.insert(number, entry.packet);
        if numbers.lost.len() > LOST_REMEMBERED {
            numbers.lost.pop_first();
        }
        Some(LostPacket {
            space,
            number,
            packet: entry.packet,
            on_path,
            by_reordering_threshold: largest_acked >= number + packet_threshold,
        })
    }

    /// Keys were discarded: what was sent with them no longer counts (RFC 9002 section 6.4).
    pub(crate) fn discard(&mut self, space: Space) {
        let numbers = &mut self.spaces[index(space)];
        let on_path = numbers.outstanding.values().filter(|e| e.in_flight && e.path == self.path);
        self.in_flight -= on_path.map(|entry| entry.packet.bytes).sum::<u64>();
        numbers.outstanding.clear();
        numbers.lost.clear();
    }

    /// The connection uses another path: what is out on the old one no longer counts.
    pub(crate) fn change_path(&mut self) {
        self.path += 1;
        self.in_flight = 0;
    }
}

fn index(space: Space) -> usize {
    match space {
        Space::Initial => 0,
        Space::Handshake => 1,
        Space::ZeroRtt | Space::OneRtt => 2,
    }
}

fn keys_in<V>(map: &BTreeMap<u64, V>, range: &RangeInclusive<u64>) -> BTreeSet<u64> {
    map.range(range.clone()).map(|(&number, _)| number).collect()
}
