//! What clients may take: names, units, defaults, and what contradicts itself.

use std::time::Duration;

use headway_http::limits::Limits as Rates;
use headway_knobs::limits::{self, Limit, Place, in_order};
use headway_reactor::Memory;

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
            handshake_time: Some(Duration::from_secs(10)),
            header_time: Some(Duration::from_secs(20)),
            idle_time: Some(Duration::from_secs(60)),
            connections_per_address: Some(450),
            half_open_percent: Some(10),
            first_streams: Some(100),
            memory: Memory { of_all: Some(64_000_000), of_each: Some(16_000_000) },
            requests_per_turn: Some(16),
            rates: Rates::default(),
        }
    }
}

impl limits::Limits for Limits {
    const OFF: Self = Self {
        handshake_time: None,
        header_time: None,
        idle_time: None,
        connections_per_address: None,
        half_open_percent: None,
        first_streams: None,
        memory: Memory { of_all: None, of_each: None },
        requests_per_turn: None,
        rates: Rates::OFF,
    };

    const ALL: &'static [Limit<Self>] = &[
        Limit {
            name: "handshake-time",
            meaning: "from a connection's begin to the end of its handshake (10s)",
            place: |limits| Place::Time(&mut limits.handshake_time),
        },
        Limit {
            name: "header-time",
            meaning: "from there, or from a request's first byte, to the end of its head (20s)",
            place: |limits| Place::Time(&mut limits.header_time),
        },
        Limit {
            name: "idle-time",
            meaning: "without a request, or without progress of any response (60s)",
            place: |limits| Place::Time(&mut limits.idle_time),
        },
        Limit {
            name: "connections-per-address",
            meaning: "connections of an address at a time (450)",
            place: |limits| Place::Count(&mut limits.connections_per_address),
        },
        Limit {
            name: "half-open-share",
            meaning: "share of --max-connections that may be in a QUIC handshake without proof of their \
                      address; above it clients are sent a Retry (10%)",
            place: |limits| Place::Percent(&mut limits.half_open_percent),
        },
        Limit {
            name: "first-streams",
            meaning: "requests at a time that a QUIC connection may begin with, as each takes memory before \
                      it is made; once there were half as many, it may have all of --max-streams (100)",
            place: |limits| Place::Count(&mut limits.first_streams),
        },
        Limit {
            name: "memory",
            meaning: "all that clients make the server keep; above it the connection ends for which it \
                      keeps the most (64MB)",
            place: |limits| Place::Bytes(&mut limits.memory.of_all),
        },
        Limit {
            name: "connection-memory",
            meaning: "the same of a connection, of which half may be content that was sent over QUIC and is \
                      not acknowledged (16MB)",
            place: |limits| Place::Bytes(&mut limits.memory.of_each),
        },
        Limit {
            name: "requests-per-turn",
            meaning: "requests of a connection answered before others have their turn (16)",
            place: |limits| Place::Count(&mut limits.requests_per_turn),
        },
        Limit {
            name: "resets-per-second",
            meaning: "requests of a connection given up, by either side (100)",
            place: |limits| Place::Count(&mut limits.rates.resets_per_second),
        },
        Limit {
            name: "settings-per-second",
            meaning: "SETTINGS of an HTTP/2 connection (10)",
            place: |limits| Place::Count(&mut limits.rates.settings_per_second),
        },
        Limit {
            name: "pings-per-second",
            meaning: "PING of an HTTP/2 connection (100)",
            place: |limits| Place::Count(&mut limits.rates.pings_per_second),
        },
    ];

    fn check(&self) -> Result<(), String> {
        in_order(("header-time", self.header_time), ("idle-time", self.idle_time))
    }
}

impl Limits {
    /// The shortest time of any, which is how often a connection has to be looked at.
    pub(crate) fn shortest_time(&self) -> Option<Duration> {
        [self.handshake_time, self.header_time, self.idle_time].into_iter().flatten().min()
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
            handshake_time: Some(Duration::from_secs(1)),
            header_time: Some(Duration::from_secs(2)),
            idle_time: Some(Duration::from_secs(3)),
            connections_per_address: Some(4),
            half_open_percent: Some(5),
            first_streams: Some(6),
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
