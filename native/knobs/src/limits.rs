//! Limits of what peers may take of a program: names, units, and how they are stated.

use std::time::Duration;

use crate::parse_time;

/// A limit's place among all of a program's; `None` in it is no limit.
pub enum Place<'a> {
    /// A time.
    Time(&'a mut Option<Duration>),
    /// How many, or how many a second.
    Count(&'a mut Option<u32>),
    /// A share in percent.
    Percent(&'a mut Option<u32>),
    /// Memory.
    Bytes(&'a mut Option<u64>),
}

/// One limit.
pub struct Limit<L> {
    /// Its name.
    pub name: &'static str,
    /// What it limits.
    pub meaning: &'static str,
    /// Where it is.
    pub place: fn(&mut L) -> Place<'_>,
}

/// All limits of a program.
pub trait Limits: Default + Clone + 'static {
    /// None of them.
    const OFF: Self;
    /// What there is.
    const ALL: &'static [Limit<Self>];

    /// Whether they go together.
    ///
    /// # Errors
    /// In words, if they do not.
    fn check(&self) -> Result<(), String>;

    /// Those of the command line: `NAME=VALUE,...`; `off` switches all off that were not set after it.
    ///
    /// # Errors
    /// What is wrong, in words.
    fn parse(text: &str) -> Result<Self, String> {
        let mut limits = Self::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            if word == "off" {
                limits = Self::OFF;
                continue;
            }
            let (name, value) = word
                .split_once('=')
                .ok_or_else(|| format!("'{word}' is neither name=value nor off"))?;
            let limit = Self::ALL.iter().find(|limit| limit.name == name).ok_or_else(|| {
                let names: Vec<_> = Self::ALL.iter().map(|limit| limit.name).collect();
                format!("no limit '{name}'; there are {}", names.join(", "))
            })?;
            set((limit.place)(&mut limits), value)
                .map_err(|why| format!("{name}={value}: {why}"))?;
        }
        limits.check()?;
        Ok(limits)
    }

    /// A table of all for `--help`.
    #[must_use]
    fn help() -> String {
        let mut defaults = Self::default();
        let mut lines = String::new();
        for Limit { name, meaning, place } in Self::ALL {
            lines += &format!("  {name}: {meaning} ({})\n", shown(&place(&mut defaults)));
        }
        format!("Limits of what clients may take (--limits); NAME=off or off are none:\n{lines}")
    }

    /// The shortest time of any, which is how often a connection has to be looked at.
    #[must_use]
    fn shortest_time(&self) -> Option<Duration> {
        let mut all = self.clone();
        let times = Self::ALL.iter().filter_map(|limit| match (limit.place)(&mut all) {
            Place::Time(place) => *place,
            _ => None,
        });
        times.min()
    }
}

/// A time that ends a connection must not come after another one that ends it anyway.
///
/// # Errors
/// It does, in words.
pub fn in_order(
    (first, sooner): (&str, Option<Duration>),
    (second, later): (&str, Option<Duration>),
) -> Result<(), String> {
    match (sooner, later) {
        (Some(sooner), Some(later)) if sooner > later => Err(format!(
            "{first}={sooner:?} is longer than {second}={later:?}, which ends such a connection before"
        )),
        _ => Ok(()),
    }
}

/// A limit as it is stated.
fn shown(place: &Place<'_>) -> String {
    let text = match place {
        Place::Time(place) => place.map(|time| format!("{time:?}")),
        Place::Count(place) => place.map(|count| count.to_string()),
        Place::Percent(place) => place.map(|percent| format!("{percent}%")),
        Place::Bytes(place) => place.map(|bytes| format!("{}MB", bytes / 1_000_000)),
    };
    text.unwrap_or_else(|| "off".to_owned())
}

fn set(place: Place<'_>, value: &str) -> Result<(), String> {
    match place {
        Place::Time(place) => *place = unless_off(value, time)?,
        Place::Count(place) => *place = unless_off(value, count)?,
        Place::Percent(place) => *place = unless_off(value, percent)?,
        Place::Bytes(place) => *place = unless_off(value, bytes)?,
    }
    Ok(())
}

fn unless_off<T>(value: &str, parse: fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    if value == "off" { Ok(None) } else { parse(value).map(Some) }
}

fn time(value: &str) -> Result<Duration, String> {
    let time = parse_time(value)?;
    if time.is_zero() { Err("nobody can keep that; off is no limit".to_owned()) } else { Ok(time) }
}

fn count(value: &str) -> Result<u32, String> {
    match value.parse() {
        Ok(0) => Err("nobody can keep that; off is no limit".to_owned()),
        Ok(count) => Ok(count),
        Err(_) => Err("a whole number from 1 on, or off".to_owned()),
    }
}

fn bytes(value: &str) -> Result<u64, String> {
    let units = [("kB", 1000), ("MB", 1_000_000)];
    let size = units.into_iter().find_map(|(unit, factor)| {
        value.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(factor)
    });
    size.ok_or_else(|| "a whole number with a unit, as 32MB or 500kB, or off".to_owned())
}

fn percent(value: &str) -> Result<u32, String> {
    let number = value.strip_suffix('%').and_then(|number| number.parse().ok());
    number
        .filter(|&percent| percent <= 100)
        .ok_or_else(|| "a share from 0% to 100%, or off".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Some4 {
        time: Option<Duration>,
        count: Option<u32>,
        share: Option<u32>,
        memory: Option<u64>,
    }

    impl Limits for Some4 {
        const OFF: Self = Self { time: None, count: None, share: None, memory: None };
        const ALL: &'static [Limit<Self>] = &[
            Limit { name: "time", meaning: "a time", place: |all| Place::Time(&mut all.time) },
            Limit { name: "count", meaning: "so many", place: |all| Place::Count(&mut all.count) },
            Limit { name: "share", meaning: "a part", place: |all| Place::Percent(&mut all.share) },
            Limit { name: "memory", meaning: "bytes", place: |all| Place::Bytes(&mut all.memory) },
        ];

        fn check(&self) -> Result<(), String> {
            in_order(("time", self.time), ("a minute", Some(Duration::from_secs(60))))
        }
    }

    #[test]
    fn limits_have_units_and_can_be_off() {
        let all = Some4::parse("time=1.5s,count=7,share=0%,memory=500kB").unwrap();
        let expected = Some4 {
            time: Some(Duration::from_millis(1500)),
            count: Some(7),
            share: Some(0),
            memory: Some(500_000),
        };
        assert_eq!(all, expected);
        assert_eq!(Some4::parse("time=500ms,off"), Ok(Some4::OFF));
        let only = Some4 { count: Some(7), ..Some4::OFF };
        assert_eq!(Some4::parse("count=off,off,count=7,"), Ok(only.clone()));
        assert!(Some4::ALL.iter().all(|limit| Some4::help().contains(limit.name)));
        assert_eq!((all.shortest_time(), only.shortest_time()), (all.time, None));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, why) in [
            ("time", "neither name=value nor off"),
            ("idle=3s", "no limit 'idle'; there are time, count, share, memory"),
            ("time=3", "has a unit"),
            ("time=xs", "a number with a unit"),
            ("time=0s", "off is no limit"),
            ("count=-1", "a whole number"),
            ("count=0", "off is no limit"),
            ("share=101%", "from 0% to 100%"),
            ("memory=32", "with a unit, as 32MB"),
            ("time=61s", "time=61s is longer than a minute=60s"),
        ] {
            let error = Some4::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
