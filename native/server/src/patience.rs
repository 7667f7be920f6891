//! How long connections are waited for.

use std::time::Instant;

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
pub(crate) struct Patience(headway_reactor::Patience<Phase>);

impl Patience {
    /// A connection begins.
    pub(crate) fn new(now: Instant) -> Self {
        Self(headway_reactor::Patience::new(Phase::Handshake, now))
    }

    /// Takes note of what the connection is in the middle of now.
    pub(crate) fn note(&mut self, phase: Phase, now: Instant) {
        self.0.note(if phase == Phase::Idle(0) { Phase::Head } else { phase }, now);
    }

    /// When it will have lasted too long, if there is a limit.
    ///
    /// # Errors
    /// It has, in words: the limit and the time.
    pub(crate) fn check(&self, now: Instant, limits: &Limits) -> Result<Option<Instant>, String> {
        let (name, limit, what) = match self.0.phase() {
            Phase::Handshake => ("handshake-time", limits.newcomers.handshake_time, "no handshake"),
            Phase::Head => ("header-time", limits.header_time, "no whole request"),
            Phase::Idle(_) => ("idle-time", limits.idle_time, "no request"),
            Phase::Responses(_) => ("idle-time", limits.idle_time, "nothing was taken"),
        };
        self.0.check(now, (name, limit), what)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use headway_knobs::limits::Limits as _;
    use headway_knobs::newcomers::Newcomers;

    use super::*;

    const LIMITS: Limits = Limits {
        newcomers: Newcomers { handshake_time: Some(Duration::from_secs(1)), ..Newcomers::OFF },
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
}
