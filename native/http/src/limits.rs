//! What a client may do, and how often.

use std::time::Instant;

/// Occasions that may come at once, in seconds' worth of their rate.
const BURST_SECONDS: u32 = 10;

/// How often a client may do on a connection what costs a server more than the client. `None` is no
/// limit; ten seconds' worth may come at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests given up: by the client ("rapid reset", CVE-2023-44487), before or after they are
    /// answered, or by the server for what the client did to them ("MadeYouReset", CVE-2025-8671).
    pub resets_per_second: Option<u32>,
    /// SETTINGS of HTTP/2, each of which is acknowledged.
    pub settings_per_second: Option<u32>,
    /// PING of HTTP/2, each of which is answered.
    pub pings_per_second: Option<u32>,
}

impl Limits {
    /// No limits.
    pub const OFF: Self =
        Self { resets_per_second: None, settings_per_second: None, pings_per_second: None };
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            resets_per_second: Some(100),
            settings_per_second: Some(10),
            pings_per_second: Some(100),
        }
    }
}

/// A limit was met, and what by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exceeded {
    name: &'static str,
    per_second: u32,
    met: u64,
}

impl std::fmt::Display for Exceeded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, per_second, met } = self;
        write!(f, "{name}={per_second}: {met} came, faster than that")
    }
}

/// What a connection counts against its limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meters {
    resets: Meter,
    settings: Meter,
    pings: Meter,
}

impl Meters {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            resets: Meter::new("resets-per-second", limits.resets_per_second),
            settings: Meter::new("settings-per-second", limits.settings_per_second),
            pings: Meter::new("pings-per-second", limits.pings_per_second),
        }
    }

    pub(crate) fn reset(&mut self, now: Option<Instant>) -> Result<(), Exceeded> {
        self.resets.count(now)
    }

    pub(crate) fn settings(&mut self, now: Option<Instant>) -> Result<(), Exceeded> {
        self.settings.count(now)
    }

    pub(crate) fn ping(&mut self, now: Option<Instant>) -> Result<(), Exceeded> {
        self.pings.count(now)
    }
}

/// Counts occasions against a rate.
#[derive(Clone, Copy, Debug)]
struct Meter {
    name: &'static str,
    per_second: Option<u32>,
    /// How many may come now.
    left: f64,
    met: u64,
    since: Option<Instant>,
}

impl Meter {
    /// # Arguments
    /// * `name` - of the limit.
    fn new(name: &'static str, per_second: Option<u32>) -> Self {
        let left = f64::from(per_second.unwrap_or(0).saturating_mul(BURST_SECONDS));
        Self { name, per_second, left, met: 0, since: None }
    }

    /// Counts one.
    ///
    /// # Arguments
    /// * `now` - if nobody tells the time, none passes.
    fn count(&mut self, now: Option<Instant>) -> Result<(), Exceeded> {
        let Some(per_second) = self.per_second else { return Ok(()) };
        self.met += 1;
        if let Some(now) = now {
            let passed = now.saturating_duration_since(self.since.replace(now).unwrap_or(now));
            let most = f64::from(per_second.saturating_mul(BURST_SECONDS));
            self.left = most.min(self.left + f64::from(per_second) * passed.as_secs_f64());
        }
        if self.left < 1.0 {
            return Err(Exceeded { name: self.name, per_second, met: self.met });
        }
        self.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_rate_lets_ten_seconds_worth_through_at_once() {
        let mut meter = Meter::new("x-per-second", Some(3));
        let start = Instant::now();
        let mut take = |seconds| {
            let now = start + Duration::from_secs(seconds);
            std::iter::from_fn(|| meter.count(Some(now)).ok()).count()
        };
        assert_eq!([0, 0, 1, 3, 100].map(&mut take), [30, 0, 3, 6, 30]);
        let exceeded = meter.count(None).unwrap_err();
        assert_eq!(exceeded.to_string(), "x-per-second=3: 75 came, faster than that");
    }

    #[test]
    fn without_a_limit_nothing_is_too_often() {
        let mut meter = Meter::new("x-per-second", None);
        assert!((0..100_000).all(|_| meter.count(None).is_ok()));
    }
}
