//! What clients may take: names, units, defaults, and what contradicts itself.

use std::time::Duration;

use headway_knobs::limits::{self, Limit, Place, in_order};

/// What clients may take of the server; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// From a connection's begin to the end of its handshake.
    pub(crate) handshake_time: Option<Duration>,
    /// From there to the end of the first flow's request.
    pub(crate) request_time: Option<Duration>,
    /// Without progress of any flow.
    pub(crate) idle_time: Option<Duration>,
    /// From a connection's begin to its end: what is told of a flow takes memory for each interval.
    pub(crate) connection_time: Option<Duration>,
    /// Connections of an address at a time.
    pub(crate) connections_per_address: Option<u32>,
    /// Share of `--max-connections` that may be in a QUIC handshake from addresses that nobody has
    /// validated.
    pub(crate) half_open_percent: Option<u32>,
    /// Flows at a time that a QUIC connection may begin with.
    pub(crate) first_streams: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            handshake_time: Some(Duration::from_secs(10)),
            request_time: Some(Duration::from_secs(20)),
            idle_time: Some(Duration::from_secs(60)),
            connection_time: Some(Duration::from_secs(3600)),
            connections_per_address: Some(1000),
            half_open_percent: Some(10),
            first_streams: Some(100),
        }
    }
}

impl limits::Limits for Limits {
    const OFF: Self = Self {
        handshake_time: None,
        request_time: None,
        idle_time: None,
        connection_time: None,
        connections_per_address: None,
        half_open_percent: None,
        first_streams: None,
    };

    const ALL: &'static [Limit<Self>] = &[
        Limit {
            name: "handshake-time",
            meaning: "from a connection's begin to the end of its handshake (10s)",
            place: |limits| Place::Time(&mut limits.handshake_time),
        },
        Limit {
            name: "request-time",
            meaning: "from there to the end of the first flow's request (20s)",
            place: |limits| Place::Time(&mut limits.request_time),
        },
        Limit {
            name: "idle-time",
            meaning: "without progress of any flow (60s)",
            place: |limits| Place::Time(&mut limits.idle_time),
        },
        Limit {
            name: "connection-time",
            meaning: "from a connection's begin to its end (3600s)",
            place: |limits| Place::Time(&mut limits.connection_time),
        },
        Limit {
            name: "connections-per-address",
            meaning: "connections of an address at a time (1000)",
            place: |limits| Place::Count(&mut limits.connections_per_address),
        },
        Limit {
            name: "half-open-share",
            meaning: "share of --max-connections that may be in a QUIC handshake without proof of \
                      their address; above it clients are sent a Retry (10%)",
            place: |limits| Place::Percent(&mut limits.half_open_percent),
        },
        Limit {
            name: "first-streams",
            meaning: "flows at a time that a QUIC connection may begin with, as each takes memory \
                      before it is made; once there were half as many, it may have all of \
                      max-streams (100)",
            place: |limits| Place::Count(&mut limits.first_streams),
        },
    ];

    fn check(&self) -> Result<(), String> {
        let whole = ("connection-time", self.connection_time);
        in_order(("handshake-time", self.handshake_time), whole)?;
        in_order(("request-time", self.request_time), whole)?;
        in_order(("idle-time", self.idle_time), whole)
    }
}

impl Limits {
    /// The shortest time of any, which is how often a connection has to be looked at.
    pub(crate) fn shortest_time(&self) -> Option<Duration> {
        let times = [self.handshake_time, self.request_time, self.idle_time, self.connection_time];
        times.into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use headway_knobs::limits::Limits as _;

    use super::*;

    #[test]
    fn each_limit_has_its_place() {
        let limits = Limits::parse(
            "handshake-time=1s,request-time=2s,idle-time=3s,connection-time=4s,\
             connections-per-address=5,half-open-share=6%,first-streams=7",
        );
        let expected = Limits {
            handshake_time: Some(Duration::from_secs(1)),
            request_time: Some(Duration::from_secs(2)),
            idle_time: Some(Duration::from_secs(3)),
            connection_time: Some(Duration::from_secs(4)),
            connections_per_address: Some(5),
            half_open_percent: Some(6),
            first_streams: Some(7),
        };
        assert_eq!(limits, Ok(expected));
    }

    #[test]
    fn contradictions_are_told() {
        let error = Limits::parse("connection-time=30s").unwrap_err();
        assert!(error.contains("idle-time=60s is longer than connection-time=30s"), "{error}");
    }
}
