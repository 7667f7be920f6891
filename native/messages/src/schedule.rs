//! When a series of messages is made, as a query says it.

use std::time::Duration;

/// Messages of a series, at most.
pub const MOST: u64 = 1_000_000;

/// When messages are made, counted from the start of their series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// One after the other at an interval.
    Regular {
        /// The first.
        first: Duration,
        /// From one to the next.
        interval: Duration,
        /// How many there are.
        count: u64,
    },
    /// At these moments, none before the one in front of it.
    At(Vec<Duration>),
}

impl Schedule {
    /// Reads `first=SECONDS&interval=SECONDS&count=N`, or `at=SECONDS,SECONDS,...`; a part that is missing is
    /// 0 s, or one message. `None` if it says something else, or of more than [`MOST`] messages.
    #[must_use]
    pub fn parse(query: &str) -> Option<Self> {
        let (mut first, mut interval, mut count) = (Duration::ZERO, Duration::ZERO, 1);
        let mut moments = None;
        for part in query.split('&').filter(|part| !part.is_empty()) {
            match part.split_once('=')? {
                ("first", value) => first = seconds(value)?,
                ("interval", value) => interval = seconds(value)?,
                ("count", value) => count = value.parse().ok()?,
                ("at", value) => {
                    moments = Some(value.split(',').map(seconds).collect::<Option<Vec<_>>>()?);
                }
                _ => return None,
            }
        }
        let schedule = match moments {
            Some(moments) if moments.is_sorted() => Self::At(moments),
            Some(_) => return None,
            None => Self::Regular { first, interval, count },
        };
        (1..=MOST).contains(&schedule.count()).then_some(schedule)
    }

    /// How many messages there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Regular { count, .. } => *count,
            Self::At(moments) => moments.len() as u64,
        }
    }

    /// When a message is made, by its number from 1; `None` if there is no such one.
    #[must_use]
    pub fn at(&self, number: u64) -> Option<Duration> {
        let before = number.checked_sub(1).filter(|&before| before < self.count())?;
        match self {
            Self::Regular { first, interval, .. } => {
                let after = interval.as_nanos().checked_mul(u128::from(before))?;
                Some(*first + Duration::from_nanos(u64::try_from(after).ok()?))
            }
            Self::At(moments) => moments.get(usize::try_from(before).ok()?).copied(),
        }
    }
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(query: &str) -> Option<Vec<u128>> {
        let schedule = Schedule::parse(query)?;
        let at = |number| schedule.at(number).map(|at| at.as_millis());
        assert_eq!((at(0), at(schedule.count() + 1)), (None, None));
        (1..=schedule.count()).map(at).collect()
    }

    #[test]
    fn regular_or_at_moments() {
        assert_eq!(moments("first=0.5&interval=0.02&count=3"), Some(vec![500, 520, 540]));
        assert_eq!(moments("at=0,0.1,0.1,2"), Some(vec![0, 100, 100, 2000]));
        assert_eq!(moments(""), Some(vec![0]));
        for wrong in
            ["x=1", "count", "count=0", "count=1000001", "at=1,0", "at=", "first=-1", "interval=x"]
        {
            assert_eq!(Schedule::parse(wrong), None, "{wrong}");
        }
    }
}
