//! A client's endpoint, a server's endpoint and the path between them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use headway_quic::{
    Config, Connection, ConnectionKey, Endpoint, Event, QuicClientConfig, QuicServerConfig, Seed,
};
use headway_schedule::Strategy;
use headway_testlink::{Certificates, Direction, SERVER_NAME, Wire};

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
        let direction = Direction {
            rate_mbit: 10.0,
            queue_bytes: 1 << 20,
            ..Direction::delay(Duration::from_millis(20))
        };
        Self { strategy: "rfc9218", client: "", direction }
    }
}

pub(crate) struct Pair {
    pub(crate) now: Instant,
    pub(crate) client: Endpoint,
    pub(crate) server: Endpoint,
    /// The client's connections.
    pub(crate) keys: Vec<ConnectionKey>,
    up: Wire,
    down: Wire,
    certificates: Certificates,
    client_tls: Arc<QuicClientConfig>,
    server_tls: Arc<QuicServerConfig>,
    client_config: Arc<Config>,
    server_config: Arc<Config>,
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
            client: Endpoint::client(&Seed::known(SEED)),
            keys: Vec::new(),
            server: Endpoint::server(Arc::clone(&server_tls), &Seed::known(SEED + 1)),
            up: Wire::new(up, CLIENT.parse().unwrap(), now),
            down: Wire::new(setup.direction, SERVER.parse().unwrap(), now),
            certificates,
            client_tls: Arc::new(client.try_into().unwrap()),
            server_tls,
            client_config: Arc::new(setup.client.parse().unwrap()),
            server_config: Arc::default(),
            strategy: setup.strategy.parse().unwrap(),
        }
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
        let end = self.now + time;
        loop {
            self.turn(client, server);
            let arrivals = [self.up.next_arrival(), self.down.next_arrival()];
            let deadlines = [self.client.deadline(), self.server.deadline()];
            let next = arrivals.into_iter().chain(deadlines).flatten().min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            self.set_now(next.max(self.now));
            self.deliver(server);
        }
        self.set_now(self.now.max(end));
    }

    fn set_now(&mut self, now: Instant) {
        self.now = now;
        self.up.set_now(now);
        self.down.set_now(now);
    }

    fn deliver(&mut self, application: &mut dyn Application) {
        while let Some(packet) = self.up.take_arrived() {
            self.server.receive(self.now, &mut self.down, packet.into()).unwrap();
        }
        while let Some(packet) = self.down.take_arrived() {
            self.client.receive(self.now, &mut self.up, packet.into()).unwrap();
        }
        while let Some(incoming) = self.server.next_incoming() {
            let (tls, config) = (Arc::clone(&self.server_tls), &self.server_config);
            let scheduler = self.strategy.scheduler();
            let accepted =
                self.server.accept(self.now, &mut self.down, incoming, tls, config, scheduler);
            application.accepted(accepted.unwrap());
        }
    }

    /// All that came is handled before anything is sent; sending brings events, too.
    fn turn(&mut self, client: &mut dyn Application, server: &mut dyn Application) {
        loop {
            let mut quiet = handle(&mut self.client, self.now, client);
            quiet &= handle(&mut self.server, self.now, server);
            self.client.transmit(self.now, &mut self.up).unwrap();
            self.server.transmit(self.now, &mut self.down).unwrap();
            quiet &= handle(&mut self.client, self.now, client);
            quiet &= handle(&mut self.server, self.now, server);
            if quiet {
                return;
            }
        }
    }
}

/// Hands all events over.
///
/// # Returns
/// Whether there were none.
fn handle(endpoint: &mut Endpoint, now: Instant, application: &mut dyn Application) -> bool {
    let mut quiet = true;
    while let Some((key, event)) = endpoint.poll() {
        quiet = false;
        application.handle(now, key, endpoint.connection(key), event);
    }
    quiet
}

fn server_tls(certificates: &Certificates) -> Arc<QuicServerConfig> {
    Arc::new(Arc::new(certificates.server(&["h3"])).try_into().unwrap())
}

/// Long enough for everything.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
