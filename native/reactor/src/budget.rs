//! Memory that peers make a program keep, and whose is the most.

use std::time::{Duration, Instant};

/// How long after something came it is counted at the latest.
const COUNT_WITHIN: Duration = Duration::from_millis(100);
/// It is counted at once when so much of the smallest limit has come since the last count.
const SHARE: u64 = 16;

/// What all peers together and each of them may make a program keep, in bytes; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// All of them.
    pub of_all: Option<u64>,
    /// Each connection.
    pub of_each: Option<u64>,
}

/// One budget for all that peers make a program keep.
///
/// Between two counts it may be exceeded by a sixteenth of the smallest limit, and what one receive call brings.
#[derive(Debug)]
pub struct Budget {
    memory: Memory,
    /// All that had come when it was counted last, in bytes.
    counted: u64,
    /// When it is counted, if nothing makes it earlier.
    due: Option<Instant>,
}

impl Budget {
    /// A budget of which nothing is taken.
    #[must_use]
    pub fn new(memory: Memory) -> Self {
        Self { memory, counted: 0, due: None }
    }

    /// Whether it is to be counted now what the peers take.
    ///
    /// # Arguments
    /// * `received` - all that has ever come from the peers, in bytes.
    pub fn is_due(&mut self, now: Instant, received: u64) -> bool {
        let Some(smallest) = self.memory.of_all.into_iter().chain(self.memory.of_each).min() else {
            return false;
        };
        let news = received - self.counted;
        let is_due = news > smallest / SHARE || self.due.is_some_and(|at| at <= now);
        if is_due {
            (self.counted, self.due) = (received, None);
        } else if news > 0 {
            self.due = self.due.or(Some(now + COUNT_WITHIN));
        }
        is_due
    }

    /// When [`Self::is_due`] is to be asked at the latest.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.due
    }

    /// The connections that have to end, and why, in words: those above what each may take, and then those that take
    /// the most, until all together take no more than they may.
    ///
    /// # Arguments
    /// * `kept` - of each connection, in bytes.
    pub fn greedy<K>(&self, kept: impl IntoIterator<Item = (K, u64)>) -> Vec<(K, String)> {
        let mut all: Vec<(K, u64)> = kept.into_iter().collect();
        all.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
        let mut total: u64 = all.iter().map(|(_, bytes)| bytes).sum();
        let mut greedy = Vec::new();
        for (key, bytes) in all {
            let Some(reason) = self.excess(bytes, total) else { break };
            total -= bytes;
            greedy.push((key, reason));
        }
        greedy
    }

    /// Why the connection that takes the most has to end.
    fn excess(&self, most: u64, total: u64) -> Option<String> {
        let mb = |bytes: u64| bytes as f64 / 1e6;
        if let Some(limit) = self.memory.of_each.filter(|&limit| most > limit) {
            let (limit, most) = (mb(limit), mb(most));
            return Some(format!(
                "connection-memory={limit}MB: this connection takes {most:.1} MB"
            ));
        }
        let limit = mb(self.memory.of_all.filter(|&limit| total > limit)?);
        let (total, most) = (mb(total), mb(most));
        Some(format!(
            "memory={limit}MB: all connections take {total:.1} MB, and this one {most:.1} MB, the most"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(of_all: Option<u64>, of_each: Option<u64>) -> Budget {
        Budget::new(Memory { of_all, of_each })
    }

    #[test]
    fn those_that_take_the_most_end_until_there_is_room() {
        let kept = [('a', 300_000), ('b', 500_000), ('c', 400_000), ('d', 100_000)];
        assert_eq!(budget(Some(1_300_000), None).greedy(kept), []);
        let [(key, reason)] = &budget(Some(1_000_000), None).greedy(kept)[..] else { panic!() };
        let words = "memory=1MB: all connections take 1.3 MB, and this one 0.5 MB, the most";
        assert_eq!((*key, &reason[..]), ('b', words));
        let names =
            |budget: Budget| budget.greedy(kept).iter().map(|one| one.0).collect::<String>();
        assert_eq!(names(budget(Some(500_000), None)), "bc");
        assert_eq!(names(budget(None, Some(350_000))), "bc");
        assert_eq!(names(budget(Some(350_000), Some(350_000))), "bca");
        assert_eq!(names(budget(None, None)), "");
        let [(_, reason), ..] = &budget(None, Some(450_000)).greedy(kept)[..] else { panic!() };
        assert_eq!(reason, "connection-memory=0.45MB: this connection takes 0.5 MB");
    }

    #[test]
    fn it_is_counted_soon_after_something_came() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let mut budget = budget(Some(32_000), Some(16_000));
        assert!(!budget.is_due(start, 0));
        assert_eq!(budget.deadline(), None, "nothing has come");
        let due = [(10, 1), (50, 2), (109, 3), (110, 3), (200, 3), (1000, 3), (1010, 4)]
            .map(|(at, received)| budget.is_due(start + ms(at), received));
        assert_eq!(due, [false, false, false, true, false, false, false]);
        assert_eq!(budget.deadline(), Some(start + ms(1110)));
    }

    #[test]
    fn it_is_counted_at_once_when_much_came() {
        let start = Instant::now();
        let mut budget = budget(Some(32_000), Some(16_000));
        let due = [1000, 1001, 2001, 2002].map(|received| budget.is_due(start, received));
        assert_eq!(due, [false, true, false, true]);
        assert_eq!(budget.deadline(), None);
        assert!(!Budget::new(Memory::default()).is_due(start, 1 << 40), "there is no limit");
    }
}
