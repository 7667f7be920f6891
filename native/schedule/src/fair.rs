//! Sharing by weight: every member's virtual time goes on by the bytes it sent over its weight, and
//! the member that is furthest behind sends next.
//!
//! This is start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996) without packet queues: two
//! members that wait all the time are never further apart than one packet each. A member that comes
//! back after a rest goes on from the present, and so saves up nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::StreamId;

/// A share among others, in 65536ths, so that shares of shares are still told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Weight(u64);

impl Weight {
    const ONE: u64 = 1 << 16;

    /// From 1 to 256 as in RFC 7540 section 5.3.2; others count as the nearest.
    pub(crate) fn new(weight: u16) -> Self {
        Self(u64::from(weight.clamp(1, 256)) * Self::ONE)
    }

    #[cfg(test)]
    pub(crate) fn as_f64(self) -> f64 {
        self.0 as f64 / Self::ONE as f64
    }

    /// This weight's part that goes to a member of `part` among members of `total` together.
    pub(crate) fn portion(self, part: Self, total: u64) -> Self {
        Self((self.0 * part.0 / total).max(1))
    }
}

/// Virtual time: bytes over weight. With 32 more bits below the weight's own, members of whole
/// weights that are exactly even also compare as even.
type VirtualTime = u128;

#[derive(Clone, Debug)]
struct Member {
    weight: Weight,
    /// Virtual time that `bytes` are counted from.
    since: VirtualTime,
    bytes: u64,
    /// The member's own virtual time, which follows from the others.
    time: VirtualTime,
    waiting: bool,
}

impl Member {
    fn new(weight: Weight, time: VirtualTime) -> Self {
        Self { weight, since: time, bytes: 0, time, waiting: false }
    }

    fn charge(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.time = self.since + (u128::from(self.bytes) << 48) / u128::from(self.weight.0);
    }

    fn count_from(&mut self, time: VirtualTime) {
        self.since = time;
        self.bytes = 0;
        self.time = time;
    }
}

/// Members, some of which wait to send. The lower identifier goes first among those that are even.
#[derive(Clone, Debug, Default)]
pub(crate) struct FairQueue {
    members: BTreeMap<StreamId, Member>,
    waiting: BTreeSet<(VirtualTime, StreamId)>,
    /// Virtual time of the waiting member that is furthest behind, or was last.
    now: VirtualTime,
}

impl FairQueue {
    /// Adds a member that does not wait; it starts at the present.
    pub(crate) fn insert(&mut self, stream: StreamId, weight: Weight) {
        self.insert_at(stream, weight, 0);
    }

    /// Adds a member that does not wait; it starts at a time, or at the present if that is later.
    pub(crate) fn insert_at(&mut self, stream: StreamId, weight: Weight, time: VirtualTime) {
        self.members.insert(stream, Member::new(weight, time));
    }

    /// Takes a member out; its weight and time, if there was one.
    pub(crate) fn remove(&mut self, stream: StreamId) -> Option<(Weight, VirtualTime)> {
        let member = self.members.remove(&stream)?;
        self.waiting.remove(&(member.time, stream));
        Some((member.weight, member.time))
    }

    /// The member's share changes from now on.
    pub(crate) fn set_weight(&mut self, stream: StreamId, weight: Weight) {
        if let Some(member) = self.members.get_mut(&stream) {
            member.count_from(member.time);
            member.weight = weight;
        }
    }

    /// The member has something to send.
    pub(crate) fn wake(&mut self, stream: StreamId) {
        self.advance();
        let Some(member) = self.members.get_mut(&stream) else { return };
        if member.waiting {
            return;
        }
        if member.time < self.now {
            member.count_from(self.now);
        }
        member.waiting = true;
        self.waiting.insert((member.time, stream));
    }

    /// The member has nothing to send.
    pub(crate) fn rest(&mut self, stream: StreamId) {
        self.advance();
        let Some(member) = self.members.get_mut(&stream) else { return };
        member.waiting = false;
        self.waiting.remove(&(member.time, stream));
    }

    /// The member sent.
    pub(crate) fn charge(&mut self, stream: StreamId, bytes: u64) {
        if self.members.len() == 1 {
            return; // whoever joins it starts even with it, wherever it is
        }
        let Some(member) = self.members.get_mut(&stream) else { return };
        let before = member.time;
        member.charge(bytes);
        if member.waiting {
            self.waiting.remove(&(before, stream));
            self.waiting.insert((member.time, stream));
        }
        self.advance();
    }

    fn advance(&mut self) {
        if let Some(&(time, _)) = self.waiting.first() {
            self.now = self.now.max(time);
        }
    }

    /// The waiting member that is furthest behind.
    pub(crate) fn first(&self) -> Option<StreamId> {
        self.waiting.first().map(|&(_, stream)| stream)
    }

    /// Whether no member waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) fn contains(&self, stream: StreamId) -> bool {
        self.members.contains_key(&stream)
    }

    /// All members and their weights, by identifier.
    pub(crate) fn members(&self) -> impl Iterator<Item = (StreamId, Weight)> {
        self.members.iter().map(|(&stream, member)| (stream, member.weight))
    }

    /// Of all members, in a [`Weight`]'s unit.
    pub(crate) fn total_weight(&self) -> u64 {
        self.members.values().map(|member| member.weight.0).sum()
    }

    #[cfg(test)]
    pub(crate) fn waiting_count(&self) -> usize {
        self.waiting.len()
    }
}
