//! A client's endpoint, a server's endpoint and the path between them.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use headway_quic::{
    Config, Connection, ConnectionKey, Endpoint, Event, QuicClientConfig, QuicServerConfig, Seed,
};
use headway_schedule::Strategy;
use headway_testlink::{Certificates, Direction, Host, Outbox, SERVER_NAME, Wire, simulate};

const SERVER: &str = "10.0.0.2:443";
const CLIENT: &str = "10.0.0.1:5000";
/// Of all that endpoints draw.
const SEED: u64 = 1;

/// What an application does on one side.
pub(crate) trait Application {
    /// A client was accepted.
    fn accepted(&mut self, _key: ConnectionKey) {}

    /// Something happened on a connection, which is gone if it timed out.
    fn handle(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        connection: Option<&mut Connection>,
        event: Event,
    );
}

/// What a pair is made of.
pub(crate) struct Setup {
    pub(crate) strategy: &'static str,
    pub(crate) client: &'static str,
    pub(crate) direction: Direction,
}

impl Default for Setup {
    fn default() -> Self {
        let direction = Direction::new(10.0, Duration::from_millis(20), 1 << 20);
        Self { strategy: "rfc9218", client: "", direction }
    }
}

pub(crate) struct Pair {
    pub(crate) now: Instant,
    pub(crate) client: Endpoint,
    pub(crate) server: Endpoint,
    /// The client's connections.
    pub(crate) keys: Vec<ConnectionKey>,
    began: Instant,
    up: Wire,
    down: Wire,
    outboxes: [Outbox; 2],
    certificates: Certificates,
    client_tls: Arc<QuicClientConfig>,
    server_tls: Arc<QuicServerConfig>,
    client_config: Arc<Config>,
    pub(crate) server_config: Arc<Config>,
    strategy: Strategy,
}

impl Pair {
    /// Both endpoints, without connections.
    pub(crate) fn new(setup: &Setup) -> Self {
        let now = Instant::now();
        let certificates = Certificates::new(SEED);
        let client = Arc::new(certificates.client(&["h3"]));
        let server_tls = server_tls(&certificates);
        let up = Direction { seed: 1, ..setup.direction };
        Self {
            now,
            began: now,
            client: Endpoint::client(&Seed::known(SEED)),
            keys: Vec::new(),
            server: Endpoint::server(Arc::clone(&server_tls), &Seed::known(SEED + 1)),
            up: up.into(),
            down: setup.direction.into(),
            outboxes: [CLIENT, SERVER].map(Outbox::of),
            certificates,
            client_tls: Arc::new(client.try_into().unwrap()),
            server_tls,
            client_config: Arc::new(setup.client.parse().unwrap()),
            server_config: Arc::default(),
            strategy: setup.strategy.parse().unwrap(),
        }
    }

    /// The same with another scheduler at the server.
    pub(crate) fn scheduled(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    /// One more connection.
    pub(crate) fn connect(&mut self) -> ConnectionKey {
        let (remote, tls) = (SERVER.parse().unwrap(), Arc::clone(&self.client_tls));
        let scheduler = Strategy::Sequential.scheduler();
        let key = self
            .client
            .connect(self.now, remote, SERVER_NAME, tls, &self.client_config, scheduler)
            .unwrap();
        self.keys.push(key);
        key
    }

    /// Another server takes over, which knows no sessions.
    pub(crate) fn replace_server(&mut self) {
        self.server_tls = server_tls(&self.certificates);
        self.server = Endpoint::server(Arc::clone(&self.server_tls), &Seed::known(SEED + 2));
    }

    /// Runs until nothing is on its way and no timer is set, or for so long.
    pub(crate) fn run(
        &mut self,
        client: &mut dyn Application,
        server: &mut dyn Application,
        time: Duration,
    ) {
        let (began, mut clock) = (self.began, self.now - self.began);
        let end = clock + time;
        let [client_outbox, server_outbox] = &mut self.outboxes;
        let mut client = Host {
            began,
            endpoint: &mut self.client,
            outbox: client_outbox,
            tells_first: true,
            accept: Box::new(|_, _, _, _| unreachable!("clients accept nobody")),
            tell: Box::new(|now, key, connection, event| {
                client.handle(now, key, connection, event);
            }),
        };
        let application = RefCell::new(server);
        let mut server = Host {
            began,
            endpoint: &mut self.server,
            outbox: server_outbox,
            tells_first: true,
            accept: Box::new(|now, endpoint, outbox, incoming| {
                let (tls, config) = (Arc::clone(&self.server_tls), &self.server_config);
                let scheduler = self.strategy.scheduler();
                let key = endpoint.accept(now, outbox, incoming, tls, config, scheduler);
                application.borrow_mut().accepted(key.unwrap());
            }),
            tell: Box::new(|now, key, connection, event| {
                application.borrow_mut().handle(now, key, connection, event);
            }),
        };
        let ring =
            &mut [&mut client as _, &mut self.up as _, &mut server as _, &mut self.down as _];
        simulate(&mut clock, end, ring);
        self.now += time;
    }
}

fn server_tls(certificates: &Certificates) -> Arc<QuicServerConfig> {
    Arc::new(Arc::new(certificates.server(&["h3"])).try_into().unwrap())
}

/// Long enough for everything.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
