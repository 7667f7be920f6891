//! What clients may take: names, units, defaults, and what contradicts itself.

use std::time::Duration;

use headway_http::limits::Limits as Rates;
use headway_knobs::limits::{self, Limit, Place, in_order};
use headway_knobs::newcomers::{self, Newcomers};
use headway_reactor::Memory;

/// What clients may take of the server; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// Before the server knows them.
    pub(crate) newcomers: Newcomers,
    /// From the end of the handshake, or a request's first byte, to the end of its head.
    pub(crate) header_time: Option<Duration>,
    /// Without a request, and without progress of a response.
    pub(crate) idle_time: Option<Duration>,
    /// What clients may make the server keep.
    pub(crate) memory: Memory,
    /// Requests of a connection that are answered before others have their turn.
    pub(crate) requests_per_turn: Option<u32>,
    /// What may come how often.
    pub(crate) rates: Rates,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            newcomers: Newcomers::usual(450),
            header_time: Some(Duration::from_secs(20)),
            idle_time: Some(Duration::from_secs(60)),
            memory: Memory { of_all: Some(64_000_000), of_each: Some(16_000_000) },
            requests_per_turn: Some(16),
            rates: Rates::default(),
        }
    }
}

impl limits::Limits for Limits {
    const OFF: Self = Self {
        newcomers: Newcomers::OFF,
        header_time: None,
        idle_time: None,
        memory: Memory { of_all: None, of_each: None },
        requests_per_turn: None,
        rates: Rates::OFF,
    };

    const ALL: &'static [Limit<Self>] = &[
        newcomers::handshake_time(),
        Limit {
            name: "header-time",
            meaning: "from there, or from a request's first byte, to the end of its head",
            place: |limits| Place::Time(&mut limits.header_time),
        },
        Limit {
            name: "idle-time",
            meaning: "without a request, or without progress of any response",
            place: |limits| Place::Time(&mut limits.idle_time),
        },
        newcomers::connections_per_address(),
        newcomers::half_open_share(),
        newcomers::first_streams(),
        Limit {
            name: "memory",
            meaning: "all that clients make the server keep; above it the connection ends for which it \
                      keeps the most",
            place: |limits| Place::Bytes(&mut limits.memory.of_all),
        },
        Limit {
            name: "connection-memory",
            meaning: "the same of a connection, of which half may be content that was sent over QUIC and is \
                      not acknowledged",
            place: |limits| Place::Bytes(&mut limits.memory.of_each),
        },
        Limit {
            name: "requests-per-turn",
            meaning: "requests of a connection answered before others have their turn",
            place: |limits| Place::Count(&mut limits.requests_per_turn),
        },
        Limit {
            name: "resets-per-second",
            meaning: "requests of a connection given up, by either side",
            place: |limits| Place::Count(&mut limits.rates.resets_per_second),
        },
        Limit {
            name: "settings-per-second",
            meaning: "SETTINGS of an HTTP/2 connection",
            place: |limits| Place::Count(&mut limits.rates.settings_per_second),
        },
        Limit {
            name: "pings-per-second",
            meaning: "PING of an HTTP/2 connection",
            place: |limits| Place::Count(&mut limits.rates.pings_per_second),
        },
    ];

    fn check(&self) -> Result<(), String> {
        in_order(("header-time", self.header_time), ("idle-time", self.idle_time))
    }
}

impl AsMut<Newcomers> for Limits {
    fn as_mut(&mut self) -> &mut Newcomers {
        &mut self.newcomers
    }
}

#[cfg(test)]
mod tests {
    use headway_knobs::limits::Limits as _;

    use super::*;

    #[test]
    fn each_limit_has_its_place() {
        let limits = Limits::parse(
            "handshake-time=1s,header-time=2s,idle-time=3s,connections-per-address=4,half-open-share=5%,\
             first-streams=6,memory=7kB,connection-memory=6kB,requests-per-turn=8,resets-per-second=9,\
             settings-per-second=10,pings-per-second=11",
        );
        let expected = Limits {
            newcomers: Newcomers {
                handshake_time: Some(Duration::from_secs(1)),
                connections_per_address: Some(4),
                half_open_percent: Some(5),
                first_streams: Some(6),
            },
            header_time: Some(Duration::from_secs(2)),
            idle_time: Some(Duration::from_secs(3)),
            memory: Memory { of_all: Some(7000), of_each: Some(6000) },
            requests_per_turn: Some(8),
            rates: Rates {
                resets_per_second: Some(9),
                settings_per_second: Some(10),
                pings_per_second: Some(11),
            },
        };
        assert_eq!(limits, Ok(expected));
    }

    #[test]
    fn contradictions_are_told() {
        let error = Limits::parse("header-time=61s").unwrap_err();
        assert!(error.contains("header-time=61s is longer than idle-time=60s"), "{error}");
    }
}
