//! Two endpoints and the path between them, in one process and in virtual time.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use headway_quic::{
    Config, Connection, ConnectionKey, EcnCodepoint, Endpoint, Event, Network, QuicClientConfig,
    QuicServerConfig, ReceivedDatagram, StreamId,
};
use headway_schedule::Strategy;

pub const SERVER: &str = "10.0.0.2:443";
pub const CLIENT: &str = "10.0.0.1:5000";

/// One direction of a path: a drop-tail queue of bytes, a rate, a delay, and which packets it loses.
#[derive(Clone, Debug)]
pub struct Direction {
    pub rate_mbit: f64,
    pub delay: Duration,
    pub queue_bytes: u64,
    /// Every n-th packet is lost; none if zero.
    pub lose_every: u64,
    /// Every n-th packet comes so much later.
    pub delay_every: (u64, Duration),
}

impl Direction {
    pub fn new(rate_mbit: f64, delay: Duration, queue_bytes: u64) -> Self {
        let delay_every = (0, Duration::ZERO);
        Self { rate_mbit, delay, queue_bytes, lose_every: 0, delay_every }
    }
}

/// A packet on its way.
struct Packet {
    arrives: Instant,
    from: SocketAddr,
    to: SocketAddr,
    payload: Vec<u8>,
}

/// A packet as it left its sender.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    pub at: Duration,
    pub bytes: usize,
}

/// One direction at work.
struct Wire {
    direction: Direction,
    from: SocketAddr,
    now: Instant,
    began: Instant,
    free_at: Instant,
    sent: u64,
    packets: VecDeque<Packet>,
    departures: Vec<Departure>,
    dropped: u64,
}

impl Wire {
    fn new(direction: Direction, from: &str, now: Instant) -> Self {
        Self {
            direction,
            from: from.parse().unwrap(),
            now,
            began: now,
            free_at: now,
            sent: 0,
            packets: VecDeque::new(),
            departures: Vec::new(),
            dropped: 0,
        }
    }

    fn loses(&self) -> bool {
        let every = self.direction.lose_every;
        every > 0 && self.sent % every == 0
    }

    fn arrival(&self) -> Instant {
        let (every, extra) = self.direction.delay_every;
        let late = every > 0 && self.sent % every == 0;
        self.free_at + self.direction.delay + if late { extra } else { Duration::ZERO }
    }
}

impl Network for Wire {
    fn send(
        &mut self,
        to: SocketAddr,
        _source: Option<IpAddr>,
        _ecn: Option<EcnCodepoint>,
        payload: &[u8],
    ) -> io::Result<()> {
        self.sent += 1;
        let at = self.now - self.began;
        self.departures.push(Departure { at, bytes: payload.len() });
        let per_byte = 8e-6 / self.direction.rate_mbit;
        let waiting = self.free_at.saturating_duration_since(self.now).as_secs_f64() / per_byte;
        if waiting > self.direction.queue_bytes as f64 || self.loses() {
            self.dropped += 1;
            return Ok(());
        }
        let serialisation = Duration::from_secs_f64(payload.len() as f64 * per_byte);
        self.free_at = self.free_at.max(self.now) + serialisation;
        let packet =
            Packet { arrives: self.arrival(), from: self.from, to, payload: payload.to_vec() };
        let place = self.packets.partition_point(|other| other.arrives <= packet.arrives);
        self.packets.insert(place, packet);
        Ok(())
    }
}

/// What an application does on one side; it is called whenever something may have happened.
pub trait Side {
    fn event(&mut self, now: Instant, connection: &mut Connection, event: Event);
}

/// A client and a server.
pub struct Pair {
    pub now: Instant,
    began: Instant,
    pub client: Endpoint,
    pub server: Endpoint,
    up: Wire,
    down: Wire,
    pub client_key: ConnectionKey,
    tls: (Arc<QuicClientConfig>, Arc<QuicServerConfig>),
    server_config: Arc<Config>,
    strategy: Strategy,
    pub moved_to: Option<SocketAddr>,
}

pub fn ms(value: u64) -> Duration {
    Duration::from_millis(value)
}

impl Pair {
    pub fn new(client: &str, server: &str, up: Direction, down: Direction) -> Self {
        Self::with(client.parse().unwrap(), server.parse().unwrap(), Strategy::Sequential, up, down)
    }

    pub fn with(
        client_config: Config,
        server_config: Config,
        strategy: Strategy,
        up: Direction,
        down: Direction,
    ) -> Self {
        let now = Instant::now();
        let tls = tls();
        let mut client = Endpoint::client();
        let server = Endpoint::server(Arc::clone(&tls.1));
        let client_key = client
            .connect(
                now,
                SERVER.parse().unwrap(),
                "server.test",
                Arc::clone(&tls.0),
                &Arc::new(client_config),
                Strategy::Sequential.scheduler(),
            )
            .unwrap();
        Self {
            now,
            began: now,
            client,
            server,
            up: Wire::new(up, CLIENT, now),
            down: Wire::new(down, SERVER, now),
            client_key,
            tls,
            server_config: Arc::new(server_config),
            strategy,
            moved_to: None,
        }
    }

    pub fn elapsed(&self) -> Duration {
        self.now - self.began
    }

    /// Datagrams as the server sent them.
    pub fn server_departures(&self) -> &[Departure] {
        &self.down.departures
    }

    pub fn server_dropped(&self) -> u64 {
        self.down.dropped
    }

    pub fn connection(&mut self) -> &mut Connection {
        self.client.connection(self.client_key).expect("it is not drained")
    }

    /// The client's packets come from another address from now on.
    pub fn move_client(&mut self, to: &str, deliberate: bool) {
        self.up.from = to.parse().unwrap();
        if deliberate {
            self.client.migrate(self.now);
        }
    }

    /// Runs until nothing is on its way and no timer is set, or a limit.
    pub fn run(&mut self, client: &mut dyn Side, server: &mut dyn Side, limit: Duration) {
        while self.elapsed() < limit && self.step(client, server) {}
    }

    /// Goes on to the next moment at which something happens.
    pub fn step(&mut self, client: &mut dyn Side, server: &mut dyn Side) -> bool {
        self.turn(client, server);
        let arrivals = [&self.up, &self.down].map(|wire| wire.packets.front().map(|p| p.arrives));
        let deadlines = [self.client.deadline(), self.server.deadline()];
        let Some(next) = arrivals.into_iter().chain(deadlines).flatten().min() else {
            return false;
        };
        self.now = next.max(self.now);
        self.up.now = self.now;
        self.down.now = self.now;
        self.deliver();
        true
    }

    fn deliver(&mut self) {
        while self.up.packets.front().is_some_and(|p| p.arrives <= self.now) {
            let packet = self.up.packets.pop_front().unwrap();
            self.server.receive(self.now, &mut self.down, datagram(packet)).unwrap();
        }
        while self.down.packets.front().is_some_and(|p| p.arrives <= self.now) {
            let packet = self.down.packets.pop_front().unwrap();
            // What is still on its way to the old address is lost.
            if packet.to == self.up.from {
                self.client.receive(self.now, &mut self.up, datagram(packet)).unwrap();
            }
        }
        while let Some(incoming) = self.server.next_incoming() {
            let (tls, config) = (Arc::clone(&self.tls.1), &self.server_config);
            let scheduler = self.strategy.scheduler();
            self.server.accept(self.now, &mut self.down, incoming, tls, config, scheduler).unwrap();
        }
    }

    fn turn(&mut self, client: &mut dyn Side, server: &mut dyn Side) {
        loop {
            self.client.transmit(self.now, &mut self.up).unwrap();
            self.server.transmit(self.now, &mut self.down).unwrap();
            let mut quiet = true;
            while let Some((key, event)) = self.client.poll() {
                quiet = false;
                client.event(self.now, self.client.connection(key).unwrap(), event);
            }
            while let Some((key, event)) = self.server.poll() {
                quiet = false;
                server.event(self.now, self.server.connection(key).unwrap(), event);
            }
            if quiet {
                return;
            }
        }
    }
}

fn datagram(packet: Packet) -> ReceivedDatagram {
    let payload = BytesMut::from(&packet.payload[..]);
    ReceivedDatagram { remote: packet.from, local_ip: None, ecn: None, payload }
}

fn tls() -> (Arc<QuicClientConfig>, Arc<QuicServerConfig>) {
    let certified = rcgen::generate_simple_self_signed(["server.test".to_owned()]).unwrap();
    let key = rustls_pki_types::PrivateKeyDer::try_from(certified.key_pair.serialize_der());
    let chain = vec![certified.cert.der().clone()];
    let mut roots = rustls::RootCertStore::empty();
    roots.add(chain[0].clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = [&rustls::version::TLS13];
    let mut client = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.alpn_protocols = vec![b"test".to_vec()];
    client.enable_early_data = true;
    let mut server = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key.unwrap())
        .unwrap();
    server.alpn_protocols = vec![b"test".to_vec()];
    server.max_early_data_size = u32::MAX;
    let client = Arc::new(QuicClientConfig::try_from(Arc::new(client)).unwrap());
    (client, Arc::new(QuicServerConfig::try_from(Arc::new(server)).unwrap()))
}

/// The content of every stream: byte i is i mod 251.
pub fn content(offset: u64, length: usize) -> Bytes {
    (offset..offset + length as u64).map(|i| (i % 251) as u8).collect::<Vec<u8>>().into()
}

/// A stream and how much was written to or read from it.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub stream: StreamId,
    pub bytes: u64,
}
