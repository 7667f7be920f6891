//! Connections that are about to begin.

use std::net::{IpAddr, SocketAddr};

use quinn_proto::Side;

use crate::trace::{Subject, TraceFailed};

/// A client that wants to connect. It waits until it is accepted or refused.
#[derive(Debug)]
pub struct Incoming(pub(super) quinn_proto::Incoming);

impl Incoming {
    /// Where it is.
    #[must_use]
    pub fn remote_address(&self) -> SocketAddr {
        self.0.remote_address()
    }

    /// Which of this host's addresses it wants to connect to.
    #[must_use]
    pub fn local_ip(&self) -> Option<IpAddr> {
        self.0.local_ip()
    }

    /// Whether it has shown that it receives what is sent to its address (RFC 9000 section 8.1): it has
    /// sent the token of a Retry, or one that it was given on an earlier connection.
    #[must_use]
    pub fn is_validated(&self) -> bool {
        self.0.remote_address_validated()
    }

    pub(super) fn subject(&self) -> Subject {
        Subject {
            side: Side::Server,
            original_cid: *self.0.orig_dst_cid(),
            local: self.local_ip(),
            remote: self.remote_address(),
        }
    }
}

/// A connection could not be begun.
#[derive(Debug, thiserror::Error)]
pub enum ConnectFailed {
    /// The address or the name is none that can be connected to.
    #[error("cannot connect: {0}")]
    Impossible(#[from] quinn_proto::ConnectError),
    /// Its traces cannot be written.
    #[error("cannot connect: {0}")]
    Trace(#[from] TraceFailed),
}

/// A client could not be accepted.
#[derive(Debug, thiserror::Error)]
pub enum AcceptFailed {
    /// Its first packet was no good, or it took too long.
    #[error("cannot accept a connection: {0}")]
    Impossible(quinn_proto::ConnectionError),
    /// Its traces cannot be written.
    #[error("cannot accept a connection: {0}")]
    Trace(#[from] TraceFailed),
}
