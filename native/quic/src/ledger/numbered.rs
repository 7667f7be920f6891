use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// Things with increasing numbers, few of which are skipped, and most of which go in that order.
#[derive(Debug)]
pub(super) struct Numbered<T> {
    /// Number of the first slot, which is never empty.
    first: u64,
    slots: VecDeque<Option<T>>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { first: 0, slots: VecDeque::new() }
    }
}

impl<T> Numbered<T> {
    /// Adds one with a number larger than all before.
    pub(super) fn insert(&mut self, number: u64, thing: T) {
        if self.slots.is_empty() {
            self.first = number;
        }
        debug_assert!(number >= self.end(), "numbers increase");
        while self.end() < number {
            self.slots.push_back(None);
        }
        self.slots.push_back(Some(thing));
    }

    /// Takes one out.
    pub(super) fn remove(&mut self, number: u64) -> Option<T> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let thing = self.slots.get_mut(index)?.take()?;
        while self.slots.front().is_some_and(Option::is_none) {
            self.slots.pop_front();
            self.first += 1;
        }
        Some(thing)
    }

    /// The first.
    pub(super) fn first(&self) -> Option<(u64, &T)> {
        self.slots.front()?.as_ref().map(|thing| (self.first, thing))
    }

    /// The first number from a number on that is there.
    pub(super) fn next_from(&self, number: u64) -> Option<u64> {
        self.clamp(&(number..=u64::MAX)).find(|&n| self.slots[(n - self.first) as usize].is_some())
    }

    /// The part of a range in which something may be.
    pub(super) fn clamp(&self, range: &RangeInclusive<u64>) -> std::ops::Range<u64> {
        let begin = self.first.max(*range.start());
        begin..self.end().min(range.end().saturating_add(1)).max(begin)
    }

    /// All of them.
    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten()
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
    }

    fn end(&self) -> u64 {
        self.first + self.slots.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_map(steps in proptest::collection::vec((1_u64..4, 0_u64..40, any::<bool>()), 0..200)) {
            let (mut numbered, mut map) = (Numbered::default(), BTreeMap::new());
            let mut number = 0;
            for (skip, back, insert) in steps {
                if insert {
                    number += skip;
                    numbered.insert(number, number);
                    map.insert(number, number);
                } else {
                    let gone = number.saturating_sub(back);
                    prop_assert_eq!(numbered.remove(gone), map.remove(&gone));
                }
                prop_assert_eq!(numbered.first(), map.first_key_value().map(|(&n, v)| (n, v)));
                prop_assert!(numbered.values().eq(map.values()));
                let from = number.saturating_sub(back);
                let next = map.range(from..).next().map(|(&n, _)| n);
                prop_assert_eq!(numbered.next_from(from), next);
                let clamped = numbered.clamp(&(from..=number));
                let inside = map.range(from..=number).all(|(n, _)| clamped.contains(n));
                prop_assert!(inside && clamped.end - clamped.start <= number - from + 1);
            }
        }
    }
}
