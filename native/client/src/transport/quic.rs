use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use headway_http::event::{Asked, ClientEvent, RequestId};
use headway_http::h3;
use headway_http::tls::Protocol;
use headway_quic::{
    Close, Config, ConnectionKey, Endpoint, Event, HeadOfLine, QuicClientConfig, Seed, Statistics,
    UdpEndpoint,
};
use headway_reactor::{Budget, Interest, Memory, Reactor, Ready, Token, UdpSocket};
use headway_schedule::Strategy;

use super::Transport;
use crate::report::{ConnectionRow, QuicRow};
use crate::target::Origin;
use headway_reactor::Clock;

/// H3_NO_ERROR (RFC 9114 section 8.1).
const NO_ERROR: u64 = 0x100;

/// H3_EXCESSIVE_LOAD.
const EXCESSIVE_LOAD: u64 = 0x107;

/// What a server may make the client keep beside twice the connection's window, in bytes: responses' heads that are
/// not whole, for example.
const SPARE_MEMORY: u64 = 32_000_000;

/// A change of the address that packets are sent from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// The client moves on purpose, to this address: migration (RFC 9000, section 9).
    Migration(IpAddr),
    /// Another port, and the connection does not know: as if a NAT had rebound.
    Rebinding,
}

/// What all connections over QUIC have in common.
pub(crate) struct QuicConnector {
    /// The address to connect from.
    pub(crate) local: Option<SocketAddr>,
    /// How TLS is spoken.
    pub(crate) tls: Arc<QuicClientConfig>,
    /// How QUIC is spoken.
    pub(crate) config: Arc<Config>,
    /// After so many bytes of content.
    pub(crate) moves: Vec<(u64, Move)>,
    /// What to do on command.
    pub(crate) on_command: Move,
    /// How fields are compressed.
    pub(crate) compression: h3::Compression,
}

impl QuicConnector {
    /// Begins to connect. What goes wrong is told by the requests' events.
    pub(crate) fn connect(
        &self,
        number: u64,
        origin: &Origin,
        remote: SocketAddr,
        token: Token,
        now: Instant,
    ) -> Box<dyn Transport> {
        let (error, link) = match self.link(origin, remote, now) {
            Ok(link) => (None, Some(link)),
            Err(error) => (Some(error), None),
        };
        Box::new(QuicTransport {
            number,
            token,
            remote,
            begun: now,
            connected: None,
            budget: Budget::new(Memory {
                of_all: None,
                of_each: Some(2 * u64::from(self.config.receive_window) + SPARE_MEMORY),
            }),
            moves: self.moves.clone(),
            on_command: self.on_command,
            side: h3::Client::new(self.compression),
            received_bytes: 0,
            deadline: None,
            last: LastKnown::default(),
            error,
            link,
            has_news: false,
        })
    }

    fn link(&self, origin: &Origin, remote: SocketAddr, now: Instant) -> Result<Link, String> {
        let any = SocketAddr::new(unspecified(remote), 0);
        let socket = UdpSocket::bind(self.local.unwrap_or(any)).map_err(|e| e.to_string())?;
        let mut endpoint = Endpoint::client(&Seed::secret());
        // A client has nothing to schedule: requests go in their order.
        let scheduler = Strategy::Sequential.scheduler();
        let tls = Arc::clone(&self.tls);
        let key = endpoint
            .connect(now, remote, &origin.host, tls, &self.config, scheduler)
            .map_err(|error| error.to_string())?;
        let udp = UdpEndpoint::new(endpoint, socket, self.config.cpu_cost);
        Ok(Link { udp, key, is_registered: false })
    }
}

/// A connection and its socket.
struct Link {
    udp: UdpEndpoint,
    key: ConnectionKey,
    is_registered: bool,
}

/// HTTP/3 over QUIC.
struct QuicTransport {
    number: u64,
    token: Token,
    remote: SocketAddr,
    begun: Instant,
    connected: Option<Instant>,
    /// Until it has ended.
    link: Option<Link>,
    side: h3::Client,
    received_bytes: u64,
    budget: Budget,
    moves: Vec<(u64, Move)>,
    on_command: Move,
    deadline: Option<Instant>,
    last: LastKnown,
    error: Option<String>,
    /// A request was made or given up, or a response read on demand: there may be events without any of the
    /// connection's.
    has_news: bool,
}

/// What was known of the connection last.
#[derive(Clone, Debug, Default)]
struct LastKnown {
    statistics: Option<Statistics>,
    local: Option<SocketAddr>,
    early_data: bool,
    moved: Vec<Instant>,
}

impl QuicTransport {
    fn exchange(
        &mut self,
        reactor: &Reactor,
        now: Instant,
        events: &mut Vec<ClientEvent>,
    ) -> io::Result<()> {
        let Some(link) = &mut self.link else { return Ok(()) };
        if !link.is_registered {
            reactor.register(link.udp.socket(), self.token, Interest::Read)?;
            link.is_registered = true;
        }
        link.udp.transmit(now)?;
        if std::mem::take(&mut self.has_news) {
            Self::take_events(&mut self.side, &mut self.received_bytes, events);
        }
        while let Some((_, event)) = link.udp.endpoint.poll() {
            match &event {
                Event::Connected { early_data_accepted } => {
                    self.connected = Some(now);
                    self.last.early_data = *early_data_accepted;
                }
                Event::Closed(reason) if *reason != Close::Local => {
                    self.error = Some(reason.to_string());
                }
                _ => {}
            }
            match (link.udp.endpoint.connection(link.key), event) {
                (Some(connection), event) => self.side.handle(now, connection, event),
                // One that timed out is gone when it says so.
                (None, Event::Closed(reason)) => self.side.close(&reason.to_string()),
                (None, _) => {}
            }
            Self::take_events(&mut self.side, &mut self.received_bytes, events);
            link.udp.transmit(now)?;
        }
        self.keep_budget(now)?;
        if std::mem::take(&mut self.has_news) {
            Self::take_events(&mut self.side, &mut self.received_bytes, events);
        }
        Ok(())
    }

    /// When it wants its next turn, after all that a turn does; never if there is no connection to send on.
    fn next_turn(&mut self) -> Option<Instant> {
        let link = self.link.as_mut()?;
        [link.udp.endpoint.deadline(), self.budget.deadline()].into_iter().flatten().min()
    }

    /// Ends the connection if its server makes this program keep too much.
    fn keep_budget(&mut self, now: Instant) -> io::Result<()> {
        let Some(link) = &mut self.link else { return Ok(()) };
        if !self.budget.is_due(now, link.udp.endpoint.received_bytes()) {
            return Ok(());
        }
        let Some(connection) = link.udp.endpoint.connection(link.key) else { return Ok(()) };
        let kept = connection.kept_of_received() + self.side.kept();
        for (_, reason) in self.budget.greedy([((), kept)]) {
            connection.close(now, EXCESSIVE_LOAD, &reason);
            self.side.close(&reason);
            self.error = Some(reason);
            self.has_news = true;
        }
        link.udp.transmit(now)
    }

    fn take_events(side: &mut h3::Client, received: &mut u64, events: &mut Vec<ClientEvent>) {
        while let Some(event) = side.poll() {
            if let ClientEvent::Data { data, .. } = &event {
                *received += data.len() as u64;
            }
            events.push(event);
        }
    }

    /// Changes the address as was asked for after so many bytes.
    fn move_when_due(&mut self, reactor: &Reactor, now: Instant) -> io::Result<()> {
        while let Some(&(after, change)) = self.moves.first() {
            if self.received_bytes < after {
                break;
            }
            self.moves.remove(0);
            self.change_address(change, reactor, now)?;
        }
        Ok(())
    }

    fn change_address(&mut self, change: Move, reactor: &Reactor, now: Instant) -> io::Result<()> {
        let Some(link) = &mut self.link else { return Ok(()) };
        let (address, is_deliberate) = match change {
            Move::Migration(address) if address.is_unspecified() => {
                (unspecified(self.remote), true)
            }
            Move::Migration(address) => (address, true),
            Move::Rebinding => (link.udp.socket().local_address()?.ip(), false),
        };
        let socket = UdpSocket::bind(SocketAddr::new(address, 0))?;
        reactor.register(&socket, self.token, Interest::Read)?;
        // The old socket is closed, as a network that is gone is.
        drop(link.udp.rebind(now, socket, is_deliberate));
        if let Some(connection) = link.udp.endpoint.connection(link.key) {
            // Who only receives would never send, and the server never learn of the new address.
            connection.ping();
        }
        self.last.moved.push(now);
        link.udp.transmit(now)
    }

    fn fail(&mut self, error: &io::Error) {
        self.error = Some(error.to_string());
        self.note();
        self.link = None;
    }

    fn note(&mut self) {
        let Some(link) = &mut self.link else { return };
        self.last.local = link.udp.socket().local_address().ok();
        if let Some(connection) = link.udp.endpoint.connection(link.key) {
            self.last.statistics = Some(connection.statistics());
        }
    }

    /// Without a connection, requests fail.
    fn refuse(&mut self, events: &mut Vec<ClientEvent>) {
        if self.link.is_none() {
            let reason = self.error.clone().unwrap_or_else(|| "the connection is over".to_owned());
            self.side.close(&reason);
            events.extend(std::iter::from_fn(|| self.side.poll()));
        }
    }
}

impl Transport for QuicTransport {
    fn is_free(&self) -> bool {
        true
    }

    fn is_closed(&self) -> bool {
        self.side.is_closed()
    }

    fn is_connected(&self) -> bool {
        self.connected.is_some()
    }

    fn failure(&self) -> Option<&str> {
        self.error.as_deref()
    }

    fn ask(&mut self, asked: Asked) {
        let connection = self.link.as_mut().and_then(|l| l.udp.endpoint.connection(l.key));
        self.side.ask(connection, asked);
        self.has_news = true;
    }

    fn proceed(&mut self, id: RequestId) {
        let connection = self.link.as_mut().and_then(|l| l.udp.endpoint.connection(l.key));
        if let Some(connection) = connection {
            self.side.proceed(connection, id);
        }
    }

    fn extend(&mut self, id: RequestId, content: Bytes, ends: bool) {
        let connection = self.link.as_mut().and_then(|l| l.udp.endpoint.connection(l.key));
        if let Some(connection) = connection {
            self.side.extend(connection, id, content, ends);
        }
    }

    fn cancel(&mut self, id: RequestId) {
        let connection = self.link.as_mut().and_then(|l| l.udp.endpoint.connection(l.key));
        if let Some(connection) = connection {
            self.side.cancel(connection, id);
            self.has_news = true;
        }
    }

    fn read(&mut self, id: RequestId, bytes: u64, now: Instant) {
        let connection = self.link.as_mut().and_then(|l| l.udp.endpoint.connection(l.key));
        if let Some(connection) = connection {
            self.side.read(now, connection, id, bytes);
            self.has_news = true;
        }
    }

    fn ready(&mut self, _ready: Ready, now: Instant) {
        let received = self.link.as_mut().map_or(Ok(()), |link| link.udp.receive(now));
        if let Err(error) = received {
            self.fail(&error);
        }
    }

    fn command(&mut self, reactor: &Reactor, now: Instant) -> io::Result<()> {
        self.change_address(self.on_command, reactor, now)
    }

    fn turn(
        &mut self,
        reactor: &Reactor,
        now: Instant,
        events: &mut Vec<ClientEvent>,
    ) -> io::Result<()> {
        let result =
            self.exchange(reactor, now, events).and_then(|()| self.move_when_due(reactor, now));
        if let Err(error) = result {
            self.fail(&error);
        }
        self.refuse(events);
        self.deadline = self.next_turn();
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn end(&mut self, now: Instant) {
        self.deadline = None;
        self.note();
        let Some(mut link) = self.link.take() else { return };
        if let Some(connection) = link.udp.endpoint.connection(link.key) {
            connection.close(now, NO_ERROR, "");
            // The server may be gone; nothing is expected of it.
            let _ = link.udp.transmit(now);
        }
    }

    fn head_of_line(&self, id: RequestId) -> Option<HeadOfLine> {
        self.side.exchange(id).map(|exchange| exchange.head_of_line)
    }

    fn row(&self, clock: &Clock) -> ConnectionRow {
        let connected_s = self.connected.map(|at| clock.seconds(at));
        let counts = self.side.header_counts();
        ConnectionRow {
            number: self.number,
            protocol: Protocol::H3,
            remote: self.remote.to_string(),
            local: self.last.local.map(|address| address.to_string()),
            connect_start_s: clock.seconds(self.begun),
            // Both handshakes are one.
            connected_s,
            secured_s: connected_s,
            tls: None,
            error: self.error.clone(),
            tried: Vec::new(),
            tcp: None,
            quic: Some(QuicRow {
                early_data: self.last.early_data,
                moved_s: self.last.moved.iter().map(|&at| clock.seconds(at)).collect(),
                sent_packets: self.last.statistics.map(|s| s.sent_packets),
                lost_packets: self.last.statistics.map(|s| s.lost_packets),
                blocked: counts.blocked,
                blocked_s: counts.blocked_time.as_secs_f64(),
                min_rtt_s: self.last.statistics.map(|s| s.min_rtt.as_secs_f64()),
                smoothed_rtt_s: self.last.statistics.map(|s| s.smoothed_rtt.as_secs_f64()),
            }),
        }
    }
}

fn unspecified(like: SocketAddr) -> IpAddr {
    match like {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    }
}

#[cfg(test)]
mod tests {
    use headway_testlink::Certificates;

    use super::*;

    /// What a transport is after a turn: when it wants the next, and whether it has failed.
    fn after_a_turn(moves: Vec<(u64, Move)>) -> (Option<Instant>, bool) {
        let tls = Arc::new(Certificates::new(1).client(&["h3"]));
        let connector = QuicConnector {
            local: None,
            tls: Arc::new(QuicClientConfig::try_from(tls).unwrap()),
            config: Arc::new(Config::default()),
            moves,
            on_command: Move::Rebinding,
            compression: h3::Compression::default(),
        };
        // It never answers.
        let server = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let remote = server.local_address().unwrap();
        let origin = Origin { secure: true, host: "localhost".to_owned(), port: remote.port() };
        let now = Instant::now();
        let mut transport = connector.connect(1, &origin, remote, Token(1), now);
        transport.turn(&Reactor::new().unwrap(), now, &mut Vec::new()).unwrap();
        (transport.deadline(), transport.failure().is_some())
    }

    /// Nobody would take it: the program would wait for a moment that is over, again and again.
    #[test]
    fn who_has_no_socket_any_more_wants_no_turn() {
        let (deadline, has_failed) = after_a_turn(Vec::new());
        assert!(deadline.is_some() && !has_failed, "it waits for the handshake");
        // No host has this address (RFC 5737).
        let elsewhere = Move::Migration("192.0.2.1".parse().unwrap());
        assert_eq!(after_a_turn(vec![(0, elsewhere)]), (None, true));
    }
}
