//! A client, proxies and a server in a row, in one process and in virtual time.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use headway_quic::{
    Close, Config, Connection, ConnectionKey, Endpoint, Event, QuicClientConfig, QuicServerConfig,
    Seed,
};
use headway_quic_pep::{Peer, Pep, Record, Settings, Tls};
use headway_schedule::Strategy;
use headway_testlink::{
    Certificates, Datagram, Direction, Drop, Host, Outbox, SERVER_NAME, Time, Wire, simulate,
};

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
    /// What it sends to its client, and to its server.
    outboxes: [Outbox; 2],
}

/// The whole row.
pub(crate) struct Chain {
    pub(crate) began: Instant,
    pub(crate) now: Instant,
    pub(crate) client: Endpoint,
    pub(crate) nodes: Vec<Node>,
    pub(crate) server: Endpoint,
    pub(crate) hops: Vec<Hop>,
    /// Of the client, and of the server.
    outboxes: [Outbox; 2],
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

/// What is sent from there, and by the one before it.
fn outboxes(node: usize, before: usize) -> [Outbox; 2] {
    [Outbox::of(&address(node).to_string()), Outbox::of(&format!("10.0.{}.1:5000", before + 1))]
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
            let (pep, outboxes) = (Pep::new(own, tls, &seeds), outboxes(number, number));
            Node { pep, records: Vec::new(), most_queued: 0, outboxes }
        };
        let server_tls = Arc::new(server_tls(&certificates));
        let client_tls = QuicClientConfig::try_from(certificates.client(&[PROTOCOL])).unwrap();
        Self {
            began: now,
            now,
            client: Endpoint::client(&Seed::known(SEED)),
            nodes: (1..hops.len()).map(node).collect(),
            server: Endpoint::server(Arc::clone(&server_tls), &Seed::known(SEED + 1)),
            hops: (0..).zip(hops).map(|(number, direction)| hop(number, direction)).collect(),
            outboxes: outboxes(hops.len(), 0),
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
        let (began, mut clock) = (self.began, self.now - self.began);
        let end = clock + time;
        let [server_outbox, client_outbox] = &mut self.outboxes;
        let mut client = Host {
            began,
            endpoint: &mut self.client,
            outbox: client_outbox,
            tells_first: false,
            accept: Box::new(|_, _, _, _| unreachable!("clients accept nobody")),
            tell: Box::new(|now, _, connection, event| tell(client, now, connection, event)),
        };
        let mut server = Host {
            began,
            endpoint: &mut self.server,
            outbox: server_outbox,
            tells_first: false,
            accept: Box::new(|now, endpoint, outbox, incoming| {
                let (tls, config) = (Arc::clone(&self.server_tls), &self.server_config);
                let scheduler = Strategy::Sequential.scheduler();
                // A client that the server does not want is told, and is none.
                let key = endpoint.accept(now, outbox, incoming, tls, config, scheduler);
                self.server_keys.extend(key);
            }),
            tell: Box::new(|now, _, connection, event| tell(server, now, connection, event)),
        };
        let mut dead = Drop::when(|_, _| true);
        let nodes: Vec<_> = self.nodes.iter_mut().map(RefCell::new).collect();
        let face = |from| nodes.iter().map(move |node| Face { began, node, from });
        let (mut forth, mut back): (Vec<_>, Vec<_>) =
            (face(Peer::Client).collect(), face(Peer::Server).collect());
        let (mut forth, mut back) = (forth.iter_mut(), back.iter_mut().rev());
        let (ups, downs): (Vec<_>, Vec<_>) =
            self.hops.iter_mut().map(|hop| (&mut hop.up, &mut hop.down)).unzip();

        // Client, up, proxy, up, ..., server, down, proxy, down, ..., and round again.
        let mut ring: Vec<&mut dyn headway_testlink::Node<Datagram>> = vec![&mut client];
        for up in ups {
            ring.push(up);
            ring.extend(forth.next().map(|face| face as _));
        }
        if self.server_lives {
            ring.push(&mut server);
        } else {
            ring.push(&mut dead);
        }
        for down in downs.into_iter().rev() {
            ring.push(down);
            ring.extend(back.next().map(|face| face as _));
        }
        simulate(&mut clock, end, &mut ring);
        self.now += time;
    }
}

/// A proxy as it is seen by what comes from one side and goes on to the other.
struct Face<'a, 'b> {
    began: Instant,
    node: &'a RefCell<&'b mut Node>,
    from: Peer,
}

impl Face<'_, '_> {
    /// Of its outboxes, the one of what goes on.
    fn onwards(&self) -> usize {
        usize::from(self.from == Peer::Client)
    }
}

impl headway_testlink::Node<Datagram> for Face<'_, '_> {
    fn receive(&mut self, now: Time, datagram: Datagram) {
        let Node { pep, outboxes, .. } = &mut **self.node.borrow_mut();
        let back = &mut outboxes[1 - self.onwards()];
        pep.receive(self.began + now, self.from, back, datagram.into()).unwrap();
    }

    fn send(&mut self, now: Time) -> Option<Datagram> {
        let node = &mut **self.node.borrow_mut();
        let [down, up] = &mut node.outboxes;
        node.pep.transmit(self.began + now, down, up).unwrap();
        node.most_queued = node.most_queued.max(node.pep.queued());
        node.records.extend(std::iter::from_fn(|| node.pep.next_record()));
        node.outboxes[self.onwards()].take()
    }

    fn wake(&mut self) -> Option<Time> {
        let node = &mut **self.node.borrow_mut();
        if !node.outboxes[self.onwards()].is_empty() {
            return Some(Time::ZERO);
        }
        node.pep.deadline().map(|at| at.saturating_duration_since(self.began))
    }
}

fn tell(
    application: &mut dyn Application,
    now: Instant,
    connection: Option<&mut Connection>,
    event: Event,
) {
    match (event, connection) {
        (Event::Closed(close), _) => application.closed(close),
        (event, Some(connection)) => application.event(now, connection, event),
        (_, None) => {}
    }
}

fn server_tls(certificates: &Certificates) -> QuicServerConfig {
    QuicServerConfig::try_from(certificates.server(&[PROTOCOL])).unwrap()
}

fn hop(number: u64, direction: &Direction) -> Hop {
    let [up, down] = [0, 1].map(|way| {
        let seed = direction.seed + 2 * number + way;
        Wire::from(Direction { seed, ..*direction })
    });
    Hop { up, down }
}
