//! A client, proxies and a server in a row, in one process and in virtual time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use headway_quic::{
    Close, Config, Connection, ConnectionKey, Endpoint, Event, QuicClientConfig, QuicServerConfig,
    Seed,
};
use headway_quic_pep::{Peer, Pep, Record, Settings, Tls};
use headway_schedule::Strategy;
use headway_testlink::{Certificates, Direction, SERVER_NAME, Wire};

pub(crate) const PROTOCOL: &str = "test";
/// Of all that endpoints draw.
const SEED: u64 = 1;

/// What an application does at one end.
pub(crate) trait Application {
    fn event(&mut self, now: Instant, connection: &mut Connection, event: Event);

    /// The connection is over, and may be gone.
    fn closed(&mut self, close: Close);
}

/// One that does nothing.
pub(crate) struct Idle;

impl Application for Idle {
    fn event(&mut self, _now: Instant, _connection: &mut Connection, _event: Event) {}

    fn closed(&mut self, _close: Close) {}
}

/// The path between two neighbours.
pub(crate) struct Hop {
    /// Towards the server.
    pub(crate) up: Wire,
    /// Towards the client.
    pub(crate) down: Wire,
}

/// A proxy and the most that ever waited in it.
pub(crate) struct Node {
    pub(crate) pep: Pep,
    pub(crate) records: Vec<Record>,
    pub(crate) most_queued: u64,
}

/// The whole row.
pub(crate) struct Chain {
    pub(crate) began: Instant,
    pub(crate) now: Instant,
    pub(crate) client: Endpoint,
    pub(crate) nodes: Vec<Node>,
    pub(crate) server: Endpoint,
    pub(crate) hops: Vec<Hop>,
    pub(crate) client_config: Arc<Config>,
    pub(crate) server_config: Arc<Config>,
    pub(crate) certificates: Certificates,
    client_tls: Arc<QuicClientConfig>,
    server_tls: Arc<QuicServerConfig>,
    /// The server's connections in the order in which they began.
    pub(crate) server_keys: Vec<ConnectionKey>,
    /// Whether the server answers at all.
    pub(crate) server_lives: bool,
}

/// The address of the n-th of the row from the client, towards the client.
fn address(node: usize) -> SocketAddr {
    format!("10.0.{node}.2:443").parse().unwrap()
}

pub(crate) fn ms(value: u64) -> Duration {
    Duration::from_millis(value)
}

/// Hops without loss and without limits, with these one-way delays in milliseconds.
pub(crate) fn delays<const N: usize>(one_way_ms: [u64; N]) -> [Direction; N] {
    one_way_ms.map(|delay| Direction::delay(ms(delay)))
}

impl Chain {
    /// A row with a proxy between every two hops.
    pub(crate) fn new(hops: &[Direction], settings: impl Fn(&mut Settings)) -> Self {
        let now = Instant::now();
        let certificates = Certificates::new(SEED);
        let node = |number: usize| {
            let mut own = Settings::towards(address(number + 1));
            settings(&mut own);
            let tls = Tls::new(&certificates.server(&[]), &certificates.client(&[])).unwrap();
            let seeds = [0, 1].map(|side| Seed::known(SEED + 2 + 2 * number as u64 + side));
            Node { pep: Pep::new(own, tls, &seeds), records: Vec::new(), most_queued: 0 }
        };
        let server_tls = Arc::new(server_tls(&certificates));
        let client_tls = QuicClientConfig::try_from(certificates.client(&[PROTOCOL])).unwrap();
        Self {
            began: now,
            now,
            client: Endpoint::client(&Seed::known(SEED)),
            nodes: (1..hops.len()).map(node).collect(),
            server: Endpoint::server(Arc::clone(&server_tls), &Seed::known(SEED + 1)),
            hops: (0..).zip(hops).map(|(number, direction)| hop(number, direction, now)).collect(),
            client_config: Arc::default(),
            server_config: Arc::default(),
            client_tls: Arc::new(client_tls),
            server_tls,
            certificates,
            server_keys: Vec::new(),
            server_lives: true,
        }
    }

    /// Clients offer these application protocols from now on.
    pub(crate) fn offer(&mut self, protocols: &[&str]) {
        let tls = QuicClientConfig::try_from(self.certificates.client(protocols)).unwrap();
        self.client_tls = Arc::new(tls);
    }

    /// The server forgets its sessions, as if it had been started again.
    pub(crate) fn renew_server_tls(&mut self) {
        self.server_tls = Arc::new(server_tls(&self.certificates));
    }

    /// A client connects to the first proxy.
    pub(crate) fn connect(&mut self) -> ConnectionKey {
        self.client
            .connect(
                self.now,
                address(1),
                SERVER_NAME,
                Arc::clone(&self.client_tls),
                &self.client_config,
                Strategy::Sequential.scheduler(),
            )
            .unwrap()
    }

    pub(crate) fn client(&mut self, key: ConnectionKey) -> &mut Connection {
        self.client.connection(key).expect("it is not drained")
    }

    /// The server's end of the connection that began last.
    pub(crate) fn server(&mut self) -> &mut Connection {
        let key = *self.server_keys.last().expect("a client came");
        self.server.connection(key).expect("it is not drained")
    }

    /// Connections of all proxies and both ends.
    pub(crate) fn connections(&self) -> usize {
        let of_node = |node: &Node| node.pep.connections().0 + node.pep.connections().1;
        self.nodes.iter().map(of_node).sum::<usize>()
            + self.client.connections()
            + self.server.connections()
    }

    /// The only record of a proxy.
    pub(crate) fn record(&self, node: usize) -> &Record {
        let [record] = &self.nodes[node].records[..] else {
            panic!("{:?}", self.nodes[node].records)
        };
        record
    }

    /// Runs until nothing is on its way and no timer is set, or for some time.
    pub(crate) fn run(
        &mut self,
        client: &mut dyn Application,
        server: &mut dyn Application,
        time: Duration,
    ) {
        let end = self.now + time;
        loop {
            self.turn(client, server);
            match self.next() {
                Some(next) if next <= end => self.go_to(next),
                _ => return self.go_to(end),
            }
            self.deliver();
        }
    }

    fn next(&mut self) -> Option<Instant> {
        let wires = self.hops.iter().flat_map(|hop| [&hop.up, &hop.down]);
        let arrivals = wires.filter_map(Wire::next_arrival);
        let of_nodes = self.nodes.iter_mut().filter_map(|node| node.pep.deadline());
        let ends = [self.client.deadline(), self.server.deadline()];
        arrivals.chain(of_nodes).chain(ends.into_iter().flatten()).min()
    }

    fn go_to(&mut self, moment: Instant) {
        self.now = self.now.max(moment);
        for hop in &mut self.hops {
            hop.up.set_now(self.now);
            hop.down.set_now(self.now);
        }
    }

    fn deliver(&mut self) {
        let last = self.hops.len() - 1;
        for index in 0..=last {
            while let Some(packet) = self.hops[index].up.take_arrived() {
                let down = &mut self.hops[index].down;
                if index < last {
                    let pep = &mut self.nodes[index].pep;
                    pep.receive(self.now, Peer::Client, down, packet.into()).unwrap();
                } else if self.server_lives {
                    self.server.receive(self.now, down, packet.into()).unwrap();
                }
            }
            while let Some(packet) = self.hops[index].down.take_arrived() {
                let up = &mut self.hops[index].up;
                if index == 0 {
                    self.client.receive(self.now, up, packet.into()).unwrap();
                } else {
                    let pep = &mut self.nodes[index - 1].pep;
                    pep.receive(self.now, Peer::Server, up, packet.into()).unwrap();
                }
            }
        }
        while let Some(incoming) = self.server.next_incoming() {
            let (tls, config) = (Arc::clone(&self.server_tls), &self.server_config);
            let scheduler = Strategy::Sequential.scheduler();
            let down = &mut self.hops[last].down;
            let key = self.server.accept(self.now, down, incoming, tls, config, scheduler);
            // A client that the server does not want is told, and is none.
            self.server_keys.extend(key);
        }
    }

    fn turn(&mut self, client: &mut dyn Application, server: &mut dyn Application) {
        let last = self.hops.len() - 1;
        for (index, node) in self.nodes.iter_mut().enumerate() {
            let [before, after] = &mut self.hops[index..index + 2] else { unreachable!() };
            node.pep.transmit(self.now, &mut before.down, &mut after.up).unwrap();
            node.most_queued = node.most_queued.max(node.pep.queued());
            node.records.extend(std::iter::from_fn(|| node.pep.next_record()));
        }
        loop {
            self.client.transmit(self.now, &mut self.hops[0].up).unwrap();
            self.server.transmit(self.now, &mut self.hops[last].down).unwrap();
            let mut quiet = true;
            while let Some((key, event)) = self.client.poll() {
                quiet = false;
                tell(self.now, &mut self.client, client, key, event);
            }
            while let Some((key, event)) = self.server.poll() {
                quiet = false;
                tell(self.now, &mut self.server, server, key, event);
            }
            if quiet {
                return;
            }
        }
    }
}

fn tell(
    now: Instant,
    endpoint: &mut Endpoint,
    application: &mut dyn Application,
    key: ConnectionKey,
    event: Event,
) {
    match (event, endpoint.connection(key)) {
        (Event::Closed(close), _) => application.closed(close),
        (event, Some(connection)) => application.event(now, connection, event),
        (_, None) => {}
    }
}

fn server_tls(certificates: &Certificates) -> QuicServerConfig {
    QuicServerConfig::try_from(certificates.server(&[PROTOCOL])).unwrap()
}

fn hop(number: usize, direction: &Direction, now: Instant) -> Hop {
    let near = format!("10.0.{}.1:5000", number + 1).parse().unwrap();
    let seed = direction.seed + 2 * number as u64;
    let towards = |seed| Direction { seed, ..*direction };
    Hop {
        up: Wire::new(towards(seed), near, now),
        down: Wire::new(towards(seed + 1), address(number + 1), now),
    }
}
