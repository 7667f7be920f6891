use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How long a connection has been in the middle of the same.
#[derive(Debug)]
pub struct Patience<P> {
    phase: P,
    since: Instant,
}

impl<P: Copy + PartialEq> Patience<P> {
    /// A connection begins.
    pub fn new(phase: P, now: Instant) -> Self {
        Self { phase, since: now }
    }

    /// What the connection is in the middle of.
    pub fn phase(&self) -> P {
        self.phase
    }

    /// Takes note of what the connection is in the middle of now.
    pub fn note(&mut self, phase: P, now: Instant) {
        if phase != self.phase {
            self.phase = phase;
            self.since = now;
        }
    }

    /// When it will have lasted too long, if there is a limit.
    ///
    /// # Arguments
    /// * `name` - of the limit.
    /// * `what` - was not there, in words.
    ///
    /// # Errors
    /// It has, in words: the limit and the time.
    pub fn check(
        &self,
        now: Instant,
        (name, limit): (&str, Option<Duration>),
        what: &str,
    ) -> Result<Option<Instant>, String> {
        let Some(limit) = limit else { return Ok(None) };
        let waited = now.saturating_duration_since(self.since);
        if waited < limit {
            return Ok(Some(self.since + limit));
        }
        let seconds = waited.as_secs_f64();
        Err(format!("{name}={limit:?}: {what} for {seconds:.1} s"))
    }
}

/// When connections are to be looked at next, each within the shortest time of any limit.
#[derive(Debug)]
pub struct Looks<K> {
    shortest: Option<Duration>,
    due: BTreeSet<(Instant, K)>,
    times: BTreeMap<K, Instant>,
}

impl<K: Copy + Ord> Looks<K> {
    /// # Arguments
    /// * `shortest` - time of any limit; without one nothing is looked at.
    #[must_use]
    pub fn new(shortest: Option<Duration>) -> Self {
        Self { shortest, due: BTreeSet::new(), times: BTreeMap::new() }
    }

    /// A connection is to be looked at.
    ///
    /// # Arguments
    /// * `at` - not later than this.
    pub fn add(&mut self, key: K, now: Instant, at: Option<Instant>) {
        let Some(shortest) = self.shortest else { return };
        let latest = now + shortest;
        let at = at.map_or(latest, |at| at.min(latest));
        self.remove(key);
        self.due.insert((at, key));
        self.times.insert(key, at);
    }

    /// A connection is over.
    pub fn remove(&mut self, key: K) {
        if let Some(at) = self.times.remove(&key) {
            self.due.remove(&(at, key));
        }
    }

    /// The next connection that is due; it has to be added again.
    pub fn next(&mut self, now: Instant) -> Option<K> {
        let &(at, key) = self.due.first()?;
        (at <= now).then(|| self.remove(key)).map(|()| key)
    }

    /// When the next one is.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.due.first().map(|&(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_looked_at_in_time() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut looks = Looks::new(Some(Duration::from_secs(1)));
        looks.add('a', start, None);
        looks.add('b', start, Some(start));
        assert_eq!((looks.next(start), looks.next(start)), (Some('b'), None));
        looks.add('b', start, Some(at(100)));
        assert_eq!(looks.deadline(), Some(at(1)));
        assert_eq!(
            [looks.next(at(1)), looks.next(at(1)), looks.next(at(1))],
            [Some('a'), Some('b'), None]
        );
        looks.add('c', start, None);
        looks.remove('c');
        assert_eq!(looks.deadline(), None);
        let mut off = Looks::new(None);
        off.add('a', start, None);
        assert_eq!(off.deadline(), None);
    }
}
