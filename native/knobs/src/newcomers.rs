//! Limits of what clients may take of a server before it knows any of them better.

use std::time::Duration;

use crate::limits::{Limit, Place};

/// What newcomers may take, as every server of QUIC limits it; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newcomers {
    /// From a connection's begin to the end of its handshake.
    pub handshake_time: Option<Duration>,
    /// Connections of an address at a time.
    pub connections_per_address: Option<u32>,
    /// Share of all connections at a time that may be in a QUIC handshake from addresses that
    /// nobody has validated.
    pub half_open_percent: Option<u32>,
    /// Streams at a time that a QUIC connection may begin with.
    pub first_streams: Option<u32>,
}

impl Newcomers {
    /// None of them.
    pub const OFF: Self = Self {
        handshake_time: None,
        connections_per_address: None,
        half_open_percent: None,
        first_streams: None,
    };

    /// The defaults, beside that of `connections_per_address`.
    #[must_use]
    pub const fn usual(connections_per_address: u32) -> Self {
        Self {
            handshake_time: Some(Duration::from_secs(10)),
            connections_per_address: Some(connections_per_address),
            half_open_percent: Some(10),
            first_streams: Some(100),
        }
    }

    /// Whether as many connections are half open as may be.
    ///
    /// # Arguments
    /// * `most` - connections at a time.
    #[must_use]
    pub fn is_crowded(&self, half_open: usize, most: usize) -> bool {
        self.half_open_percent
            .is_some_and(|percent| half_open >= most.saturating_mul(percent as usize) / 100)
    }
}

/// `handshake-time`.
#[must_use]
pub const fn handshake_time<L: AsMut<Newcomers>>() -> Limit<L> {
    Limit {
        name: "handshake-time",
        meaning: "from a connection's begin to the end of its handshake",
        place: |limits| Place::Time(&mut limits.as_mut().handshake_time),
    }
}

/// `connections-per-address`.
#[must_use]
pub const fn connections_per_address<L: AsMut<Newcomers>>() -> Limit<L> {
    Limit {
        name: "connections-per-address",
        meaning: "connections of an address at a time",
        place: |limits| Place::Count(&mut limits.as_mut().connections_per_address),
    }
}

/// `half-open-share`.
#[must_use]
pub const fn half_open_share<L: AsMut<Newcomers>>() -> Limit<L> {
    Limit {
        name: "half-open-share",
        meaning: "share of all connections that there may be: so many may be in a QUIC handshake without \
                  proof of their address; above it clients are sent a Retry",
        place: |limits| Place::Percent(&mut limits.as_mut().half_open_percent),
    }
}

/// `first-streams`.
#[must_use]
pub const fn first_streams<L: AsMut<Newcomers>>() -> Limit<L> {
    Limit {
        name: "first-streams",
        meaning: "streams at a time that a QUIC connection may begin with, as each takes memory before \
                  it is opened; once there were half as many, it may have all of max-streams",
        place: |limits| Place::Count(&mut limits.as_mut().first_streams),
    }
}
