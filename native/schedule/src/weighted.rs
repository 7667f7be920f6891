//! All streams at once, by weight.

use crate::fair::{FairQueue, Weight};
use crate::{Priority, Scheduler, StreamId};

/// All ready streams share by weight, whatever they depend on.
///
/// The weight is that of the stream's dependency; without one it follows from urgency, and halves
/// from level to level: 256, 128, 64, 32 (urgency 3, the default), 16, 8, 4, 2.
#[derive(Debug, Default)]
pub struct WeightedRoundRobin {
    queue: FairQueue,
}

impl WeightedRoundRobin {
    /// Without streams.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

fn weight(priority: &Priority) -> Weight {
    let from_urgency = || 256 >> priority.level();
    Weight::new(priority.dependency.map_or_else(from_urgency, |dependency| dependency.weight))
}

impl Scheduler for WeightedRoundRobin {
    fn open(&mut self, stream: StreamId, priority: &Priority) {
        if self.queue.contains(stream) {
            return self.reprioritise(stream, priority);
        }
        self.queue.insert(stream, weight(priority));
    }

    fn reprioritise(&mut self, stream: StreamId, priority: &Priority) {
        self.queue.set_weight(stream, weight(priority));
    }

    fn close(&mut self, stream: StreamId) {
        self.queue.remove(stream);
    }

    fn ready(&mut self, stream: StreamId) {
        self.queue.wake(stream);
    }

    fn blocked(&mut self, stream: StreamId) {
        self.queue.rest(stream);
    }

    fn next(&mut self) -> Option<StreamId> {
        self.queue.first()
    }

    fn sent(&mut self, stream: StreamId, bytes: u64) {
        self.queue.charge(stream, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{on, open_ready, send, urgency};

    #[test]
    fn three_to_one() {
        let mut scheduler = WeightedRoundRobin::new();
        open_ready(&mut scheduler, &[(0, on(None, 3)), (4, on(Some(0), 1))]);
        assert_eq!(send(&mut scheduler, 8), [0, 4, 0, 0, 0, 4, 0, 0]);
    }

    #[test]
    fn urgency_in_place_of_weight() {
        let mut scheduler = WeightedRoundRobin::new();
        open_ready(&mut scheduler, &[(0, urgency(4)), (4, urgency(3))]);
        assert_eq!(send(&mut scheduler, 6), [0, 4, 4, 0, 4, 4]);
    }

    #[test]
    fn a_rest_saves_up_nothing() {
        let mut scheduler = WeightedRoundRobin::new();
        open_ready(&mut scheduler, &[(0, on(None, 1)), (4, on(None, 1))]);
        scheduler.blocked(4);
        assert_eq!(send(&mut scheduler, 3), [0, 0, 0]);
        scheduler.ready(4);
        assert_eq!(send(&mut scheduler, 4), [0, 4, 0, 4]);
    }

    #[test]
    fn weights_are_of_bytes() {
        let mut scheduler = WeightedRoundRobin::new();
        open_ready(&mut scheduler, &[(0, on(None, 1)), (4, on(None, 1))]);
        scheduler.sent(0, 300);
        scheduler.sent(4, 1000);
        for _ in 0..3 {
            assert_eq!(scheduler.next(), Some(0));
            scheduler.sent(0, 300);
        }
        assert_eq!(scheduler.next(), Some(4));
    }

    #[test]
    fn a_new_weight_counts_from_now_on() {
        let mut scheduler = WeightedRoundRobin::new();
        open_ready(&mut scheduler, &[(0, on(None, 1)), (4, on(None, 1))]);
        assert_eq!(send(&mut scheduler, 4), [0, 4, 0, 4]);
        scheduler.reprioritise(4, &on(None, 2));
        assert_eq!(send(&mut scheduler, 6), [0, 4, 4, 0, 4, 4]);
    }
}
