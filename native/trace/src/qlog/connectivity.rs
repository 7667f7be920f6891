//! Events of the connection as a whole, and of its paths.

use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use super::Qlog;
use super::json::Members;

/// Which end something is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The one that writes the trace.
    Local,
    /// Its peer.
    Remote,
}

impl Owner {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Remote => "remote",
        }
    }
}

/// With which code a connection was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseCode {
    /// A transport error code (RFC 9000 section 20.1).
    Transport(u64),
    /// The application's error code.
    Application(u64),
    /// None, as it timed out or was reset.
    None,
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseTrigger {
    /// It was no longer needed.
    Clean,
    /// It was not set up in time.
    HandshakeTimeout,
    /// Nothing was received for too long.
    IdleTimeout,
    /// The transport met an error.
    Error,
    /// The peer had lost its state (RFC 9000 section 10.3).
    StatelessReset,
    /// The ends have no version in common.
    VersionMismatch,
    /// The application met an error.
    Application,
}

impl CloseTrigger {
    fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::HandshakeTimeout => "handshake_timeout",
            Self::IdleTimeout => "idle_timeout",
            Self::Error => "error",
            Self::StatelessReset => "stateless_reset",
            Self::VersionMismatch => "version_mismatch",
            Self::Application => "application",
        }
    }
}

/// How far a migration has come (RFC 9000 section 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationState {
    /// The new path is being validated, while data goes along the old one.
    ProbingStarted,
    /// Validation failed.
    ProbingAbandoned,
    /// The new path is validated.
    ProbingSuccessful,
    /// Data goes along the new path.
    MigrationStarted,
    /// Data goes along the old path again.
    MigrationAbandoned,
    /// Data goes along the new path, which is validated.
    MigrationComplete,
}

impl MigrationState {
    fn name(self) -> &'static str {
        match self {
            Self::ProbingStarted => "probing_started",
            Self::ProbingAbandoned => "probing_abandoned",
            Self::ProbingSuccessful => "probing_successful",
            Self::MigrationStarted => "migration_started",
            Self::MigrationAbandoned => "migration_abandoned",
            Self::MigrationComplete => "migration_complete",
        }
    }
}

impl<W: Write> Qlog<W> {
    /// The connection began, with these addresses and connection IDs of this end and its peer.
    pub fn connection_started(
        &mut self,
        at: Duration,
        (local, local_cid): (SocketAddr, &[u8]),
        (remote, remote_cid): (SocketAddr, &[u8]),
    ) {
        self.event(at, "connectivity:connection_started", |data| {
            data.text("ip_version", if local.is_ipv4() { "v4" } else { "v6" });
            data.text("src_ip", &local.ip().to_string());
            data.text("dst_ip", &remote.ip().to_string());
            data.text("protocol", "QUIC");
            data.number("src_port", u64::from(local.port()));
            data.number("dst_port", u64::from(remote.port()));
            data.hex("src_cid", local_cid).hex("dst_cid", remote_cid);
        });
    }

    /// The connection ended.
    pub fn connection_closed(
        &mut self,
        at: Duration,
        owner: Owner,
        code: CloseCode,
        reason: &str,
        trigger: CloseTrigger,
    ) {
        self.event(at, "connectivity:connection_closed", |data| {
            data.text("owner", owner.name());
            match code {
                CloseCode::Transport(code) => data.number("connection_code", code),
                CloseCode::Application(code) => data.number("application_code", code),
                CloseCode::None => data,
            };
            data.text("reason", reason).text("trigger", trigger.name());
        });
    }

    /// From now on `path` means this pair of addresses.
    pub fn path_assigned(
        &mut self,
        at: Duration,
        path: u64,
        local: SocketAddr,
        remote: SocketAddr,
    ) {
        self.event(at, "connectivity:path_assigned", |data| {
            data.text("path_id", &path.to_string());
            data.object("path_remote", |end| write_end(end, remote));
            data.object("path_local", |end| write_end(end, local));
        });
    }

    /// A migration to a path goes on.
    pub fn migration_state_updated(&mut self, at: Duration, path: u64, new: MigrationState) {
        self.event(at, "transport:migration_state_updated", |data| {
            data.text("new", new.name()).text("path_id", &path.to_string());
        });
    }
}

fn write_end(data: &mut Members<'_>, address: SocketAddr) {
    let (ip, port) = if address.is_ipv4() { ("ip_v4", "port_v4") } else { ("ip_v6", "port_v6") };
    data.text(ip, &address.ip().to_string()).number(port, u64::from(address.port()));
}
