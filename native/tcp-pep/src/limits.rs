//! What clients may take: names, units, defaults, and what contradicts itself.

use std::time::Duration;

use headway_knobs::limits::{self, Limit, Place, in_order};

/// What waits in one direction of a connection, at most.
pub(crate) const VESSEL_BYTES: usize = 256 << 10;

/// What clients may take of the proxy; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    /// From a client's connection to the server's.
    pub(crate) connect_time: Option<Duration>,
    /// Without a byte in either direction.
    pub(crate) idle_time: Option<Duration>,
    /// Connections of an address at a time.
    pub(crate) connections_per_address: Option<u32>,
    /// What has come from one half and waits for the other, of all connections, in bytes.
    pub(crate) relay_bytes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect_time: Some(Duration::from_secs(30)),
            // RFC 5382 section 5: two hours and four minutes, at least.
            idle_time: Some(Duration::from_secs(7440)),
            connections_per_address: Some(1000),
            relay_bytes: Some(64_000_000),
        }
    }
}

impl limits::Limits for Limits {
    const OFF: Self = Self {
        connect_time: None,
        idle_time: None,
        connections_per_address: None,
        relay_bytes: None,
    };

    const ALL: &'static [Limit<Self>] = &[
        Limit {
            name: "connect-time",
            meaning: "from a client's connection to the server's",
            place: |limits| Place::Time(&mut limits.connect_time),
        },
        Limit {
            name: "idle-time",
            meaning: "without a byte in either direction",
            place: |limits| Place::Time(&mut limits.idle_time),
        },
        Limit {
            name: "connections-per-address",
            meaning: "connections of an address at a time",
            place: |limits| Place::Count(&mut limits.connections_per_address),
        },
        Limit {
            name: "relay-memory",
            meaning: "what has come from one half and waits for the other, of all connections, \
                      counted as 262144 bytes for each direction in which something waits; above \
                      it the connection ends that has waited for the longest",
            place: |limits| Place::Bytes(&mut limits.relay_bytes),
        },
    ];

    fn check(&self) -> Result<(), String> {
        let idle = ("idle-time", self.idle_time);
        in_order(("connect-time", self.connect_time), idle)?;
        match self.relay_bytes.filter(|&bytes| bytes < VESSEL_BYTES as u64) {
            Some(bytes) => Err(format!(
                "relay-memory={bytes} bytes are less than the {VESSEL_BYTES} of one direction"
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use headway_knobs::limits::Limits as _;

    use super::*;

    #[test]
    fn each_limit_has_its_place() {
        let limits = Limits::parse(
            "connect-time=1s,idle-time=2s,connections-per-address=3,relay-memory=400kB",
        );
        let expected = Limits {
            connect_time: Some(Duration::from_secs(1)),
            idle_time: Some(Duration::from_secs(2)),
            connections_per_address: Some(3),
            relay_bytes: Some(400_000),
        };
        assert_eq!(limits, Ok(expected));
    }

    #[test]
    fn contradictions_are_told() {
        let error = Limits::parse("idle-time=5s").unwrap_err();
        assert!(error.contains("connect-time=30s is longer than idle-time=5s"), "{error}");
        let error = Limits::parse("relay-memory=100kB").unwrap_err();
        assert!(error.contains("100000 bytes are less than the 262144"), "{error}");
    }
}
