//! Connections that share an address, without I/O.

mod incoming;
mod network;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use headway_schedule::Scheduler;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, ConnectionHandle, DatagramEvent, EndpointConfig, ServerConfig, Side, Transmit,
};

use crate::config::Config;
use crate::connection::{Connection, Event, FirstPacket, Outlet};
use crate::forged;
use crate::gate::Gate;
use crate::observe::{Log, ObservedClientConfig, ObservedServerConfig, SharedLog};
use crate::resets::{Resets, is_reset};
use crate::resume::SavedPaths;
use crate::seed::{ConnectionIds, Randomness, Seed};
use crate::sender::Sender;
use crate::tokens::validation_tokens;
use crate::trace::{Subject, TraceFailed, Tracer};
pub use incoming::{AcceptFailed, ConnectFailed, Incoming};
pub use network::{Network, ReceivedDatagram, Route};
use network::{send, send_run};

/// The largest UDP payload in bytes, which is taken (RFC 9000 section 18.2).
const MAX_UDP_PAYLOAD: u16 = 65_527;
/// QUIC's version (RFC 9000 section 15): no drafts are spoken.
const VERSION_1: u32 = 1;

/// A connection of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionKey(usize);

/// Connections that share an address, as client, server or both.
#[derive(Debug)]
pub struct Endpoint {
    inner: quinn_proto::Endpoint,
    server: Option<Arc<ServerConfig>>,
    /// Shows the first packet of a connection that is being accepted.
    log: SharedLog,
    randomness: Randomness,
    /// Each in its own place: a node of the tree would hold room for eleven.
    connections: BTreeMap<usize, Box<Connection>>,
    /// For connections to come.
    saved_paths: SavedPaths,
    incoming: VecDeque<Incoming>,
    resets: Resets,
    received_bytes: u64,
    /// Where connections make what they send.
    buffer: Vec<u8>,
    /// What connections that are gone had to tell.
    last_words: VecDeque<(ConnectionKey, Event)>,
}

impl Endpoint {
    /// An endpoint for clients.
    #[must_use]
    pub fn client(seed: &Seed) -> Self {
        Self::new(None, Log::shared(false), Randomness::new(seed))
    }

    /// An endpoint that others can connect to.
    ///
    /// # Arguments
    /// * `tls` - of the first packets; each connection is accepted with its own.
    #[must_use]
    pub fn server(tls: Arc<QuicServerConfig>, seed: &Seed) -> Self {
        let log = Log::shared(true);
        let crypto = Arc::new(ObservedServerConfig { tls, log: log.clone() });
        let mut randomness = Randomness::new(seed);
        let server = ServerConfig::new(crypto, Arc::new(randomness.token_key()));
        Self::new(Some(Arc::new(server)), log, randomness)
    }

    /// Gives clients that have shown that they have their address tokens to show it by on later
    /// connections.
    #[must_use]
    pub fn giving_tokens(mut self) -> Self {
        if let Some(server) = &mut self.server {
            Arc::make_mut(server).validation_token_config(validation_tokens());
            self.inner.set_server_config(Some(Arc::clone(server)));
        }
        self
    }

    fn new(server: Option<Arc<ServerConfig>>, log: SharedLog, mut randomness: Randomness) -> Self {
        let mut config = EndpointConfig::new(Arc::new(randomness.reset_key()));
        config.max_udp_payload_size(MAX_UDP_PAYLOAD).expect("it is within the limits");
        let ids = randomness.seed();
        config
            .rng_seed(Some(randomness.seed()))
            .supported_versions(vec![VERSION_1])
            .cid_generator(move || Box::new(ConnectionIds::new(ids)));
        let inner = quinn_proto::Endpoint::new(Arc::new(config), server.clone(), true, None);
        Self {
            inner,
            server,
            log,
            randomness,
            connections: BTreeMap::new(),
            saved_paths: SavedPaths::default(),
            incoming: VecDeque::new(),
            resets: Resets::default(),
            received_bytes: 0,
            buffer: Vec::new(),
            last_words: VecDeque::new(),
        }
    }

    /// A connection, until it is drained.
    pub fn connection(&mut self, key: ConnectionKey) -> Option<&mut Connection> {
        self.connections.get_mut(&key.0).map(Box::as_mut)
    }

    /// How many connections there are.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Connects to a server.
    ///
    /// # Errors
    /// The address or the name is none that can be connected to, or a trace cannot be written.
    pub fn connect(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        server_name: &str,
        tls: Arc<QuicClientConfig>,
        config: &Arc<Config>,
        scheduler: Box<dyn Scheduler>,
    ) -> Result<ConnectionKey, ConnectFailed> {
        let cid = self.randomness.connection_id();
        let subject = Subject { side: Side::Client, original_cid: cid, local: None, remote };
        let parts = Parts::new(config, subject)?;
        let log = parts.log.clone();
        let mut client = ClientConfig::new(Arc::new(ObservedClientConfig { tls, log }));
        client
            .transport_config(config.transport(&parts.gate))
            .token_store(config.tokens.store())
            .initial_dst_cid_provider(Arc::new(move || cid));
        let (handle, inner) = self.inner.connect(now, client, remote, server_name)?;
        Ok(self.add(handle, inner, now, parts, scheduler))
    }

    /// The next client that wants to connect.
    pub fn next_incoming(&mut self) -> Option<Incoming> {
        self.incoming.pop_front()
    }

    /// Accepts a client.
    ///
    /// # Errors
    /// Its first packet was no good, it took too long, or a trace cannot be written.
    pub fn accept(
        &mut self,
        now: Instant,
        network: &mut impl Network,
        incoming: Incoming,
        tls: Arc<QuicServerConfig>,
        config: &Arc<Config>,
        scheduler: Box<dyn Scheduler>,
    ) -> Result<ConnectionKey, AcceptFailed> {
        let parts = match Parts::new(config, incoming.subject()) {
            Ok(parts) => parts,
            Err(error) => {
                // The failure to accept matters more than one to say so.
                let _ = self.refuse(network, incoming);
                return Err(error.into());
            }
        };
        let log = parts.log.clone();
        let mut server = ServerConfig::clone(self.server.as_ref().expect("only servers listen"));
        server.crypto = Arc::new(ObservedServerConfig { tls, log });
        server.migration(config.migration).transport_config(config.transport(&parts.gate));
        let mut buffer = Vec::new();
        match self.inner.accept(incoming.0, now, &mut buffer, Some(Arc::new(server))) {
            Ok((handle, inner)) => {
                Log::of(&parts.log).precede(&mut Log::of(&self.log));
                Ok(self.add(handle, inner, now, parts, scheduler))
            }
            Err(error) => {
                if let Some(response) = error.response {
                    // As above.
                    let _ = self.respond(network, &response, &buffer);
                }
                Err(AcceptFailed::Impossible(error.cause))
            }
        }
    }

    /// Refuses a client (CONNECTION_REFUSED).
    ///
    /// # Errors
    /// Those of the network.
    pub fn refuse(&mut self, network: &mut impl Network, incoming: Incoming) -> io::Result<()> {
        let mut buffer = Vec::new();
        let response = self.inner.refuse(incoming.0, &mut buffer);
        self.respond(network, &response, &buffer)
    }

    /// Has a client show that it receives what is sent to its address (Retry, RFC 9000 section 8.1.2), and
    /// keeps nothing of it. One that has done so is refused.
    ///
    /// # Errors
    /// Those of the network.
    pub fn retry(&mut self, network: &mut impl Network, incoming: Incoming) -> io::Result<()> {
        let mut buffer = Vec::new();
        match self.inner.retry(incoming.0, &mut buffer) {
            Ok(response) => self.respond(network, &response, &buffer),
            Err(error) => self.refuse(network, Incoming(error.into_incoming())),
        }
    }

    /// Answers without a connection, whose packet is of no interest either.
    fn respond(
        &self,
        network: &mut impl Network,
        response: &Transmit,
        buffer: &[u8],
    ) -> io::Result<()> {
        Log::of(&self.log).clear();
        send(network, response, buffer)
    }

    /// The local address changed on purpose: connections begin on a new path (RFC 9000 section 9).
    pub fn migrate(&mut self, now: Instant) {
        self.connections.values_mut().for_each(|connection| connection.migrate(now));
    }

    /// All that has come, in bytes of datagrams.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Handles a datagram.
    ///
    /// # Errors
    /// Those of the network, which may have to answer.
    pub fn receive(
        &mut self,
        now: Instant,
        network: &mut impl Network,
        datagram: ReceivedDatagram,
    ) -> io::Result<()> {
        let mut buffer = Vec::new();
        let ReceivedDatagram { remote, local_ip, ecn, mut payload } = datagram;
        let (first, size) = (FirstPacket::of(&payload), payload.len());
        self.received_bytes += size as u64;
        if self.server.is_some() && !forged::without_retry(&mut payload) {
            return Ok(());
        }
        match self.inner.handle(now, remote, local_ip, ecn, payload, &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(connection) = self.connections.get_mut(&handle.0) {
                    connection.handle_datagram(now, first, size, event);
                }
                Ok(())
            }
            Some(DatagramEvent::NewConnection(inner)) => {
                self.incoming.push_back(Incoming(inner));
                Ok(())
            }
            Some(DatagramEvent::Response(_))
                if is_reset(&buffer) && !self.resets.may_send(now, remote) =>
            {
                Ok(())
            }
            Some(DatagramEvent::Response(response)) => self.respond(network, &response, &buffer),
            None => Ok(()),
        }
    }

    /// Handles what time brought, and sends all that may be sent.
    ///
    /// # Errors
    /// Those of the network.
    pub fn transmit(&mut self, now: Instant, network: &mut impl Network) -> io::Result<()> {
        let mut drained = Vec::new();
        let mut outlet = Outlet {
            buffer: &mut self.buffer,
            send: &mut |transmit, payloads| send_run(network, transmit, payloads),
        };
        for (&key, connection) in &mut self.connections {
            connection.handle_time(now);
            while connection.is_dirty {
                connection.drive(now, &mut outlet)?;
                while let Some(event) = connection.poll_endpoint_event() {
                    if event.is_drained() {
                        drained.push(key);
                    }
                    if let Some(event) = self.inner.handle_event(ConnectionHandle(key), event) {
                        connection.handle_event(now, event);
                    }
                }
            }
        }
        for key in drained {
            // One that times out is gone at once.
            let mut gone = self.connections.remove(&key);
            if let Some(connection) = &mut gone {
                self.saved_paths.settle(connection.end());
            }
            while let Some(event) = gone.as_mut().and_then(|connection| connection.poll()) {
                self.last_words.push_back((ConnectionKey(key), event));
            }
        }
        Ok(())
    }

    /// When [`Self::transmit`] has to be called next.
    pub fn deadline(&mut self) -> Option<Instant> {
        self.connections.values_mut().filter_map(|connection| connection.deadline()).min()
    }

    /// The next event of any connection.
    pub fn poll(&mut self) -> Option<(ConnectionKey, Event)> {
        self.poll_of(|_| true)
    }

    /// The next event of any of some connections, or of one that is gone.
    pub fn poll_of(
        &mut self,
        some: impl Fn(ConnectionKey) -> bool,
    ) -> Option<(ConnectionKey, Event)> {
        if let Some(last) = self.last_words.pop_front() {
            return Some(last);
        }
        let mut some = self.connections.iter_mut().filter(|(key, _)| some(ConnectionKey(**key)));
        some.find_map(|(&key, connection)| Some((ConnectionKey(key), connection.poll()?)))
    }

    /// Whether there are events.
    #[must_use]
    pub fn has_events(&self) -> bool {
        !self.last_words.is_empty()
            || self.connections.values().any(|connection| connection.has_events())
    }

    fn add(
        &mut self,
        handle: ConnectionHandle,
        inner: quinn_proto::Connection,
        now: Instant,
        parts: Parts,
        scheduler: Box<dyn Scheduler>,
    ) -> ConnectionKey {
        self.settle_closed();
        let peer = (inner.side(), inner.remote_address());
        let loan = self.saved_paths.lend(peer.1.ip(), &parts.config, now);
        let sender =
            Sender::new(parts.config, parts.gate, parts.log, parts.tracer, peer, loan, now);
        let connection = Box::new(Connection::new(inner, sender, scheduler));
        self.connections.insert(handle.0, connection);
        ConnectionKey(handle.0)
    }

    /// What closed connections leave behind is for the next one, though they linger for a while (RFC
    /// 9000 section 10.2).
    fn settle_closed(&mut self) {
        let closed = self.connections.values_mut().filter(|connection| connection.is_closed());
        for connection in closed {
            self.saved_paths.settle(connection.end());
        }
    }
}

/// What a connection shares with quinn-proto.
struct Parts {
    config: Arc<Config>,
    gate: Arc<Gate>,
    log: SharedLog,
    tracer: Tracer,
}

impl Parts {
    fn new(config: &Arc<Config>, subject: Subject) -> Result<Self, TraceFailed> {
        Ok(Self {
            config: Arc::clone(config),
            gate: Arc::default(),
            log: Log::of_connection(config.qlog_directory.is_some(), config.is_scalable()),
            tracer: Tracer::new(config, subject)?,
        })
    }
}
