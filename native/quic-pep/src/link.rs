//! One client's connection and the one to the next hop that belongs to it.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use headway_quic::{Close, ConnectionKey, Incoming};
use headway_reactor::Patience;

use crate::record::{Ending, Record};
use crate::splitter::{Peer, Splitter};

/// The client's end.
#[derive(Debug)]
pub(crate) enum ClientEnd {
    /// There is no client yet.
    Absent,
    /// It waits to be accepted.
    Waiting(Box<Incoming>),
    /// It was accepted.
    Accepted(ConnectionKey),
}

/// A client, as far as it is known.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) number: u64,
    pub(crate) address: SocketAddr,
    pub(crate) server_name: Option<String>,
    pub(crate) arrived: Instant,
}

/// A connection is to be closed when all that has come for its peer is delivered.
#[derive(Clone, Debug)]
pub(crate) struct Closing {
    pub(crate) peer: Peer,
    pub(crate) code: u64,
    pub(crate) reason: String,
    pub(crate) ending: Ending,
}

/// Two connections and what goes between them.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) client_end: ClientEnd,
    pub(crate) server: ConnectionKey,
    pub(crate) splitter: Splitter,
    pub(crate) client: Option<Client>,
    pub(crate) protocol: Option<Vec<u8>>,
    pub(crate) pooled: bool,
    pub(crate) early_data: bool,
    pub(crate) connecting: Instant,
    pub(crate) connected: Option<Instant>,
    pub(crate) accepted: Option<Instant>,
    pub(crate) established: Option<Instant>,
    pub(crate) closing: Option<Closing>,
    /// Its client has not shown that it has its address.
    pub(crate) is_half_open: bool,
    /// It counts as one of its client's address.
    pub(crate) is_counted: bool,
    pub(crate) patience: Patience<Phase>,
}

/// What a client's connection is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The handshake with the next hop, or nothing: there is no client.
    Waiting,
    /// The client's handshake.
    Handshake,
    /// Streams: so many, and so many bytes of them, so far.
    Streams(u64),
}

impl Link {
    /// When the next hop has had its time to answer; nothing if it has answered, or the link is ending anyway.
    ///
    /// # Arguments
    /// * `timeout` - that time.
    pub(crate) fn given_up_at(&self, timeout: Duration) -> Option<Instant> {
        let is_awaited = self.connected.is_none() && self.closing.is_none();
        is_awaited.then(|| self.connecting + timeout)
    }

    /// A connection to the next hop that was just begun.
    pub(crate) fn new(now: Instant, server: ConnectionKey) -> Self {
        Self {
            client_end: ClientEnd::Absent,
            server,
            splitter: Splitter::default(),
            client: None,
            protocol: None,
            pooled: false,
            early_data: false,
            connecting: now,
            connected: None,
            accepted: None,
            established: None,
            closing: None,
            is_half_open: false,
            is_counted: false,
            patience: Patience::new(Phase::Waiting, now),
        }
    }

    /// Takes note of what the client's connection is in the middle of now.
    ///
    /// # Returns
    /// That.
    pub(crate) fn note_phase(&mut self, now: Instant) -> Phase {
        let phase = match (self.accepted, self.established) {
            // The handshake with the next hop has a time of its own.
            (None, _) => Phase::Waiting,
            (Some(_), None) => Phase::Handshake,
            (Some(_), Some(_)) => Phase::Streams(self.splitter.advanced()),
        };
        self.patience.note(phase, now);
        phase
    }

    /// The client's connection, once it was accepted.
    pub(crate) fn client_key(&self) -> Option<ConnectionKey> {
        match self.client_end {
            ClientEnd::Accepted(key) => Some(key),
            ClientEnd::Absent | ClientEnd::Waiting(_) => None,
        }
    }

    /// The client, if it waits to be accepted.
    pub(crate) fn take_waiting(&mut self) -> Option<Incoming> {
        match std::mem::replace(&mut self.client_end, ClientEnd::Absent) {
            ClientEnd::Waiting(incoming) => Some(*incoming),
            other => {
                self.client_end = other;
                None
            }
        }
    }

    /// What is told of it; nothing if it had no client.
    pub(crate) fn record(&mut self, now: Instant, ending: Ending) -> Option<Record> {
        let client = self.client.clone()?;
        Some(Record {
            number: client.number,
            client: client.address,
            server_name: client.server_name,
            protocol: self.protocol.clone(),
            pooled: self.pooled,
            early_data: self.early_data,
            connecting: self.connecting,
            connected: self.connected,
            arrived: client.arrived,
            accepted: self.accepted,
            established: self.established,
            closed: now,
            streams: self.splitter.streams(),
            to_server: *self.splitter.carried(Peer::Server),
            to_client: *self.splitter.carried(Peer::Client),
            ending,
        })
    }
}

/// How the end of one peer's connection is told to the other.
///
/// # Arguments
/// * `failure_code` - stands for what is no application's error.
pub(crate) fn pass_on(peer: Peer, close: &Close, failure_code: u64) -> Closing {
    let (code, reason) = match close {
        Close::Application { code, reason } => (*code, reason.clone()),
        other => (failure_code, format!("{}: {other}", name(peer))),
    };
    let told = matches!(close, Close::Application { .. }).then_some(code);
    let ending = Ending { by: Some(peer), code: told, reason: reason.clone() };
    Closing { peer: peer.other(), code, reason, ending }
}

fn name(peer: Peer) -> &'static str {
    match peer {
        Peer::Client => "client",
        Peer::Server => "next hop",
    }
}
