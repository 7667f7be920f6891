use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use headway_http::h3;
use headway_http::priorities::Priorities;
use headway_http::tls::Protocol;
use headway_knobs::limits::Limits as _;
use headway_quic::{
    Config, Connection, ConnectionKey, Endpoint, Event, Incoming, QuicServerConfig, Seed,
    UdpEndpoint,
};
use headway_reactor::{Interest, Looks, Reactor, Token, UdpSocket, say};
use headway_schedule::Strategy;

use crate::context::Context;
use crate::exchanges::{Exchanges, Next};
use crate::limits::Limits;
use crate::patience::{Patience, Phase};

/// How QUIC is spoken.
#[derive(Clone)]
pub(crate) struct QuicOptions {
    pub(crate) tls: Arc<QuicServerConfig>,
    pub(crate) config: Arc<Config>,
    pub(crate) strategy: Strategy,
    pub(crate) priorities: Priorities,
    pub(crate) max_connections: usize,
    pub(crate) compression: h3::Compression,
    pub(crate) takes_websockets: bool,
    pub(crate) limits: Limits,
}

/// A connection of a client.
struct Client {
    side: h3::Server,
    exchanges: Exchanges,
    patience: Patience,
    address: IpAddr,
    /// It counts as one of its address.
    is_counted: bool,
    /// In a handshake, and its address was not validated.
    is_half_open: bool,
    is_connected: bool,
}

impl Client {
    fn phase(&self) -> Phase {
        match (self.is_connected, self.exchanges.is_empty()) {
            (false, _) => Phase::Handshake,
            (true, true) => Phase::Idle(self.exchanges.count()),
            (true, false) => Phase::Responses(self.side.sent_bytes()),
        }
    }
}

/// HTTP/3 on a UDP socket, with all its connections.
pub(crate) struct QuicListener {
    udp: UdpEndpoint,
    options: QuicOptions,
    connections: BTreeMap<ConnectionKey, Client>,
    half_open: usize,
    /// Requests that were answered in this turn, of connections with events.
    turns: BTreeMap<ConnectionKey, u64>,
    looks: Looks<ConnectionKey>,
    /// When answers of connections are due.
    dues: BTreeSet<(Instant, ConnectionKey)>,
    deadline: Option<Instant>,
}

impl QuicListener {
    /// Listens.
    pub(crate) fn bind(
        address: SocketAddr,
        options: QuicOptions,
        reactor: &Reactor,
        token: Token,
    ) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        reactor.register(&socket, token, Interest::Read)?;
        say!("headway-server: https://{} over QUIC", socket.local_address()?);
        let mut endpoint = Endpoint::server(Arc::clone(&options.tls), &Seed::secret());
        if options.limits.newcomers.half_open_percent.is_some() {
            endpoint = endpoint.giving_tokens();
        }
        let udp = UdpEndpoint::new(endpoint, socket, options.config.cpu_cost);
        Ok(Self {
            udp,
            connections: BTreeMap::new(),
            half_open: 0,
            turns: BTreeMap::new(),
            looks: Looks::new(options.limits.shortest_time()),
            dues: BTreeSet::new(),
            options,
            deadline: None,
        })
    }

    /// Receives what has come.
    pub(crate) fn receive(&mut self, now: Instant) -> io::Result<()> {
        self.udp.receive(now)
    }

    /// All that has come, in bytes.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.udp.endpoint.received_bytes()
    }

    /// Answers what can be answered, and sends what may be sent.
    pub(crate) fn turn(&mut self, opened: &mut u64, context: &mut Context<'_>) -> io::Result<()> {
        while let Some(incoming) = self.udp.endpoint.next_incoming() {
            self.accept(incoming, opened, context)?;
        }
        // All requests that came are known to the scheduler before anything is sent, up to a turn's.
        self.turns.clear();
        self.handle_events(context);
        self.answer_due(context.now);
        self.look(context);
        self.udp.transmit(context.now)?;
        // Events come by sending, too: of streams that can take more.
        while self.handle_events(context) {
            self.udp.transmit(context.now)?;
        }
        let others_had_their_turn = self.udp.endpoint.has_events().then_some(context.now);
        let due = self.dues.first().map(|&(at, _)| at);
        let deadlines =
            [others_had_their_turn, self.udp.endpoint.deadline(), self.looks.deadline(), due];
        self.deadline = deadlines.into_iter().flatten().min();
        Ok(())
    }

    /// Sends answers that are due.
    fn answer_due(&mut self, now: Instant) {
        while let Some(&(at, key)) = self.dues.first().filter(|(at, _)| *at <= now) {
            self.dues.remove(&(at, key));
            let client = self.connections.get_mut(&key);
            let connection = self.udp.endpoint.connection(key);
            let (Some(client), Some(connection)) = (client, connection) else { continue };
            while let Some((id, reply)) = client.exchanges.due(now) {
                client.side.respond(connection, id, reply);
            }
            while let Some((id, said)) = client.exchanges.say(now) {
                client.side.say(connection, id, said);
            }
            self.dues.extend(client.exchanges.next_due().map(|at| (at, key)));
        }
    }

    /// When it wants its next turn.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The server ends: clients are told which requests it has not seen, and that this is all.
    pub(crate) fn end(&mut self, context: &mut Context<'_>) {
        for (&key, Client { side, .. }) in &mut self.connections {
            if let Some(connection) = self.udp.endpoint.connection(key) {
                side.go_away(connection);
            }
        }
        // Whatever is wrong with the socket, it is over. What is closed sends nothing else.
        let _ = self.udp.transmit(context.now);
        for (key, Client { mut side, mut exchanges, .. }) in std::mem::take(&mut self.connections) {
            if let Some(connection) = self.udp.endpoint.connection(key) {
                connection.close(context.now, NO_ERROR, "the server ends");
            }
            side.close("the server ends");
            end_exchanges(&mut side, &mut exchanges, context);
            context.headers.write(exchanges.began, &side.header_counts());
        }
        let _ = self.udp.transmit(context.now);
    }

    fn accept(
        &mut self,
        incoming: Incoming,
        opened: &mut u64,
        context: &mut Context<'_>,
    ) -> io::Result<()> {
        let remote = incoming.remote_address();
        let (is_validated, now) = (incoming.is_validated(), context.now);
        let is_crowded = self.is_crowded();
        let (endpoint, socket) = self.udp.parts();
        if self.connections.len() >= self.options.max_connections {
            return endpoint.refuse(socket, incoming);
        }
        if !is_validated && is_crowded {
            return endpoint.retry(socket, incoming);
        }
        if is_validated && !context.addresses.open(remote.ip()) {
            return endpoint.refuse(socket, incoming);
        }
        let QuicOptions { tls, config, strategy, .. } = &self.options;
        let (tls, scheduler) = (Arc::clone(tls), strategy.scheduler());
        // A client whose first packet is no good is no client.
        let Ok(key) = endpoint.accept(now, socket, incoming, tls, config, scheduler) else {
            if is_validated {
                context.addresses.close(remote.ip());
            }
            return Ok(());
        };
        *opened += 1;
        self.half_open += usize::from(!is_validated);
        let QuicOptions { compression, takes_websockets, limits, priorities, .. } = &self.options;
        let side = h3::Server::new(*compression).with_websockets(*takes_websockets);
        let client = Client {
            side: side.limited(&limits.rates).deciding(*priorities),
            exchanges: Exchanges::new(*opened, remote.to_string(), now),
            patience: Patience::new(now),
            address: remote.ip(),
            is_counted: is_validated,
            is_half_open: !is_validated,
            is_connected: false,
        };
        self.connections.insert(key, client);
        self.looks.add(key, now, None);
        Ok(())
    }

    /// Whether as many clients as may be are in a handshake without proof of their address.
    fn is_crowded(&self) -> bool {
        self.options.limits.newcomers.is_crowded(self.half_open, self.options.max_connections)
    }

    /// Ends connections whose clients have had their time.
    fn look(&mut self, context: &mut Context<'_>) {
        while let Some(key) = self.looks.next(context.now) {
            let Some(client) = self.connections.get_mut(&key) else { continue };
            client.patience.note(client.phase(), context.now);
            match client.patience.check(context.now, &self.options.limits) {
                Ok(at) => self.looks.add(key, context.now, at),
                Err(reason) => self.expire(key, NO_ERROR, &reason, context),
            }
        }
    }

    /// A client's connection ends for what it did or did not do, which it is told.
    fn expire(&mut self, key: ConnectionKey, code: u64, reason: &str, context: &mut Context<'_>) {
        if let Some(connection) = self.udp.endpoint.connection(key) {
            connection.close(context.now, code, reason);
        }
        if let Some(client) = self.connections.get_mut(&key) {
            client.side.close(reason);
            end_exchanges(&mut client.side, &mut client.exchanges, context);
        }
        self.remove(key, context);
    }

    /// Memory that each client makes the server keep, in bytes.
    pub(crate) fn kept(&mut self) -> impl Iterator<Item = (ConnectionKey, u64)> {
        let endpoint = &mut self.udp.endpoint;
        self.connections.iter().map(|(&key, client)| {
            let transport = endpoint.connection(key).map_or(0, |connection| connection.kept());
            (key, transport + client.side.kept() + client.exchanges.kept())
        })
    }

    /// A connection that takes too much ends.
    pub(crate) fn end_greedy(
        &mut self,
        key: ConnectionKey,
        reason: &str,
        context: &mut Context<'_>,
    ) {
        self.expire(key, EXCESSIVE_LOAD, reason, context);
    }

    fn remove(&mut self, key: ConnectionKey, context: &mut Context<'_>) {
        let Some(client) = self.connections.remove(&key) else { return };
        context.headers.write(client.exchanges.began, &client.side.header_counts());
        self.looks.remove(key);
        self.half_open -= usize::from(client.is_half_open);
        if client.is_counted {
            context.addresses.close(client.address);
        }
    }

    /// A client's handshake is complete, which validates its address.
    ///
    /// # Returns
    /// Whether it may stay.
    fn connected(&mut self, key: ConnectionKey, context: &mut Context<'_>) -> bool {
        let Some(client) = self.connections.get_mut(&key) else { return false };
        client.is_connected = true;
        self.half_open -= usize::from(std::mem::take(&mut client.is_half_open));
        client.is_counted = client.is_counted || context.addresses.open(client.address);
        if !client.is_counted {
            let limit = self.options.limits.newcomers.connections_per_address.unwrap_or_default();
            let reason = format!("connections-per-address={limit}: there are as many already");
            self.expire(key, NO_ERROR, &reason, context);
            return false;
        }
        true
    }

    /// Handles events, but for those of connections that have had their turn.
    ///
    /// # Returns
    /// Whether there were any.
    fn handle_events(&mut self, context: &mut Context<'_>) -> bool {
        let most = context.requests_per_turn.map_or(u64::MAX, u64::from);
        let mut any = false;
        loop {
            let turns = &self.turns;
            let has_turn = |key| turns.get(&key).is_none_or(|&answered| answered < most);
            let Some((key, event)) = self.udp.endpoint.poll_of(has_turn) else { return any };
            let before = self.requests(key);
            self.handle(key, event, context);
            let answered = self.requests(key).saturating_sub(before);
            *self.turns.entry(key).or_default() += answered;
            any = true;
        }
    }

    /// How many requests a connection has made; none once it is gone.
    fn requests(&self, key: ConnectionKey) -> u64 {
        self.connections.get(&key).map_or(0, |client| client.exchanges.count())
    }

    fn handle(&mut self, key: ConnectionKey, event: Event, context: &mut Context<'_>) {
        if matches!(event, Event::Connected { .. }) && !self.connected(key, context) {
            return;
        }
        let Some(client) = self.connections.get_mut(&key) else { return };
        let Client { side, exchanges, .. } = client;
        match (self.udp.endpoint.connection(key), event) {
            (Some(connection), event) => {
                side.handle(context.now, connection, event);
                answer(side, connection, exchanges, context);
            }
            // One that timed out is gone when it says so.
            (None, Event::Closed(reason)) => {
                side.close(&reason.to_string());
                end_exchanges(side, exchanges, context);
            }
            (None, _) => {}
        }
        self.dues.extend(client.exchanges.next_due().map(|at| (at, key)));
        client.patience.note(client.phase(), context.now);
        if client.side.is_closed() {
            self.remove(key, context);
        }
    }
}

/// H3_NO_ERROR (RFC 9114 section 8.1).
const NO_ERROR: u64 = 0x100;
/// H3_EXCESSIVE_LOAD.
const EXCESSIVE_LOAD: u64 = 0x107;

fn answer(
    side: &mut h3::Server,
    connection: &mut Connection,
    exchanges: &mut Exchanges,
    context: &mut Context<'_>,
) {
    while let Some(event) = side.poll() {
        match exchanges.handle(event, Protocol::H3, context) {
            Next::Nothing => {}
            Next::Proceed(id) => side.proceed(connection, id),
            Next::Inform(id, interim) => side.inform(connection, id, &interim),
            Next::Respond(id, reply) => side.respond(connection, id, reply),
        }
    }
}

/// Logs what became of the responses of a connection that is over.
fn end_exchanges(side: &mut h3::Server, exchanges: &mut Exchanges, context: &mut Context<'_>) {
    while let Some(event) = side.poll() {
        exchanges.end(&event, Protocol::H3, context);
    }
}
