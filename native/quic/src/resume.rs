//! What an endpoint knows of paths from earlier connections, for Careful Resume (RFC 9959).

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Instant;

use headway_congestion::{Ack, CapacityObserver, Phase, PhaseUpdate, Saved};

use crate::config::Config;

/// Initial windows below which a path is not worth remembering (RFC 9959 section 3.1).
const LEAST_WINDOWS: u64 = 4;

/// The parameters saved of a path, and until when they may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loan {
    pub(crate) saved: Saved,
    /// None for ever.
    until: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    Kept(Loan),
    /// A connection uses them, and no other may (RFC 9959 section 3.2).
    Lent,
    /// They caused congestion (RFC 9959 section 3.5).
    Deleted,
}

/// What is saved of paths, by the peer's address.
#[derive(Debug, Default)]
pub(crate) struct SavedPaths(HashMap<IpAddr, Entry>);

impl SavedPaths {
    /// What a new connection to a peer may use, which it has until it is settled.
    pub(crate) fn lend(&mut self, peer: IpAddr, config: &Config, now: Instant) -> Option<Loan> {
        let loan = match self.0.get(&peer) {
            Some(Entry::Kept(loan)) if loan.until.is_none_or(|until| now <= until) => *loan,
            Some(Entry::Lent | Entry::Deleted) => return None,
            Some(Entry::Kept(_)) | None => Loan { saved: config.saved()?, until: None },
        };
        self.0.insert(peer, Entry::Lent);
        Some(loan)
    }

    /// A connection is over.
    pub(crate) fn settle(&mut self, outcome: Outcome) {
        if let Some((peer, loan)) = outcome.lent {
            self.0.insert(peer, loan.map_or(Entry::Deleted, Entry::Kept));
        }
        if let Some((peer, loan)) = outcome.observed {
            // What another connection has been lent meanwhile stays its own.
            if !matches!(self.0.get(&peer), Some(Entry::Lent)) {
                self.0.insert(peer, Entry::Kept(loan));
            }
        }
    }
}

/// What a connection leaves behind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// The peer whose path it was lent, and what of that may be used again.
    lent: Option<(IpAddr, Option<Loan>)>,
    /// The peer that it had last, and what it observed.
    observed: Option<(IpAddr, Loan)>,
}

/// A connection's part in it: how it resumed, and what it observes.
#[derive(Debug)]
pub(crate) struct Resumption {
    lent: Option<(IpAddr, Loan)>,
    phase: Phase,
    retreated: bool,
    observer: CapacityObserver,
    observed_at: Instant,
    ended: bool,
}

impl Resumption {
    pub(crate) fn new(peer: IpAddr, loan: Option<Loan>, now: Instant) -> Self {
        Self {
            lent: loan.map(|loan| (peer, loan)),
            phase: if loan.is_some() { Phase::Reconnaissance } else { Phase::Normal },
            retreated: false,
            observer: CapacityObserver::default(),
            observed_at: now,
            ended: false,
        }
    }

    /// The sender entered another phase.
    pub(crate) fn enter(&mut self, update: &PhaseUpdate) {
        self.phase = update.new;
        self.retreated |= update.new == Phase::SafeRetreat;
    }

    /// The connection goes on along another path, of which nothing is known.
    pub(crate) fn change_path(&mut self) {
        self.phase = Phase::Normal;
        self.observer = CapacityObserver::default();
    }

    /// Observes capacity unless Careful Resume is still at work (RFC 9959 section 4.6).
    pub(crate) fn on_ack(&mut self, now: Instant, ack: &Ack<'_>) {
        if self.phase == Phase::Normal {
            self.observer.on_ack(ack);
            self.observed_at = now;
        }
    }

    /// Bytes that the path took in a least round-trip time lately; none before a whole round trip.
    pub(crate) fn capacity(&self) -> Option<u64> {
        self.observer.observed().map(|saved| saved.window)
    }

    /// The connection is over, the peer being where it is now. Tells it once.
    pub(crate) fn end(&mut self, peer: IpAddr, config: &Config) -> Outcome {
        if std::mem::replace(&mut self.ended, true) {
            return Outcome::default();
        }
        let lent = self.lent.map(|(peer, loan)| (peer, Some(loan).filter(|_| !self.retreated)));
        let least = config.initial_window().saturating_mul(LEAST_WINDOWS);
        let observed = config.remember.and_then(|lifetime| {
            let saved = self.observer.observed().filter(|saved| saved.window >= least)?;
            Some((peer, Loan { saved, until: Some(self.observed_at + lifetime) }))
        });
        Outcome { lent, observed }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use headway_congestion::{Acked, Rtt};

    use super::*;

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
    const RTT: Duration = Duration::from_millis(100);

    fn config(knobs: &str) -> Config {
        knobs.parse().expect("they are right")
    }

    fn update(new: Phase) -> PhaseUpdate {
        let saved = Saved { window: 0, rtt: RTT };
        PhaseUpdate {
            old: None,
            new,
            trigger: None,
            pipe_size: 0,
            window: 0,
            ssthresh: None,
            saved,
        }
    }

    /// Acknowledgements of so many bytes in each of three round trips.
    fn transfer(resumption: &mut Resumption, began: Instant, bytes: u64) {
        for round in 0..3 {
            let at = RTT * round;
            let packets = [Acked { number: round.into(), bytes, sent_at: at }];
            let rtt = Rtt { min: RTT, ..Rtt::default() };
            let ack = Ack { now: at, packets: &packets, rtt, in_flight: 0, cwnd_limited: true };
            resumption.on_ack(began + at, &ack);
        }
    }

    #[test]
    fn one_connection_at_a_time_has_what_is_saved() {
        let (config, now) = (config("saved-window=1000,saved-rtt=580ms"), Instant::now());
        let mut paths = SavedPaths::default();
        let first = paths.lend(PEER, &config, now);
        assert_eq!(first.map(|loan| loan.saved.window), Some(1_200_000));
        assert_eq!(paths.lend(PEER, &config, now), None);
        assert!(paths.lend(OTHER, &config, now).is_some());
        let mut resumption = Resumption::new(PEER, first, now);
        paths.settle(resumption.end(PEER, &config));
        assert_eq!(paths.lend(PEER, &config, now), first);
        paths.settle(resumption.end(PEER, &config));
        assert_eq!(paths.lend(PEER, &config, now), None, "the first one gave it back before");
    }

    #[test]
    fn what_is_lent_is_not_lent_again_because_another_connection_ended() {
        let config = config("saved-window=1000,saved-rtt=580ms,remember=60s");
        let (mut paths, now) = (SavedPaths::default(), Instant::now());
        assert!(paths.lend(PEER, &config, now).is_some());
        let mut other = Resumption::new(PEER, paths.lend(PEER, &config, now), now);
        transfer(&mut other, now, 200_000);
        paths.settle(other.end(PEER, &config));
        assert_eq!(paths.lend(PEER, &config, now), None);
    }

    #[test]
    fn configured_parameters_serve_again_when_observed_ones_are_too_old() {
        let config = config("saved-window=1000,saved-rtt=580ms,remember=60s");
        let (mut paths, now) = (SavedPaths::default(), Instant::now());
        let mut first = Resumption::new(PEER, paths.lend(PEER, &config, now), now);
        transfer(&mut first, now, 200_000);
        paths.settle(first.end(PEER, &config));
        let later = now + Duration::from_secs(120);
        let loan = paths.lend(PEER, &config, later);
        assert_eq!(loan.map(|loan| (loan.saved.window, loan.until)), Some((1_200_000, None)));
    }

    #[test]
    fn what_caused_congestion_is_deleted() {
        let (config, now) = (config("saved-window=1000,saved-rtt=580ms"), Instant::now());
        let mut paths = SavedPaths::default();
        let mut resumption = Resumption::new(PEER, paths.lend(PEER, &config, now), now);
        resumption.enter(&update(Phase::SafeRetreat));
        resumption.enter(&update(Phase::Normal));
        paths.settle(resumption.end(PEER, &config));
        assert_eq!(paths.lend(PEER, &config, now), None);
    }

    #[test]
    fn what_was_observed_serves_for_its_lifetime() {
        let (config, now) = (config("remember=60s"), Instant::now());
        let mut paths = SavedPaths::default();
        for (after_s, lent) in [(60, true), (61, false)] {
            assert_eq!(paths.lend(PEER, &config, now), None);
            let mut resumption = Resumption::new(PEER, None, now);
            transfer(&mut resumption, now, 200_000);
            paths.settle(resumption.end(PEER, &config));
            // It was seen 200 ms after the beginning.
            let later = now + RTT * 2 + Duration::from_secs(after_s);
            let loan = paths.lend(PEER, &config, later);
            let saved = Saved { window: 200_000, rtt: RTT };
            assert_eq!(loan.map(|loan| loan.saved), lent.then_some(saved));
            paths = SavedPaths::default();
        }
    }

    #[test]
    fn small_windows_and_those_of_a_jump_are_not_remembered() {
        let (config, now) = (config("remember=60s"), Instant::now());
        let mut small = Resumption::new(PEER, None, now);
        transfer(&mut small, now, 47_999);
        assert!(small.end(PEER, &config).observed.is_none(), "four times ten packets of 1200");
        let loan = Loan { saved: Saved { window: 1_000_000, rtt: RTT }, until: None };
        let mut jumping = Resumption::new(PEER, Some(loan), now);
        jumping.enter(&update(Phase::Unvalidated));
        transfer(&mut jumping, now, 500_000);
        let outcome = jumping.end(PEER, &config);
        assert!(outcome.observed.is_none());
        assert_eq!(outcome.lent, Some((PEER, Some(loan))));
    }

    #[test]
    fn another_path_is_observed_anew() {
        let (config, now) = (config("remember=60s"), Instant::now());
        let mut resumption = Resumption::new(PEER, None, now);
        transfer(&mut resumption, now, 200_000);
        resumption.change_path();
        transfer(&mut resumption, now, 100_000);
        let observed = resumption.end(OTHER, &config).observed;
        assert_eq!(observed.map(|(peer, loan)| (peer, loan.saved.window)), Some((OTHER, 100_000)));
    }
}
