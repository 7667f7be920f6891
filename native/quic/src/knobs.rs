//! Knobs of a QUIC endpoint by name, as programs take them from the command line and studies.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use headway_congestion::Rate;

use crate::config::{AckFrequency, Config, Pacing};

/// A knob: `name=value`.
#[derive(Clone, Copy)]
pub struct Knob {
    /// Its name.
    pub name: &'static str,
    /// What values look like.
    pub values: &'static str,
    /// What it does.
    pub meaning: &'static str,
    set: fn(&mut Config, &str) -> Result<(), String>,
}

impl fmt::Debug for Knob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.values)
    }
}

/// A knob that is none, or a value that it does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KnobError {
    /// It is not of the form `name=value`.
    #[error("{0:?} is no knob: write name=value")]
    Form(String),
    /// There is no knob of that name.
    #[error("there is no knob {name:?}; there is {}", names())]
    Name {
        /// The name.
        name: String,
    },
    /// The knob does not take the value.
    #[error("{name}={value}: {reason}; it takes {values}")]
    Value {
        /// The knob.
        name: &'static str,
        /// The value.
        value: String,
        /// Why not.
        reason: String,
        /// What it takes.
        values: &'static str,
    },
    /// The knobs do not go together.
    #[error("{0}")]
    Together(String),
}

macro_rules! knob {
    ($name:literal, $values:literal, $meaning:literal, $set:expr) => {
        Knob { name: $name, values: $values, meaning: $meaning, set: $set }
    };
}

/// All knobs.
pub static KNOBS: &[Knob] = &[
    knob!(
        "congestion-control",
        "newreno, cubic, bbr, bbr3 or hybla",
        "congestion controller (default cubic)",
        |config, value| assign(&mut config.congestion.algorithm, value)
    ),
    knob!(
        "slow-start",
        "classic, hystart or hystart++",
        "when slow start ends, if not by loss (default hystart++)",
        |config, value| assign(&mut config.congestion.slow_start, value)
    ),
    knob!(
        "initial-window",
        "packets, or bytes as 14720B",
        "congestion window at the beginning (default 10)",
        |config, value| assign(&mut config.congestion.initial_window, value)
    ),
    knob!(
        "max-window",
        "packets, or bytes as 200000B, or none",
        "largest congestion window (default none)",
        |config, value| optional(&mut config.congestion.max_window, value)
    ),
    knob!(
        "emulated-connections",
        "a number from 1",
        "behave as this many connections, newreno and cubic only (default 1)",
        |config, value| assign(&mut config.congestion.connections, value)
    ),
    knob!(
        "pacing",
        "on, off, or a rate as 10Mbit/s",
        "spread packets over time (default on, at the controller's rate)",
        |config, value| {
            config.pacing = match value {
                "on" => Pacing::Controller,
                "off" => Pacing::Off,
                rate => Pacing::Fixed(parse_rate(rate)?),
            };
            Ok(())
        }
    ),
    knob!(
        "max-burst",
        "packets, from 2",
        "packets that leave at once when packets are spread over time, at most (default 10)",
        |config, value| within(&mut config.max_burst, value, 2..=u32::MAX)
    ),
    knob!(
        "saved-window",
        "packets, or bytes as 1450000B, or none",
        "Careful Resume: what the path took in a round trip of an earlier connection (default none)",
        |config, value| optional(&mut config.saved_window, value)
    ),
    knob!(
        "saved-rtt",
        "a time as 580ms, or none",
        "Careful Resume: the least round-trip time of that connection (default none)",
        |config, value| optional_time(&mut config.saved_rtt, value)
    ),
    knob!(
        "remember",
        "a time as 600s, or off",
        "Careful Resume: how long what connections saw serves the peer's next one (default off)",
        |config, value| {
            config.remember = if value == "off" { None } else { Some(parse_time(value)?) };
            Ok(())
        }
    ),
    knob!(
        "max-udp-payload",
        "bytes, 1200 to 65000",
        "size of UDP payloads (default 1200)",
        |config, value| within(&mut config.max_udp_payload, value, 1200..=65_000)
    ),
    knob!(
        "packet-threshold",
        "packets, from 3",
        "later packets acknowledged until one is lost (default 3)",
        |config, value| within(&mut config.packet_threshold, value, 3..=u32::MAX)
    ),
    knob!(
        "time-threshold",
        "a factor, from 1",
        "round-trip times until a packet is lost (default 1.125)",
        |config, value| within(&mut config.time_threshold, value, 1.0..=1000.0)
    ),
    knob!(
        "initial-rtt",
        "a time as 333ms",
        "round-trip time assumed before there is a sample (default 333ms)",
        |config, value| time(&mut config.initial_rtt, value)
    ),
    knob!(
        "idle-timeout",
        "a time as 30s",
        "silence that ends a connection (default 30s)",
        |config, value| time(&mut config.idle_timeout, value)
    ),
    knob!(
        "stream-window",
        "bytes",
        "flow control: receive window of a stream (default 16777216)",
        |config, value| assign(&mut config.stream_receive_window, value)
    ),
    knob!(
        "connection-window",
        "bytes",
        "flow control: receive window of a connection (default 25165824)",
        |config, value| assign(&mut config.receive_window, value)
    ),
    knob!(
        "max-streams",
        "a number",
        "streams of each kind that the peer may have open (default 1000)",
        |config, value| assign(&mut config.max_streams, value)
    ),
    knob!(
        "migration",
        "on or off",
        "let clients change their address (default on)",
        |config, value| {
            config.migration = parse_switch(value)?;
            Ok(())
        }
    ),
    knob!(
        "ack-threshold",
        "packets, or none",
        "ask the peer to leave this many without acknowledgment; needs its consent (default none)",
        |config, value| {
            config.ack_frequency = match value {
                "none" => None,
                packets => {
                    let ack_eliciting_threshold = parse(packets)?;
                    let asked = ack_frequency(config);
                    Some(AckFrequency { ack_eliciting_threshold, ..asked })
                }
            };
            Ok(())
        }
    ),
    knob!(
        "max-ack-delay",
        "a time as 25ms",
        "ask the peer to delay acknowledgments no longer; needs its consent (default its own)",
        |config, value| {
            let max_ack_delay = Some(parse_time(value)?);
            config.ack_frequency = Some(AckFrequency { max_ack_delay, ..ack_frequency(config) });
            Ok(())
        }
    ),
    knob!(
        "cpu-per-sent",
        "a time as 20us",
        "computing time of each datagram sent, for slow devices (default 0us)",
        |config, value| time(&mut config.cpu_cost.per_sent, value)
    ),
    knob!(
        "cpu-per-received",
        "a time as 20us",
        "computing time of each datagram received, for slow devices (default 0us)",
        |config, value| time(&mut config.cpu_cost.per_received, value)
    ),
];

impl Config {
    /// Sets knobs: `name=value`, several separated by commas.
    ///
    /// # Errors
    /// A name that is none, or a value that it does not take.
    pub fn set(&mut self, knobs: &str) -> Result<(), KnobError> {
        for word in knobs.split(',').filter(|word| !word.is_empty()) {
            let (name, value) =
                word.split_once('=').ok_or_else(|| KnobError::Form(word.to_owned()))?;
            let knob = KNOBS
                .iter()
                .find(|knob| knob.name == name)
                .ok_or_else(|| KnobError::Name { name: name.to_owned() })?;
            (knob.set)(self, value).map_err(|reason| KnobError::Value {
                name: knob.name,
                value: value.to_owned(),
                reason,
                values: knob.values,
            })?;
        }
        self.check().map_err(KnobError::Together)
    }

    /// Whether the knobs go together.
    fn check(&self) -> Result<(), String> {
        self.congestion.check().map_err(|error| error.to_string())?;
        if self.saved_window.is_some() != self.saved_rtt.is_some() {
            return Err("saved-window and saved-rtt go together: set both or none".to_owned());
        }
        let resumes = self.saved_window.is_some() || self.remember.is_some();
        if resumes && self.pacing != Pacing::Controller {
            return Err("Careful Resume needs pacing=on, which spreads what it sends".to_owned());
        }
        Ok(())
    }
}

impl FromStr for Config {
    type Err = KnobError;

    /// The defaults, and knobs set.
    fn from_str(knobs: &str) -> Result<Self, KnobError> {
        let mut config = Self::default();
        config.set(knobs)?;
        Ok(config)
    }
}

/// A table of all knobs for `--help`.
#[must_use]
pub fn help() -> String {
    KNOBS
        .iter()
        .map(|knob| format!("  {}={{{}}}\n      {}\n", knob.name, knob.values, knob.meaning))
        .collect()
}

fn names() -> String {
    KNOBS.iter().map(|knob| knob.name).collect::<Vec<_>>().join(", ")
}

fn parse<T: FromStr<Err: fmt::Display>>(value: &str) -> Result<T, String> {
    value.parse().map_err(|error: T::Err| error.to_string())
}

fn assign<T: FromStr<Err: fmt::Display>>(place: &mut T, value: &str) -> Result<(), String> {
    *place = parse(value)?;
    Ok(())
}

fn optional<T: FromStr<Err: fmt::Display>>(
    place: &mut Option<T>,
    value: &str,
) -> Result<(), String> {
    *place = if value == "none" { None } else { Some(parse(value)?) };
    Ok(())
}

fn within<T: FromStr<Err: fmt::Display> + PartialOrd>(
    place: &mut T,
    value: &str,
    range: std::ops::RangeInclusive<T>,
) -> Result<(), String> {
    let parsed = parse(value)?;
    if !range.contains(&parsed) {
        return Err("out of range".to_owned());
    }
    *place = parsed;
    Ok(())
}

fn time(place: &mut Duration, value: &str) -> Result<(), String> {
    *place = parse_time(value)?;
    Ok(())
}

fn optional_time(place: &mut Option<Duration>, value: &str) -> Result<(), String> {
    *place = if value == "none" { None } else { Some(parse_time(value)?) };
    Ok(())
}

fn parse_time(value: &str) -> Result<Duration, String> {
    let units = [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let (number, seconds) = units
        .iter()
        .find_map(|(unit, seconds)| Some((value.strip_suffix(unit)?, seconds)))
        .ok_or("no unit")?;
    let number: f64 = parse(number)?;
    Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())
}

fn parse_rate(value: &str) -> Result<Rate, String> {
    let number: f64 = parse(value.strip_suffix("Mbit/s").ok_or("no unit")?)?;
    if !(number > 0.0 && number.is_finite()) {
        return Err("not above zero".to_owned());
    }
    Ok(Rate::from_bytes_per_second((number * 125_000.0) as u64))
}

fn parse_switch(value: &str) -> Result<bool, String> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("neither".to_owned()),
    }
}

fn ack_frequency(config: &Config) -> AckFrequency {
    config.ack_frequency.unwrap_or(AckFrequency { ack_eliciting_threshold: 1, max_ack_delay: None })
}

#[cfg(test)]
mod tests {
    use headway_congestion::{Algorithm, Saved, WindowSize};

    use super::*;

    #[test]
    fn knobs_are_set() {
        let knobs = "congestion-control=bbr,initial-window=32,pacing=2.5Mbit/s,cpu-per-sent=20us,\
                     max-ack-delay=50ms,time-threshold=3,max-window=none";
        let config: Config = knobs.parse().expect("all are right");
        assert_eq!(config.congestion.algorithm, Algorithm::Bbr);
        assert_eq!(config.congestion.initial_window, WindowSize::Packets(32));
        assert_eq!(config.pacing, Pacing::Fixed(Rate::from_bytes_per_second(312_500)));
        assert_eq!(config.cpu_cost.per_sent, Duration::from_micros(20));
        let asked = config.ack_frequency.expect("it is asked for");
        assert_eq!(asked.max_ack_delay, Some(Duration::from_millis(50)));
        assert_eq!(asked.ack_eliciting_threshold, 1);
    }

    #[test]
    fn a_saved_path_is_in_bytes() {
        let saved = |knobs: &str| knobs.parse::<Config>().expect("all are right").saved();
        let path = Saved { window: 1_450_000, rtt: Duration::from_millis(580) };
        assert_eq!(saved("saved-window=1450000B,saved-rtt=580ms"), Some(path));
        let path = Saved { window: 1_472_000, ..path };
        assert_eq!(saved("saved-window=1000,saved-rtt=0.58s,max-udp-payload=1472"), Some(path));
        assert_eq!(saved("saved-window=none,saved-rtt=none"), None);
        let config: Config = "remember=10s,remember=off".parse().expect("all are right");
        assert_eq!(config.remember, None);
    }

    #[test]
    fn defaults_stay() {
        let config: Config = "".parse().expect("nothing is right");
        assert_eq!(config.packet_threshold, Config::default().packet_threshold);
    }

    #[test]
    fn what_is_wrong_is_told() {
        let error = |knobs: &str| knobs.parse::<Config>().expect_err("wrong").to_string();
        assert!(error("cc=cubic").contains("congestion-control"));
        assert!(error("pacing").contains("name=value"));
        assert!(error("pacing=fast").contains("10Mbit/s"));
        assert!(error("max-udp-payload=100").contains("out of range"));
        assert!(error("congestion-control=vegas").contains("newreno"));
        assert!(error("congestion-control=bbr,emulated-connections=2").contains("bbr"));
        assert!(error("idle-timeout=30").contains("no unit"));
        assert!(error("saved-window=1208").contains("saved-rtt"));
        assert!(error("saved-window=1208,saved-rtt=580ms,pacing=off").contains("pacing=on"));
        assert!(error("remember=60s,pacing=10Mbit/s").contains("pacing=on"));
    }
}
