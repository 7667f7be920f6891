//! Rates, in bytes per second.

use std::fmt;
use std::time::Duration;

/// A sending or delivery rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u64);

impl Rate {
    /// A rate of so many bytes per second.
    #[must_use]
    pub const fn from_bytes_per_second(bytes: u64) -> Self {
        Self(bytes)
    }

    /// `bytes` in `interval`; nothing for an empty interval.
    #[must_use]
    pub fn over(bytes: u64, interval: Duration) -> Option<Self> {
        let nanos = interval.as_nanos();
        if nanos == 0 {
            return None;
        }
        let per_second = u128::from(bytes) * 1_000_000_000 / nanos;
        Some(Self(u64::try_from(per_second).unwrap_or(u64::MAX)))
    }

    /// Bytes per second.
    #[must_use]
    pub const fn bytes_per_second(self) -> u64 {
        self.0
    }

    /// This rate times `gain`, rounded down, saturating.
    #[must_use]
    pub fn scaled(self, gain: f64) -> Self {
        Self((self.0 as f64 * gain) as u64)
    }

    /// Bytes sent at this rate in `interval`, rounded down, saturating.
    #[must_use]
    pub fn bytes_in(self, interval: Duration) -> u64 {
        let bytes = u128::from(self.0).saturating_mul(interval.as_nanos()) / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// How long `bytes` take at this rate; [`Duration::MAX`] if they never end.
    #[must_use]
    pub fn time_for(self, bytes: u64) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(self.0);
        u64::try_from(nanos).map_or(Duration::MAX, Duration::from_nanos)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_time_convert_both_ways() {
        let rate = Rate::over(125_000, Duration::from_millis(10)).expect("an interval");
        assert_eq!(rate, Rate::from_bytes_per_second(12_500_000));
        assert_eq!(rate.bytes_in(Duration::from_millis(10)), 125_000);
        assert_eq!(rate.time_for(125_000), Duration::from_millis(10));
        assert_eq!(rate.scaled(1.25).bytes_per_second(), 15_625_000);
    }

    #[test]
    fn extremes_saturate() {
        assert_eq!(Rate::over(1, Duration::ZERO), None);
        let fastest = Rate::over(u64::MAX, Duration::from_nanos(1)).expect("an interval");
        assert_eq!(fastest.bytes_per_second(), u64::MAX);
        assert_eq!(fastest.bytes_in(Duration::MAX), u64::MAX);
        assert_eq!(Rate::default().time_for(1), Duration::MAX);
    }
}
