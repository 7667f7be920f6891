//! One response after the other.

use std::collections::{BTreeSet, HashMap};

use crate::{Priority, Scheduler, StreamId};

/// Strict order: the most urgent level, and within it the stream that was opened first. A more
/// urgent stream takes over at the next packet. Ignores `incremental` and dependencies.
#[derive(Debug, Default)]
pub struct Sequential {
    open: HashMap<StreamId, Place>,
    ready: BTreeSet<(Place, StreamId)>,
    /// How many streams have been opened.
    opened: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    level: u8,
    arrival: u64,
}

impl Sequential {
    /// Without streams.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Scheduler for Sequential {
    fn open(&mut self, stream: StreamId, priority: &Priority) {
        if self.open.contains_key(&stream) {
            return self.reprioritise(stream, priority);
        }
        self.open.insert(stream, Place { level: priority.level(), arrival: self.opened });
        self.opened += 1;
    }

    fn reprioritise(&mut self, stream: StreamId, priority: &Priority) {
        let Some(place) = self.open.get_mut(&stream) else { return };
        let was_ready = self.ready.remove(&(*place, stream));
        place.level = priority.level();
        if was_ready {
            self.ready.insert((*place, stream));
        }
    }

    fn close(&mut self, stream: StreamId) {
        self.blocked(stream);
        self.open.remove(&stream);
    }

    fn ready(&mut self, stream: StreamId) {
        if let Some(&place) = self.open.get(&stream) {
            self.ready.insert((place, stream));
        }
    }

    fn blocked(&mut self, stream: StreamId) {
        if let Some(&place) = self.open.get(&stream) {
            self.ready.remove(&(place, stream));
        }
    }

    fn next(&mut self) -> Option<StreamId> {
        self.ready.first().map(|&(_, stream)| stream)
    }

    fn sent(&mut self, _stream: StreamId, _bytes: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{open_ready, send, urgency};

    #[test]
    fn first_come_first_served_within_a_level() {
        let mut scheduler = Sequential::new();
        open_ready(&mut scheduler, &[(8, urgency(3)), (4, urgency(3)), (12, urgency(1))]);
        assert_eq!(send(&mut scheduler, 2), [12, 12]);
        scheduler.close(12);
        assert_eq!(send(&mut scheduler, 2), [8, 8]);
        scheduler.blocked(8);
        assert_eq!(send(&mut scheduler, 1), [4]);
        scheduler.ready(8);
        assert_eq!(send(&mut scheduler, 1), [8]);
    }

    #[test]
    fn a_more_urgent_stream_takes_over() {
        let mut scheduler = Sequential::new();
        open_ready(&mut scheduler, &[(0, urgency(3)), (4, urgency(3))]);
        assert_eq!(send(&mut scheduler, 1), [0]);
        scheduler.reprioritise(4, &urgency(2));
        assert_eq!(send(&mut scheduler, 1), [4]);
        scheduler.reprioritise(4, &urgency(3));
        assert_eq!(send(&mut scheduler, 1), [0], "arrival counts as before");
    }
}
