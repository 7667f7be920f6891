//! Knobs of a QUIC endpoint by name, as programs take them from the command line and studies.

use std::fmt;
use std::str::FromStr;

use headway_congestion::Rate;
pub use headway_knobs::Knob;
use headway_knobs::{parse_rate, parse_time};

use crate::config::{AckFrequency, Config, Pacing};
use crate::tokens::Tokens;

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
        values: String,
    },
    /// The knobs do not go together.
    #[error("{0}")]
    Together(String),
}

/// All knobs.
#[must_use]
pub fn all() -> &'static [Knob] {
    headway_knobs::of("quic")
}

/// Sets a knob to a value that it takes.
fn assign(config: &mut Config, name: &str, value: &str) -> Result<(), String> {
    match name {
        "congestion-control" => config.congestion.algorithm = parse(value)?,
        "slow-start" => config.congestion.slow_start = Some(parse(value)?),
        "initial-window" => config.congestion.initial_window = parse(value)?,
        "max-window" => config.congestion.max_window = unless("none", value, parse)?,
        "initial-ssthresh" => {
            config.congestion.initial_ssthresh = unless("none", value, parse)?;
        }
        "emulated-connections" => config.congestion.connections = parse(value)?,
        "cubic-version" => config.congestion.cubic_version = parse(value)?,
        "hybla-rtt0" => config.congestion.hybla_rtt0 = parse_time(value)?,
        "linux-without" => config.congestion.linux_without = Some(parse(value)?),
        "pacing" => {
            config.pacing = match value {
                "on" => Pacing::Controller,
                "off" => Pacing::Off,
                rate => Pacing::Fixed(mbit_per_second(parse_rate(rate)?)),
            };
        }
        "max-burst" => config.max_burst = parse(value)?,
        "saved-window" => config.saved_window = unless("none", value, parse)?,
        "saved-rtt" => config.saved_rtt = unless("none", value, parse_time)?,
        "remember" => config.remember = unless("off", value, parse_time)?,
        "max-udp-payload" => config.max_udp_payload = parse(value)?,
        "probe-up-to" => config.probe_up_to = unless("none", value, parse)?,
        "packet-threshold" => config.packet_threshold = parse(value)?,
        "time-threshold" => config.time_threshold = parse(value)?,
        "initial-rtt" => config.initial_rtt = parse_time(value)?,
        "idle-timeout" => config.idle_timeout = parse_time(value)?,
        "stream-window" => config.stream_receive_window = parse(value)?,
        "connection-window" => config.receive_window = parse(value)?,
        "max-streams" => config.max_streams = parse(value)?,
        "migration" => config.migration = value == "on",
        "key-update" => config.key_update = unless("never", value, parse)?,
        "keep-tokens" => {
            config.tokens = if value == "on" { Tokens::kept() } else { Tokens::default() };
        }
        "ack-threshold" => {
            let threshold = unless("none", value, parse)?;
            config.ack_frequency = threshold.map(|ack_eliciting_threshold| AckFrequency {
                ack_eliciting_threshold,
                ..ack_frequency(config)
            });
        }
        "max-ack-delay" => {
            let max_ack_delay = Some(parse_time(value)?);
            config.ack_frequency = Some(AckFrequency { max_ack_delay, ..ack_frequency(config) });
        }
        "cpu-per-sent" => config.cpu_cost.per_sent = parse_time(value)?,
        "cpu-per-received" => config.cpu_cost.per_received = parse_time(value)?,
        _ => return Err("it is declared, and does nothing".to_owned()),
    }
    Ok(())
}

impl Config {
    /// Sets knobs: `name=value`, several separated by commas.
    ///
    /// # Errors
    /// A name that is none, or a value that it does not take.
    pub fn set(&mut self, knobs: &str) -> Result<(), KnobError> {
        for word in knobs.split(',').filter(|word| !word.is_empty()) {
            let (name, value) =
                word.split_once('=').ok_or_else(|| KnobError::Form(word.to_owned()))?;
            let knob = all()
                .iter()
                .find(|knob| knob.name == name)
                .ok_or_else(|| KnobError::Name { name: name.to_owned() })?;
            knob.check(value).and_then(|()| assign(self, name, value)).map_err(|reason| {
                let (value, values) = (value.to_owned(), knob.values());
                KnobError::Value { name: knob.name, value, reason, values }
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
        if let Some(most) = self.probe_up_to.filter(|&most| most <= self.max_udp_payload) {
            return Err(format!(
                "probe-up-to={most} leaves nothing to be found above max-udp-payload={}",
                self.max_udp_payload
            ));
        }
        let resumes = self.saved_window.is_some() || self.remember.is_some();
        if resumes {
            self.congestion.check_resuming().map_err(|error| error.to_string())?;
        }
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
    all()
        .iter()
        .map(|knob| {
            let default = knob.default.unwrap_or("its own");
            format!(
                "  {}={{{}}}\n      {} (default {default})\n",
                knob.name,
                knob.values(),
                knob.meaning
            )
        })
        .collect()
}

fn names() -> String {
    all().iter().map(|knob| knob.name).collect::<Vec<_>>().join(", ")
}

fn parse<T: FromStr<Err: fmt::Display>>(value: &str) -> Result<T, String> {
    value.parse().map_err(|error: T::Err| error.to_string())
}

/// None if the value is this word.
fn unless<T>(
    word: &str,
    value: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    if value == word { Ok(None) } else { read(value).map(Some) }
}

fn mbit_per_second(rate: f64) -> Rate {
    Rate::from_bytes_per_second((rate * 125_000.0) as u64)
}

fn ack_frequency(config: &Config) -> AckFrequency {
    config.ack_frequency.unwrap_or(AckFrequency { ack_eliciting_threshold: 1, max_ack_delay: None })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
    fn defaults_are_those_declared() {
        let declared: String = all()
            .iter()
            .filter_map(|knob| Some(format!("{}={},", knob.name, knob.default?)))
            .collect();
        let config: Config = declared.parse().expect("defaults are right");
        assert_eq!(format!("{config:?}"), format!("{:?}", Config::default()));
    }

    /// A knob and a value of it other than the default.
    fn stated(knob: &Knob) -> Vec<String> {
        let example = match knob.name {
            "initial-ssthresh" | "max-window" => Some("100"),
            "emulated-connections" => Some("4"),
            "hybla-rtt0" => Some("10ms"),
            _ => None,
        };
        let words = knob.words.iter().copied().filter(|word| *word != "none");
        words.chain(example).map(str::to_owned).collect()
    }

    #[test]
    fn controllers_are_those_declared() {
        let declared = headway_knobs::find("quic", "congestion-control").words.clone();
        let names: Vec<_> = Algorithm::all().into_iter().map(|(name, _)| name).collect();
        let sorted = |mut names: Vec<&'static str>| {
            names.sort_unstable();
            names
        };
        assert_eq!(sorted(declared), sorted(names));
    }

    #[test]
    fn each_controller_has_the_knobs_that_are_declared_to_be_its_own() {
        for (name, algorithm) in Algorithm::all() {
            if matches!(algorithm, Algorithm::Own(_)) {
                continue;
            }
            let called = if name == "newreno" { "reno" } else { name };
            for knob in all().iter().filter(|knob| !knob.controls.is_empty()) {
                for value in stated(knob) {
                    let controls = knob.controls_of.get(&value[..]).unwrap_or(&knob.controls);
                    let is_default = knob.default == Some(&value[..]);
                    let words = format!("congestion-control={name},{}={value}", knob.name);
                    let has = words.parse::<Config>().is_ok();
                    assert_eq!(has, controls.contains(&called) || is_default, "{words}");
                }
            }
            let resumes = |words: &str| {
                format!("congestion-control={name},{words}").parse::<Config>().is_ok()
            };
            for (knob, words) in
                [("saved-rtt", "saved-window=1208,saved-rtt=580ms"), ("remember", "remember=60s")]
            {
                let controls = &headway_knobs::find("quic", knob).controls;
                assert_eq!(resumes(words), controls.contains(&called), "{name}: {words}");
            }
        }
    }

    #[test]
    fn every_knob_changes_the_configuration() {
        let default = format!("{:?}", Config::default());
        for knob in all() {
            let value = match knob.name {
                "congestion-control" => "hybla",
                "slow-start" => "classic",
                "cubic-version" => "rfc8312",
                "linux-without" => "gaps",
                "pacing" | "migration" => "off",
                "keep-tokens" => "on",
                "probe-up-to" => "1472",
                "initial-rtt" | "hybla-rtt0" | "saved-rtt" | "remember" | "idle-timeout"
                | "max-ack-delay" | "cpu-per-sent" | "cpu-per-received" => "7ms",
                "max-udp-payload" => "1300",
                _ => "7",
            };
            let mut config = Config::default();
            assert_eq!(assign(&mut config, knob.name, value), Ok(()), "{}", knob.name);
            assert_ne!(format!("{config:?}"), default, "{}", knob.name);
        }
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
        assert!(
            error("congestion-control=bbr,initial-ssthresh=32").contains("no slow start threshold")
        );
        assert!(error("congestion-control=bbr,cubic-version=rfc8312").contains("only cubic"));
        assert!(error("congestion-control=cubic,hybla-rtt0=200ms").contains("only hybla"));
        assert!(error("congestion-control=hybla,hybla-rtt0=0ms").contains("hybla-rtt0"));
        assert!(error("idle-timeout=30").contains("a time has a unit"));
        assert!(error("probe-up-to=1200").contains("above max-udp-payload=1200"));
        assert!(error("saved-window=1208").contains("saved-rtt"));
        assert!(error("saved-window=1208,saved-rtt=580ms,pacing=off").contains("pacing=on"));
        assert!(error("remember=60s,pacing=10Mbit/s").contains("pacing=on"));
        assert!(error("slow-start=classic,congestion-control=bbr3").contains("leaves its startup"));
        assert!(
            error("slow-start=hystart++,congestion-control=linux-cubic")
                .contains("hystart and classic")
        );
        assert!(error("linux-without=gaps").contains("only linux-reno and linux-cubic"));
        assert!(error("remember=60s,congestion-control=linux-cubic").contains("Careful Resume"));
    }
}
