//! How long connections are waited for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::limits::Limits;

/// What a connection is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The handshake.
    Handshake,
    /// The first request's head, or the rest of another one's.
    Head,
    /// Nothing: after so many requests, one more may come.
    Idle(u64),
    /// Responses, of which so many bytes were taken so far.
    Responses(u64),
}

/// How long a connection has been in the middle of the same.
#[derive(Debug)]
pub(crate) struct Patience {
    phase: Phase,
    since: Instant,
}

impl Patience {
    /// A connection begins.
    pub(crate) fn new(now: Instant) -> Self {
        Self { phase: Phase::Handshake, since: now }
    }

    /// Takes note of what the connection is in the middle of now.
    pub(crate) fn note(&mut self, phase: Phase, now: Instant) {
        let phase = if phase == Phase::Idle(0) { Phase::Head } else { phase };
        if phase != self.phase {
            self.phase = phase;
            self.since = now;
        }
    }

    /// When it will have lasted too long, if there is a limit.
    ///
    /// # Errors
    /// It has, in words: the limit and the time.
    pub(crate) fn check(&self, now: Instant, limits: &Limits) -> Result<Option<Instant>, String> {
        let (name, limit, what) = match self.phase {
            Phase::Handshake => ("handshake-time", limits.handshake_time, "no handshake"),
            Phase::Head => ("header-time", limits.header_time, "no whole request"),
            Phase::Idle(_) => ("idle-time", limits.idle_time, "no request"),
            Phase::Responses(_) => ("idle-time", limits.idle_time, "nothing was taken"),
        };
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
pub(crate) struct Looks<K> {
    shortest: Option<Duration>,
    due: BTreeSet<(Instant, K)>,
    times: BTreeMap<K, Instant>,
}

impl<K: Copy + Ord> Looks<K> {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { shortest: limits.shortest_time(), due: BTreeSet::new(), times: BTreeMap::new() }
    }

    /// A connection is to be looked at.
    ///
    /// # Arguments
    /// * `at` - not later than this.
    pub(crate) fn add(&mut self, key: K, now: Instant, at: Option<Instant>) {
        let Some(shortest) = self.shortest else { return };
        let latest = now + shortest;
        let at = at.map_or(latest, |at| at.min(latest));
        self.remove(key);
        self.due.insert((at, key));
        self.times.insert(key, at);
    }

    /// A connection is over.
    pub(crate) fn remove(&mut self, key: K) {
        if let Some(at) = self.times.remove(&key) {
            self.due.remove(&(at, key));
        }
    }

    /// The next connection that is due; it has to be added again.
    pub(crate) fn next(&mut self, now: Instant) -> Option<K> {
        let &(at, key) = self.due.first()?;
        (at <= now).then(|| self.remove(key)).map(|()| key)
    }

    /// When the next one is.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.due.first().map(|&(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        handshake_time: Some(Duration::from_secs(1)),
        header_time: Some(Duration::from_secs(2)),
        idle_time: Some(Duration::from_secs(3)),
        ..Limits::OFF
    };

    #[test]
    fn each_phase_has_its_time() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut patience = Patience::new(start);
        assert_eq!(patience.check(at(0), &LIMITS), Ok(Some(at(1))));
        let said = patience.check(at(1), &LIMITS).unwrap_err();
        assert_eq!(said, "handshake-time=1s: no handshake for 1.0 s");
        // Until the first request there is less time than between others.
        patience.note(Phase::Idle(0), at(1));
        assert_eq!(patience.check(at(2), &LIMITS), Ok(Some(at(3))));
        patience.note(Phase::Head, at(2));
        let said = patience.check(at(3), &LIMITS).unwrap_err();
        assert_eq!(said, "header-time=2s: no whole request for 2.0 s");
        patience.note(Phase::Responses(0), at(3));
        patience.note(Phase::Responses(0), at(5));
        assert_eq!(patience.check(at(5), &LIMITS), Ok(Some(at(6))));
        patience.note(Phase::Responses(1), at(5));
        assert_eq!(patience.check(at(6), &LIMITS), Ok(Some(at(8))));
        let said = patience.check(at(8), &LIMITS).unwrap_err();
        assert_eq!(said, "idle-time=3s: nothing was taken for 3.0 s");
        patience.note(Phase::Idle(1), at(8));
        let said = patience.check(at(20), &LIMITS).unwrap_err();
        assert_eq!(said, "idle-time=3s: no request for 12.0 s");
        assert_eq!(patience.check(at(20), &Limits::OFF), Ok(None));
        // One was answered at once meanwhile.
        patience.note(Phase::Idle(2), at(20));
        assert_eq!(patience.check(at(20), &LIMITS), Ok(Some(at(23))));
    }

    #[test]
    fn connections_are_looked_at_in_time() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut looks = Looks::new(&LIMITS);
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
        let mut off = Looks::new(&Limits::OFF);
        off.add('a', start, None);
        assert_eq!(off.deadline(), None);
    }
}
