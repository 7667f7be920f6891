//! What clients may take: names, units, defaults, and what contradicts itself.

use std::time::Duration;

use headway_knobs::limits::{self, Limit, Place, in_order};
use headway_knobs::newcomers::{self, Newcomers};
use headway_reactor::Memory;

/// What clients may take of a proxy; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Before the server knows them.
    pub newcomers: Newcomers,
    /// Without a byte of a stream or a new one.
    pub idle_time: Option<Duration>,
    /// What clients and their servers may make the proxy keep.
    pub memory: Memory,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            newcomers: Newcomers::usual(450),
            idle_time: Some(Duration::from_secs(600)),
            memory: Memory { of_all: Some(256_000_000), of_each: Some(64_000_000) },
        }
    }
}

impl limits::Limits for Limits {
    const OFF: Self = Self {
        newcomers: Newcomers::OFF,
        idle_time: None,
        memory: Memory { of_all: None, of_each: None },
    };

    const ALL: &'static [Limit<Self>] = &[
        newcomers::handshake_time(),
        Limit {
            name: "idle-time",
            meaning: "without a byte of a stream or a new one",
            place: |limits| Place::Time(&mut limits.idle_time),
        },
        newcomers::connections_per_address(),
        newcomers::half_open_share(),
        newcomers::first_streams(),
        Limit {
            name: "memory",
            meaning: "all that clients and their servers make the proxy keep; above it the client ends for \
                      which it keeps the most",
            place: |limits| Place::Bytes(&mut limits.memory.of_all),
        },
        Limit {
            name: "connection-memory",
            meaning: "the same of a client and its server, of which half may be data that was sent to either \
                      and is not acknowledged",
            place: |limits| Place::Bytes(&mut limits.memory.of_each),
        },
    ];

    fn check(&self) -> Result<(), String> {
        in_order(("handshake-time", self.newcomers.handshake_time), ("idle-time", self.idle_time))
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
            "handshake-time=1s,idle-time=2s,connections-per-address=3,half-open-share=4%,\
             first-streams=5,memory=6kB,connection-memory=7kB",
        );
        let expected = Limits {
            newcomers: Newcomers {
                handshake_time: Some(Duration::from_secs(1)),
                connections_per_address: Some(3),
                half_open_percent: Some(4),
                first_streams: Some(5),
            },
            idle_time: Some(Duration::from_secs(2)),
            memory: Memory { of_all: Some(6000), of_each: Some(7000) },
        };
        assert_eq!(limits, Ok(expected));
    }

    #[test]
    fn contradictions_are_told() {
        let error = Limits::parse("idle-time=5s").unwrap_err();
        assert!(error.contains("handshake-time=10s is longer than idle-time=5s"), "{error}");
    }
}
