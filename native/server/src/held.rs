//! What responses under way take of memory, and whose are the most.

use std::collections::BTreeMap;

/// What a response takes from its request to its end, beside what its peer chose: 1.3 kB over HTTP/2 and
/// 3.4 kB over HTTP/3, measured, and something to spare.
pub(crate) const RESPONSE_BYTES: u64 = 4000;

/// Counts against `response-memory`, by the connections' numbers.
#[derive(Debug, Default)]
pub(crate) struct Held {
    limit: Option<u64>,
    total: u64,
    each: BTreeMap<u64, u64>,
}

impl Held {
    /// # Arguments
    /// * `limit` - in bytes; without one nothing is counted.
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Self { limit, ..Self::default() }
    }

    /// A response begins.
    pub(crate) fn add(&mut self, connection: u64, bytes: u64) {
        if self.limit.is_some() {
            self.total += bytes;
            *self.each.entry(connection).or_default() += bytes;
        }
    }

    /// A response is over.
    pub(crate) fn remove(&mut self, connection: u64, bytes: u64) {
        if let Some(held) = self.each.get_mut(&connection) {
            let bytes = bytes.min(*held);
            *held -= bytes;
            self.total -= bytes;
        }
    }

    /// A connection is over.
    pub(crate) fn forget(&mut self, connection: u64) {
        self.total -= self.each.remove(&connection).unwrap_or_default();
    }

    /// The connection that has to end because there is too much: the one with the most; and why, in words.
    pub(crate) fn excess(&self) -> Option<(u64, String)> {
        let limit = self.limit.filter(|&limit| self.total > limit)?;
        let (&connection, &most) = self.each.iter().max_by_key(|(_, bytes)| **bytes)?;
        let [limit, total, most] = [limit, self.total, most].map(|bytes| bytes as f64 / 1e6);
        let reason = format!(
            "response-memory={limit}MB: responses under way take {total:.1} MB, those of this \
             connection {most:.1} MB, the most"
        );
        Some((connection, reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_with_the_most_is_named() {
        let mut held = Held::new(Some(1_000_000));
        held.add(1, 300_000);
        held.add(2, 500_000);
        held.add(3, 200_000);
        assert_eq!(held.excess(), None);
        held.add(1, 250_000);
        let (connection, reason) = held.excess().unwrap();
        assert_eq!(connection, 1);
        let said = "response-memory=1MB: responses under way take 1.2 MB, those of this connection \
                    0.6 MB, the most";
        assert_eq!(reason, said);
        held.remove(2, 500_000);
        assert_eq!(held.excess(), None);
        held.add(3, 400_000);
        held.forget(3);
        // What is over is over once.
        held.remove(3, 400_000);
        held.add(2, 450_000);
        assert_eq!(held.excess(), None);
        held.add(2, 1);
        assert_eq!(held.excess().unwrap().0, 1);
    }

    #[test]
    fn without_a_limit_nothing_is_too_much() {
        let mut held = Held::new(None);
        held.add(1, u64::MAX);
        held.add(1, u64::MAX);
        held.remove(1, 5);
        assert_eq!(held.excess(), None);
    }
}
