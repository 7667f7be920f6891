//! What clients may take: names, units, defaults, and what contradicts itself.

use std::time::Duration;

use headway_knobs::limits::{self, Limit, Place, in_order};
use headway_knobs::newcomers::{self, Newcomers};

/// What clients may take of the server; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// Before the server knows them.
    pub(crate) newcomers: Newcomers,
    /// From there to the end of the first flow's request.
    pub(crate) request_time: Option<Duration>,
    /// Without progress of any flow.
    pub(crate) idle_time: Option<Duration>,
    /// From a connection's begin to its end: what is told of a flow takes memory for each interval.
    pub(crate) connection_time: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            newcomers: Newcomers::usual(1000),
            request_time: Some(Duration::from_secs(20)),
            idle_time: Some(Duration::from_secs(60)),
            connection_time: Some(Duration::from_secs(3600)),
        }
    }
}

impl limits::Limits for Limits {
    const OFF: Self = Self {
        newcomers: Newcomers::OFF,
        request_time: None,
        idle_time: None,
        connection_time: None,
    };

    const ALL: &'static [Limit<Self>] = &[
        newcomers::handshake_time(),
        Limit {
            name: "request-time",
            meaning: "from there to the end of the first flow's request",
            place: |limits| Place::Time(&mut limits.request_time),
        },
        Limit {
            name: "idle-time",
            meaning: "without progress of any flow",
            place: |limits| Place::Time(&mut limits.idle_time),
        },
        Limit {
            name: "connection-time",
            meaning: "from a connection's begin to its end",
            place: |limits| Place::Time(&mut limits.connection_time),
        },
        newcomers::connections_per_address(),
        newcomers::half_open_share(),
        newcomers::first_streams(),
    ];

    fn check(&self) -> Result<(), String> {
        let whole = ("connection-time", self.connection_time);
        in_order(("handshake-time", self.newcomers.handshake_time), whole)?;
        in_order(("request-time", self.request_time), whole)?;
        in_order(("idle-time", self.idle_time), whole)
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
            "handshake-time=1s,request-time=2s,idle-time=3s,connection-time=4s,\
             connections-per-address=5,half-open-share=6%,first-streams=7",
        );
        let expected = Limits {
            newcomers: Newcomers {
                handshake_time: Some(Duration::from_secs(1)),
                connections_per_address: Some(5),
                half_open_percent: Some(6),
                first_streams: Some(7),
            },
            request_time: Some(Duration::from_secs(2)),
            idle_time: Some(Duration::from_secs(3)),
            connection_time: Some(Duration::from_secs(4)),
        };
        assert_eq!(limits, Ok(expected));
    }

    #[test]
    fn contradictions_are_told() {
        let error = Limits::parse("connection-time=30s").unwrap_err();
        assert!(error.contains("idle-time=60s is longer than connection-time=30s"), "{error}");
    }
}
