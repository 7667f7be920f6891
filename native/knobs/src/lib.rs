//! The knobs of Headway's programs, as `native/knobs.json` declares them, which studies are checked
//! against, too.

pub mod compression;
pub mod limits;
pub mod newcomers;

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;

static DECLARED: LazyLock<BTreeMap<&str, Vec<Knob>>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../knobs.json")).expect("a test reads all of it")
});

/// What a value is, if it is none of a knob's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A time: `25ms`.
    Time,
    /// A rate: `10Mbit/s`.
    Rate,
    /// A window: packets, or bytes as `14720B`.
    Window,
}

/// A knob: `name=value`. What only studies need to know stays in the file.
#[derive(Debug, Deserialize)]
pub struct Knob {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// The program's own value; none if it has none that can be stated.
    pub default: Option<&'static str>,
    /// The congestion controls that have it, as studies call them; all if empty.
    #[serde(default)]
    pub controls: Vec<&'static str>,
    /// The same of values that fewer have.
    #[serde(default)]
    pub controls_of: BTreeMap<&'static str, Vec<&'static str>>,
    /// Words that are values.
    #[serde(default)]
    pub words: Vec<&'static str>,
    /// What else is a value ...
    pub form: Option<Form>,
    /// ... after this.
    #[serde(default)]
    prefix: &'static str,
    #[serde(default)]
    unit: &'static str,
    #[serde(default)]
    least: f64,
    most: Option<f64>,
}

/// The knobs of a program, or of what several have in common.
///
/// # Panics
/// If it is not in the file.
#[must_use]
pub fn of(section: &str) -> &'static [Knob] {
    DECLARED.get(section).unwrap_or_else(|| panic!("no knobs of {section}"))
}

/// One knob.
///
/// # Panics
/// If it is not in the file.
#[must_use]
pub fn find(section: &str, name: &str) -> &'static Knob {
    let found = of(section).iter().find(|knob| knob.name == name);
    found.unwrap_or_else(|| panic!("no knob {name} of {section}"))
}

/// A program's own value of a knob.
///
/// # Panics
/// If it has none that can be stated.
#[must_use]
pub fn default(section: &str, name: &str) -> &'static str {
    find(section, name).default.unwrap_or_else(|| panic!("{section}: {name} has no default"))
}

/// Reads a knob's value, and refuses what the knob does not take.
///
/// # Panics
/// If the knob is not in the file.
pub fn parser<T: FromStr<Err: Display>>(
    section: &str,
    name: &str,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    let knob = find(section, name);
    move |value| {
        knob.check(value)?;
        value.parse().map_err(|error: T::Err| error.to_string())
    }
}

impl Knob {
    /// What values look like.
    #[must_use]
    pub fn values(&self) -> String {
        let mut said = self.words.join(", ");
        let Some(form) = self.form else { return said };
        if !said.is_empty() {
            said.push_str(", or ");
        }
        let amount = if self.unit.is_empty() { "a number" } else { self.unit };
        let example = match form {
            Form::Integer | Form::Number => amount.to_owned(),
            Form::Time => "a time such as 25ms".to_owned(),
            Form::Rate => "a rate such as 10Mbit/s".to_owned(),
            Form::Window => "packets, or bytes such as 14720B".to_owned(),
        };
        if self.prefix.is_empty() {
            said.push_str(&example);
        } else {
            _ = write!(said, "{}N with N {example}", self.prefix);
        }
        let counts = matches!(form, Form::Integer | Form::Number);
        match self.most.filter(|_| counts) {
            Some(most) if most < f64::from(u32::MAX >> 1) => {
                _ = write!(said, ", {} to {most}", self.least);
            }
            _ if counts && self.least > 0.0 => _ = write!(said, ", from {}", self.least),
            _ => (),
        }
        said
    }

    /// Whether it takes a value.
    ///
    /// # Errors
    /// Why it does not.
    pub fn check(&self, value: &str) -> Result<(), String> {
        if self.words.contains(&value) {
            return Ok(());
        }
        let form = self.form.ok_or("none of these")?;
        let value = value.strip_prefix(self.prefix).ok_or("none of these")?;
        let number = match form {
            Form::Integer => parse::<u64>(value)? as f64,
            Form::Number => finite(value)?,
            Form::Time => parse_time(value)?.as_secs_f64(),
            Form::Rate => parse_rate(value)?,
            Form::Window => match value.strip_suffix('B') {
                Some(bytes) => parse::<u64>(bytes)? as f64,
                None => parse::<u32>(value)?.into(),
            },
        };
        let most = self.most.unwrap_or(f64::INFINITY);
        if (self.least..=most).contains(&number) { Ok(()) } else { Err("out of range".to_owned()) }
    }
}

/// A time, a number with its unit.
///
/// # Errors
/// What is wrong with it.
pub fn parse_time(value: &str) -> Result<Duration, String> {
    let units = [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let (number, seconds) = units
        .iter()
        .find_map(|(unit, seconds)| Some((value.strip_suffix(unit)?, seconds)))
        .ok_or("a time has a unit, as 15s or 100ms")?;
    let number = finite(number).map_err(|_| "a time is a number with a unit, as 15s or 100ms")?;
    Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())
}

/// A rate in Mbit/s.
///
/// # Errors
/// What is wrong with it.
pub fn parse_rate(value: &str) -> Result<f64, String> {
    let number = finite(value.strip_suffix("Mbit/s").ok_or("a rate has a unit, as 10Mbit/s")?)?;
    if number > 0.0 { Ok(number) } else { Err("not above zero".to_owned()) }
}

fn finite(value: &str) -> Result<f64, String> {
    let number: f64 = parse(value)?;
    if number.is_finite() { Ok(number) } else { Err("not finite".to_owned()) }
}

fn parse<T: FromStr<Err: Display>>(value: &str) -> Result<T, String> {
    value.parse().map_err(|error: T::Err| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_values() {
        for (section, knobs) in DECLARED.iter() {
            for knob in knobs {
                let wrong = knob.default.and_then(|default| knob.check(default).err());
                assert_eq!(wrong, None, "{section}: {}", knob.name);
            }
        }
    }

    #[test]
    fn values_are_told() {
        let told = |name: &str| find("quic", name).values();
        assert_eq!(told("pacing"), "on, off, or a rate such as 10Mbit/s");
        assert_eq!(told("packet-threshold"), "packets, from 3");
        assert_eq!(told("max-udp-payload"), "bytes, 1200 to 65000");
        assert_eq!(told("migration"), "on, off");
        assert!(
            find("headway-server", "scheduler")
                .values()
                .ends_with("rfc9218, or batched-round-robin:N with N packets, from 1")
        );
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for (name, wrong) in [
            ("packet-threshold", &["abc", "2", "-1", "3.5", "4294967296", ""][..]),
            ("time-threshold", &["0.9", "1001", "nan", "inf", "x"]),
            ("pacing", &["fast", "10", "0Mbit/s", "-1Mbit/s"]),
            ("idle-timeout", &["30", "-1s", "s", "1e40s"]),
            ("max-window", &["B", "-1", "10b", "4294967296"]),
            ("migration", &["yes"]),
        ] {
            for value in wrong {
                assert!(find("quic", name).check(value).is_err(), "{name}={value}");
            }
        }
        let scheduler = find("headway-server", "scheduler");
        assert!(scheduler.check("batched-round-robin:0").is_err());
        assert!(scheduler.check("batched-round-robin").is_err());
        assert!(scheduler.check("batched-round-robin:10").is_ok());
    }

    #[test]
    fn options_are_read() {
        let parse = parser::<u32>("headway-server", "h2-frame-bytes");
        assert_eq!(parse("1400"), Ok(1400));
        assert!(parse("16385").is_err());
    }
}
