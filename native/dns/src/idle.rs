//! Which connections have been of no use for the longest.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use headway_reactor::Token;

/// Connections, by when they were of use last (RFC 7766, section 6.2.3).
#[derive(Debug)]
pub(crate) struct Idle {
    /// How long one may be of no use.
    limit: Duration,
    since: BTreeMap<Token, Instant>,
    order: BTreeSet<(Instant, Token)>,
}

impl Idle {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, since: BTreeMap::new(), order: BTreeSet::new() }
    }

    /// A connection is of use: it begins, or a question came whole.
    ///
    /// # Arguments
    /// * `until` - when the answer leaves.
    pub(crate) fn used(&mut self, token: Token, until: Instant) {
        self.remove(token);
        self.since.insert(token, until);
        self.order.insert((until, token));
    }

    /// A connection is over.
    pub(crate) fn remove(&mut self, token: Token) {
        if let Some(since) = self.since.remove(&token) {
            self.order.remove(&(since, token));
        }
    }

    /// The one that has been idle for the longest.
    pub(crate) fn oldest(&self) -> Option<Token> {
        self.order.first().map(|&(_, token)| token)
    }

    /// The next one that has been idle for too long.
    pub(crate) fn overdue(&self, now: Instant) -> Option<Token> {
        self.deadline().filter(|&at| at <= now).and_then(|_| self.oldest())
    }

    /// When the next one will have been.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.order.first().map(|&(since, _)| since + self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_of_no_use_for_the_longest_is_first() {
        let (start, second) = (Instant::now(), Duration::from_secs);
        let mut idle = Idle::new(second(10));
        for (token, at) in [(1, 0), (2, 1), (3, 2), (1, 5)] {
            idle.used(Token(token), start + second(at));
        }
        assert_eq!((idle.oldest(), idle.deadline()), (Some(Token(2)), Some(start + second(11))));
        assert_eq!(idle.overdue(start + second(10)), None);
        assert_eq!(idle.overdue(start + second(11)), Some(Token(2)));
        idle.remove(Token(2));
        idle.remove(Token(3));
        assert_eq!((idle.oldest(), idle.overdue(start + second(14))), (Some(Token(1)), None));
    }
}
