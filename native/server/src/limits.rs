//! What clients may take: names, units, defaults, and what contradicts itself.

use std::time::Duration;

use headway_http::limits::Limits as Rates;

/// What clients may take of the server; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// From a connection's begin to the end of its handshake.
    pub(crate) handshake_time: Option<Duration>,
    /// From the end of the handshake, or a request's first byte, to the end of its head.
    pub(crate) header_time: Option<Duration>,
    /// Without a request, and without progress of a response.
    pub(crate) idle_time: Option<Duration>,
    /// Connections of an address at a time.
    pub(crate) connections_per_address: Option<u32>,
    /// Share of `--max-connections` that may be in a QUIC handshake from addresses that nobody has
    /// validated.
    pub(crate) half_open_percent: Option<u32>,
    /// Requests at a time that a QUIC connection may begin with.
    pub(crate) first_streams: Option<u32>,
    /// What all responses under way may take of memory, in bytes.
    pub(crate) response_bytes: Option<u64>,
    /// Requests of a connection that are answered before others have their turn.
    pub(crate) requests_per_turn: Option<u32>,
    /// What may come how often.
    pub(crate) rates: Rates,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handshake_time: Some(Duration::from_secs(10)),
            header_time: Some(Duration::from_secs(20)),
            idle_time: Some(Duration::from_secs(60)),
            connections_per_address: Some(450),
            half_open_percent: Some(10),
            first_streams: Some(100),
            response_bytes: Some(32_000_000),
            requests_per_turn: Some(16),
            rates: Rates::default(),
        }
    }
}

/// A limit's place among all of them.
enum Place<'a> {
    Time(&'a mut Option<Duration>),
    Count(&'a mut Option<u32>),
    Percent(&'a mut Option<u32>),
    Bytes(&'a mut Option<u64>),
}

struct Entry {
    name: &'static str,
    meaning: &'static str,
    place: fn(&mut Limits) -> Place<'_>,
}

const ENTRIES: [Entry; 11] = [
    Entry {
        name: "handshake-time",
        meaning: "from a connection's begin to the end of its handshake (10s)",
        place: |limits| Place::Time(&mut limits.handshake_time),
    },
    Entry {
        name: "header-time",
        meaning: "from there, or from a request's first byte, to the end of its head (20s)",
        place: |limits| Place::Time(&mut limits.header_time),
    },
    Entry {
        name: "idle-time",
        meaning: "without a request, or without progress of any response (60s)",
        place: |limits| Place::Time(&mut limits.idle_time),
    },
    Entry {
        name: "connections-per-address",
        meaning: "connections of an address at a time (450)",
        place: |limits| Place::Count(&mut limits.connections_per_address),
    },
    Entry {
        name: "half-open-share",
        meaning: "share of --max-connections that may be in a QUIC handshake without proof of their \
                  address; above it clients are sent a Retry (10%)",
        place: |limits| Place::Percent(&mut limits.half_open_percent),
    },
    Entry {
        name: "first-streams",
        meaning: "requests at a time that a QUIC connection may begin with, as each takes memory before \
                  it is made; once there were half as many, it may have all of --max-streams (100)",
        place: |limits| Place::Count(&mut limits.first_streams),
    },
    Entry {
        name: "response-memory",
        meaning: "what all responses under way take of memory; above it the connection with the most \
                  of them ends (32MB)",
        place: |limits| Place::Bytes(&mut limits.response_bytes),
    },
    Entry {
        name: "requests-per-turn",
        meaning: "requests of a connection answered before others have their turn (16)",
        place: |limits| Place::Count(&mut limits.requests_per_turn),
    },
    Entry {
        name: "resets-per-second",
        meaning: "requests of a connection given up, by either side (100)",
        place: |limits| Place::Count(&mut limits.rates.resets_per_second),
    },
    Entry {
        name: "settings-per-second",
        meaning: "SETTINGS of an HTTP/2 connection (10)",
        place: |limits| Place::Count(&mut limits.rates.settings_per_second),
    },
    Entry {
        name: "pings-per-second",
        meaning: "PING of an HTTP/2 connection (100)",
        place: |limits| Place::Count(&mut limits.rates.pings_per_second),
    },
];

impl Limits {
    /// No limits.
    pub(crate) const OFF: Self = Self {
        handshake_time: None,
        header_time: None,
        idle_time: None,
        connections_per_address: None,
        half_open_percent: None,
        first_streams: None,
        response_bytes: None,
        requests_per_turn: None,
        rates: Rates::OFF,
    };

    /// Those of the command line: `NAME=VALUE,...`; `off` switches all off that were not set after it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut limits = Self::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            if word == "off" {
                limits = Self::OFF;
                continue;
            }
            let (name, value) = word
                .split_once('=')
                .ok_or_else(|| format!("'{word}' is neither name=value nor off"))?;
            let entry = ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| {
                let names: Vec<_> = ENTRIES.iter().map(|entry| entry.name).collect();
                format!("no limit '{name}'; there are {}", names.join(", "))
            })?;
            set((entry.place)(&mut limits), value)
                .map_err(|why| format!("{name}={value}: {why}"))?;
        }
        limits.check()?;
        Ok(limits)
    }

    /// Whether they go together.
    fn check(&self) -> Result<(), String> {
        if let (Some(header), Some(idle)) = (self.header_time, self.idle_time) {
            if header > idle {
                return Err(format!(
                    "header-time={header:?} is longer than idle-time={idle:?}, which ends such a \
                     connection before"
                ));
            }
        }
        Ok(())
    }

    /// The shortest time of any, which is how often a connection has to be looked at.
    pub(crate) fn shortest_time(&self) -> Option<Duration> {
        [self.handshake_time, self.header_time, self.idle_time].into_iter().flatten().min()
    }

    /// A table of all for `--help`.
    pub(crate) fn help() -> String {
        let lines =
            ENTRIES.iter().map(|Entry { name, meaning, .. }| format!("  {name}: {meaning}\n"));
        format!(
            "Limits of what clients may take (--limits); NAME=off or off are none:\n{}",
            lines.collect::<String>()
        )
    }
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
    let units = [("ms", 1e-3), ("s", 1.0)];
    let unit =
        units.into_iter().find_map(|(unit, seconds)| Some((value.strip_suffix(unit)?, seconds)));
    let (number, seconds) = unit.ok_or("a time has a unit: 10s or 500ms")?;
    let number: f64 = number.parse().map_err(|_| "a time is a number with a unit: 10s or 500ms")?;
    let time = Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())?;
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

    #[test]
    fn limits_have_units_and_can_be_off() {
        let limits = Limits::parse("idle-time=90s,header-time=500ms,half-open-share=0%").unwrap();
        assert_eq!(limits.idle_time, Some(Duration::from_secs(90)));
        assert_eq!(limits.header_time, Some(Duration::from_millis(500)));
        assert_eq!(limits.half_open_percent, Some(0));
        let sizes = Limits::parse("response-memory=500kB").unwrap();
        assert_eq!(sizes.response_bytes, Some(500_000));
        assert_eq!(limits.handshake_time, Limits::default().handshake_time);
        assert_eq!(Limits::parse("off"), Ok(Limits::OFF));
        let only = Limits::parse("off,pings-per-second=7").unwrap();
        assert_eq!(only.rates.pings_per_second, Some(7));
        assert_eq!(Limits::parse("pings-per-second=off,off,pings-per-second=7"), Ok(only));
        assert!(ENTRIES.iter().all(|entry| Limits::help().contains(entry.name)));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, why) in [
            ("idle", "neither name=value nor off"),
            ("idle=3s", "no limit 'idle'; there are handshake-time"),
            ("idle-time=3", "has a unit"),
            ("idle-time=xs", "a number with a unit"),
            ("idle-time=0s", "off is no limit"),
            ("connections-per-address=-1", "a whole number"),
            ("half-open-share=101%", "from 0% to 100%"),
            ("response-memory=32", "with a unit, as 32MB"),
            ("header-time=61s", "header-time=61s is longer than idle-time=60s"),
        ] {
            let error = Limits::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
