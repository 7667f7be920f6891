//! What is to be done when, in the course of a workload.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Actions by their time; of those at the same time, the one that was added first comes first.
#[derive(Debug)]
pub(crate) struct Events<T> {
    added: Vec<Option<T>>,
    order: BinaryHeap<Reverse<(u64, usize)>>,
}

impl<T> Default for Events<T> {
    fn default() -> Self {
        Self { added: Vec::new(), order: BinaryHeap::new() }
    }
}

impl<T> Events<T> {
    /// Do something at a time.
    pub(crate) fn add(&mut self, at_ns: u64, action: T) {
        self.order.push(Reverse((at_ns, self.added.len())));
        self.added.push(Some(action));
    }

    /// When the next is, and what.
    pub(crate) fn next(&self) -> Option<(u64, &T)> {
        let Reverse((at_ns, number)) = self.order.peek()?;
        Some((*at_ns, self.added[*number].as_ref()?))
    }

    /// By how much the next is late; 0 if it is not due, or there is none.
    pub(crate) fn late_ns(&self, now_ns: i128) -> u64 {
        let late_ns = self.next().map_or(0, |(at_ns, _)| now_ns - i128::from(at_ns));
        u64::try_from(late_ns).unwrap_or(0)
    }

    /// Take the next if its time has come.
    pub(crate) fn due(&mut self, now_ns: i128) -> Option<T> {
        if i128::from(self.next()?.0) > now_ns {
            return None;
        }
        let Reverse((_, number)) = self.order.pop()?;
        self.added[number].take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_come_by_their_time_then_as_they_were_added() {
        let mut events = Events::default();
        for (at_ns, name) in [(5, "c"), (0, "a"), (0, "b"), (9, "d")] {
            events.add(at_ns, name);
        }
        assert_eq!(events.due(-1), None);
        let due: Vec<_> = std::iter::from_fn(|| events.due(5)).collect();
        assert_eq!(due, ["a", "b", "c"]);
        assert_eq!(events.next(), Some((9, &"d")));
        assert_eq!([-1, 9, 12].map(|now_ns| events.late_ns(now_ns)), [0, 0, 3]);
    }
}
