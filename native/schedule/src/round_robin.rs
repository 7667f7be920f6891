//! A batch of packets for each stream in turn.

use std::collections::{BTreeSet, HashSet};
use std::num::NonZeroU32;
use std::ops::Bound::{Excluded, Unbounded};

use crate::{Priority, Scheduler, StreamId};

/// Each ready stream in turn, by ascending identifier and round again, may send a batch of packets;
/// with batches of one this is round robin per packet. Ignores priorities.
///
/// A stream that is blocked within its batch loses the rest of it as soon as another one sends.
#[derive(Debug)]
pub struct RoundRobin {
    batch: NonZeroU32,
    open: HashSet<StreamId>,
    ready: BTreeSet<StreamId>,
    /// The stream that sent last.
    current: Option<StreamId>,
    /// Packets the current stream has sent in a row.
    sent: u32,
}

impl RoundRobin {
    /// With batches of so many packets.
    #[must_use]
    pub fn new(batch: NonZeroU32) -> Self {
        let (open, ready) = (HashSet::new(), BTreeSet::new());
        Self { batch, open, ready, current: None, sent: 0 }
    }

    fn after(&self, stream: StreamId) -> Option<StreamId> {
        let later = self.ready.range((Excluded(stream), Unbounded)).next();
        later.or_else(|| self.ready.first()).copied()
    }
}

impl Scheduler for RoundRobin {
    fn open(&mut self, stream: StreamId, _priority: &Priority) {
        self.open.insert(stream);
    }

    fn reprioritise(&mut self, _stream: StreamId, _priority: &Priority) {}

    fn close(&mut self, stream: StreamId) {
        self.open.remove(&stream);
        self.ready.remove(&stream);
    }

    fn ready(&mut self, stream: StreamId) {
        if self.open.contains(&stream) {
            self.ready.insert(stream);
        }
    }

    fn blocked(&mut self, stream: StreamId) {
        self.ready.remove(&stream);
    }

    fn next(&mut self) -> Option<StreamId> {
        match self.current {
            None => self.ready.first().copied(),
            Some(current) if self.sent < self.batch.get() && self.ready.contains(&current) => {
                Some(current)
            }
            Some(current) => self.after(current),
        }
    }

    fn sent(&mut self, stream: StreamId, _bytes: u64) {
        if self.current != Some(stream) {
            self.current = Some(stream);
            self.sent = 0;
        }
        self.sent = self.sent.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{open_ready, send};

    fn three(batch: u32) -> RoundRobin {
        let mut scheduler = RoundRobin::new(NonZeroU32::new(batch).unwrap());
        open_ready(&mut scheduler, &[0, 4, 8].map(|stream| (stream, Priority::default())));
        scheduler
    }

    #[test]
    fn one_packet_each() {
        let mut scheduler = three(1);
        assert_eq!(send(&mut scheduler, 4), [0, 4, 8, 0]);
        scheduler.blocked(4);
        assert_eq!(send(&mut scheduler, 2), [8, 0]);
        scheduler.ready(4);
        scheduler.close(0);
        assert_eq!(send(&mut scheduler, 3), [4, 8, 4]);
    }

    #[test]
    fn a_newcomer_takes_its_place_in_the_round() {
        let mut scheduler = three(1);
        assert_eq!(send(&mut scheduler, 1), [0]);
        open_ready(&mut scheduler, &[(2, Priority::default())]);
        assert_eq!(send(&mut scheduler, 5), [2, 4, 8, 0, 2]);
    }

    #[test]
    fn batches() {
        let mut scheduler = three(2);
        assert_eq!(send(&mut scheduler, 7), [0, 0, 4, 4, 8, 8, 0]);
        scheduler.blocked(0);
        assert_eq!(send(&mut scheduler, 1), [4]);
        scheduler.ready(0);
        assert_eq!(send(&mut scheduler, 5), [4, 8, 8, 0, 0], "the lost half batch does not return");
    }

    #[test]
    fn a_lone_stream_yields_to_a_second_one_at_once() {
        let mut scheduler = RoundRobin::new(NonZeroU32::new(3).unwrap());
        open_ready(&mut scheduler, &[(4, Priority::default())]);
        assert_eq!(send(&mut scheduler, 4), [4; 4]);
        open_ready(&mut scheduler, &[(8, Priority::default())]);
        assert_eq!(send(&mut scheduler, 4), [8, 8, 8, 4]);
    }
}
