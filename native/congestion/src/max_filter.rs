//! The largest of recent values.

use std::collections::VecDeque;

/// The maximum over a window of rounds.
#[derive(Debug)]
pub(crate) struct MaxFilter<T> {
    rounds: u64,
    /// Rounds and values, the former rising and the latter falling: a value that is neither newer
    /// nor larger than another can never be the maximum.
    candidates: VecDeque<(u64, T)>,
}

impl<T: Copy + Default + Ord> MaxFilter<T> {
    /// A filter over so many rounds.
    pub(crate) fn new(rounds: u64) -> Self {
        Self { rounds, candidates: VecDeque::new() }
    }

    /// The window has so many rounds from now on.
    pub(crate) fn resize(&mut self, rounds: u64) {
        self.rounds = rounds;
    }

    /// A value was seen in a round, not earlier than any before.
    pub(crate) fn insert(&mut self, round: u64, value: T) {
        while self.candidates.back().is_some_and(|&(_, smaller)| smaller <= value) {
            self.candidates.pop_back();
        }
        self.candidates.push_back((round, value));
        while self.candidates.front().is_some_and(|&(old, _)| old + self.rounds <= round) {
            self.candidates.pop_front();
        }
    }

    /// The maximum, zero if there was none.
    pub(crate) fn get(&self) -> T {
        self.candidates.front().map_or_else(T::default, |&(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::Rate;

    #[test]
    fn the_maximum_lasts_for_the_window() {
        let rate = Rate::from_bytes_per_second;
        let mut filter = MaxFilter::new(10);
        assert_eq!(filter.get(), rate(0));
        filter.insert(0, rate(100));
        filter.insert(3, rate(70));
        filter.insert(5, rate(80));
        filter.insert(9, rate(50));
        assert_eq!(filter.get(), rate(100));
        filter.insert(10, rate(60));
        assert_eq!(filter.get(), rate(80), "70 is older and smaller");
        filter.insert(11, rate(200));
        assert_eq!(filter.get(), rate(200));
    }
}
