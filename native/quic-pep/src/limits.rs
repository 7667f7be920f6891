//! What clients may take: names, units, defaults, and what contradicts itself.

use std::time::Duration;

use headway_knobs::limits::{self, Limit, Place, in_order};
use headway_reactor::Memory;

/// What clients may take of a proxy; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// From a client's acceptance to the end of its handshake.
    pub handshake_time: Option<Duration>,
    /// Without a byte of a stream or a new one.
    pub idle_time: Option<Duration>,
    /// Clients of an address at a time.
    pub connections_per_address: Option<u32>,
    /// Share of the clients at a time that may be in a handshake from addresses that nobody has
    /// validated.
    pub half_open_percent: Option<u32>,
    /// Streams at a time that a client may begin with.
    pub first_streams: Option<u32>,
    /// What clients and their servers may make the proxy keep.
    pub memory: Memory,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handshake_time: Some(Duration::from_secs(10)),
            idle_time: Some(Duration::from_secs(600)),
            connections_per_address: Some(450),
            half_open_percent: Some(10),
            first_streams: Some(100),
            memory: Memory { of_all: Some(256_000_000), of_each: Some(64_000_000) },
        }
    }
}

impl limits::Limits for Limits {
    const OFF: Self = Self {
        handshake_time: None,
        idle_time: None,
        connections_per_address: None,
        half_open_percent: None,
        first_streams: None,
        memory: Memory { of_all: None, of_each: None },
    };

    const ALL: &'static [Limit<Self>] = &[
        Limit {
            name: "handshake-time",
            meaning: "from a client's acceptance to the end of its handshake (10s)",
            place: |limits| Place::Time(&mut limits.handshake_time),
        },
        Limit {
            name: "idle-time",
            meaning: "without a byte of a stream or a new one (600s)",
            place: |limits| Place::Time(&mut limits.idle_time),
        },
        Limit {
            name: "connections-per-address",
            meaning: "clients of an address at a time (450)",
            place: |limits| Place::Count(&mut limits.connections_per_address),
        },
        Limit {
            name: "half-open-share",
            meaning: "share of --max-clients that may be in a handshake without proof of their \
                      address; above it clients are sent a Retry (10%)",
            place: |limits| Place::Percent(&mut limits.half_open_percent),
        },
        Limit {
            name: "first-streams",
            meaning: "streams at a time that a client may begin with, as each takes memory before it \
                      is opened; once there were half as many, it may have all of max-streams (100)",
            place: |limits| Place::Count(&mut limits.first_streams),
        },
        Limit {
            name: "memory",
            meaning: "all that clients and their servers make the proxy keep; above it the client ends for \
                      which it keeps the most (256MB)",
            place: |limits| Place::Bytes(&mut limits.memory.of_all),
        },
        Limit {
            name: "connection-memory",
            meaning: "the same of a client and its server, of which half may be data that was sent to either \
                      and is not acknowledged (64MB)",
            place: |limits| Place::Bytes(&mut limits.memory.of_each),
        },
    ];

    fn check(&self) -> Result<(), String> {
        in_order(("handshake-time", self.handshake_time), ("idle-time", self.idle_time))
    }
}

impl Limits {
    /// The shortest time of any, which is how often a client has to be looked at.
    pub(crate) fn shortest_time(&self) -> Option<Duration> {
        [self.handshake_time, self.idle_time].into_iter().flatten().min()
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
            handshake_time: Some(Duration::from_secs(1)),
            idle_time: Some(Duration::from_secs(2)),
            connections_per_address: Some(3),
            half_open_percent: Some(4),
            first_streams: Some(5),
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
