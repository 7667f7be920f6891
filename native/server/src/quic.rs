use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use headway_http::counts::HeaderCounts;
use headway_http::event::ServerEvent;
use headway_http::h3;
use headway_http::tls::Protocol;
use headway_quic::{
    Config, Connection, ConnectionKey, Endpoint, Event, Incoming, QuicServerConfig, Seed,
    UdpEndpoint,
};
use headway_reactor::{Interest, Reactor, Token, UdpSocket, say};
use headway_schedule::Strategy;

use crate::exchanges::Exchanges;
use crate::tcp::Context;

/// How QUIC is spoken.
#[derive(Clone)]
pub(crate) struct QuicOptions {
    pub(crate) tls: Arc<QuicServerConfig>,
    pub(crate) config: Arc<Config>,
    pub(crate) strategy: Strategy,
    pub(crate) max_connections: usize,
    pub(crate) compression: h3::Compression,
}

/// HTTP/3 on a UDP socket, with all its connections.
pub(crate) struct QuicListener {
    udp: UdpEndpoint,
    options: QuicOptions,
    connections: BTreeMap<ConnectionKey, (h3::Server, Exchanges)>,
    /// Of connections that are over.
    header_counts: HeaderCounts,
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
        let endpoint = Endpoint::server(Arc::clone(&options.tls), &Seed::secret());
        let udp = UdpEndpoint::new(endpoint, socket, options.config.cpu_cost);
        Ok(Self {
            udp,
            options,
            connections: BTreeMap::new(),
            header_counts: HeaderCounts::default(),
            deadline: None,
        })
    }

    /// Receives what has come.
    pub(crate) fn receive(&mut self, now: Instant) -> io::Result<()> {
        self.udp.receive(now)
    }

    /// Answers what can be answered, and sends what may be sent.
    pub(crate) fn turn(&mut self, opened: &mut u64, context: &mut Context<'_>) -> io::Result<()> {
        while let Some(incoming) = self.udp.endpoint.next_incoming() {
            self.accept(incoming, opened, context.now)?;
        }
        // All requests that came are known to the scheduler before anything is sent.
        self.handle_events(context);
        self.udp.transmit(context.now)?;
        // Events come by sending, too: of streams that can take more.
        while self.handle_events(context) {
            self.udp.transmit(context.now)?;
        }
        self.deadline = self.udp.endpoint.deadline();
        Ok(())
    }

    /// When it wants its next turn.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The server ends: clients are told which requests it has not seen, and that this is all.
    ///
    /// # Returns
    /// What header fields took on all connections.
    pub(crate) fn end(&mut self, context: &mut Context<'_>) -> HeaderCounts {
        for (&key, (side, _)) in &mut self.connections {
            if let Some(connection) = self.udp.endpoint.connection(key) {
                side.go_away(connection);
            }
        }
        // Whatever is wrong with the socket, it is over. What is closed sends nothing else.
        let _ = self.udp.transmit(context.now);
        for (key, (mut side, mut exchanges)) in std::mem::take(&mut self.connections) {
            if let Some(connection) = self.udp.endpoint.connection(key) {
                connection.close(context.now, NO_ERROR, "the server ends");
            }
            side.close("the server ends");
            end_exchanges(&mut side, &mut exchanges, context);
            self.header_counts.add(&side.header_counts());
        }
        let _ = self.udp.transmit(context.now);
        self.header_counts
    }

    fn accept(&mut self, incoming: Incoming, opened: &mut u64, now: Instant) -> io::Result<()> {
        let remote = incoming.remote_address().to_string();
        let (endpoint, socket) = self.udp.parts();
        if self.connections.len() >= self.options.max_connections {
            return endpoint.refuse(socket, incoming);
        }
        let QuicOptions { tls, config, strategy, .. } = &self.options;
        let (tls, scheduler) = (Arc::clone(tls), strategy.scheduler());
        // A client whose first packet is no good is no client.
        if let Ok(key) = endpoint.accept(now, socket, incoming, tls, config, scheduler) {
            *opened += 1;
            self.connections.insert(
                key,
                (h3::Server::new(self.options.compression), Exchanges::new(*opened, remote)),
            );
        }
        Ok(())
    }

    /// Returns whether there were any.
    fn handle_events(&mut self, context: &mut Context<'_>) -> bool {
        let mut any = false;
        while let Some((key, event)) = self.udp.endpoint.poll() {
            self.handle(key, event, context);
            any = true;
        }
        any
    }

    fn handle(&mut self, key: ConnectionKey, event: Event, context: &mut Context<'_>) {
        let Some((side, exchanges)) = self.connections.get_mut(&key) else { return };
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
        if side.is_closed() {
            self.header_counts.add(&side.header_counts());
            self.connections.remove(&key);
        }
    }
}

/// H3_NO_ERROR (RFC 9114 section 8.1).
const NO_ERROR: u64 = 0x100;

fn answer(
    side: &mut h3::Server,
    connection: &mut Connection,
    exchanges: &mut Exchanges,
    context: &mut Context<'_>,
) {
    while let Some(event) = side.poll() {
        exchanges.end(&event, Protocol::H3, context.log, context.now);
        if let ServerEvent::Request { id, request } = event {
            let reply = exchanges.answer(id, &request, context.service, context.now);
            side.respond(connection, id, reply);
        }
    }
}

/// Logs what became of the responses of a connection that is over.
fn end_exchanges(side: &mut h3::Server, exchanges: &mut Exchanges, context: &mut Context<'_>) {
    while let Some(event) = side.poll() {
        exchanges.end(&event, Protocol::H3, context.log, context.now);
    }
}
