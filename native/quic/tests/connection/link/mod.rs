//! Two endpoints and the path between them, in one process and in virtual time.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use headway_quic::{
    Config, ConnectFailed, Connection, ConnectionKey, Endpoint, Event, QuicClientConfig,
    QuicServerConfig, Seed,
};
use headway_schedule::Strategy;
use headway_testlink::{
    Certificates, Datagram, Direction, Host, Node, Outbox, Ring, SERVER_NAME, Time, Wire, settle,
    simulate, step,
};

const SERVER: &str = "10.0.0.2:443";
const CLIENT: &str = "10.0.0.1:5000";

/// What an application does on one side; it is called whenever something may have happened.
pub(crate) trait Side {
    fn event(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        connection: &mut Connection,
        event: Event,
    );

    /// Something happened on a connection that is gone.
    fn last_word(&mut self, _event: Event) {}
}

/// Which side of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Client,
    Server,
}

impl End {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// What a pair is made of.
pub(crate) struct Setup {
    pub(crate) client: Config,
    pub(crate) server: Config,
    pub(crate) strategy: Strategy,
    pub(crate) up: Direction,
    pub(crate) down: Direction,
    pub(crate) client_protocol: &'static str,
    /// Whether the server gives tokens.
    pub(crate) gives_tokens: bool,
    /// Of all that endpoints draw.
    pub(crate) seed: u64,
}

impl Setup {
    /// Defaults, and the same in both directions.
    pub(crate) fn symmetric(rate_mbit: f64, one_way: Duration, queue_bytes: u64) -> Self {
        let direction = Direction::new(rate_mbit, one_way, queue_bytes);
        Self {
            client: Config::default(),
            server: Config::default(),
            strategy: Strategy::Sequential,
            up: direction,
            down: direction,
            client_protocol: "test",
            gives_tokens: false,
            seed: 1,
        }
    }

    /// Knobs of the client.
    pub(crate) fn client(mut self, knobs: &str) -> Self {
        self.client.set(knobs).unwrap();
        self
    }

    /// Knobs of the server.
    pub(crate) fn server(mut self, knobs: &str) -> Self {
        self.server.set(knobs).unwrap();
        self
    }

    /// Where both write their traces.
    pub(crate) fn traces(mut self, directory: &Path) -> Self {
        for config in [&mut self.client, &mut self.server] {
            config.qlog_directory = Some(directory.to_owned());
            config.trace_directory = Some(directory.to_owned());
        }
        self
    }

    /// A pair without connections.
    pub(crate) fn unconnected(self) -> Pair {
        let now = Instant::now();
        let certificates = Certificates::new(self.seed);
        let tls = (
            Arc::new(certificates.client(&[self.client_protocol]).try_into().unwrap()),
            server_tls(&certificates, true),
        );
        let [client, server, next_server] =
            [0, 1, 2].map(|n| Seed::known(self.seed.wrapping_mul(3) + n));
        let server = Endpoint::server(Arc::clone(&tls.1), &server);
        Pair {
            began: now,
            clock: Time::ZERO,
            client: Endpoint::client(&client),
            server: if self.gives_tokens { server.giving_tokens() } else { server },
            validated: Vec::new(),
            up: self.up.into(),
            down: self.down.into(),
            outboxes: [CLIENT, SERVER].map(Outbox::of),
            keys: Vec::new(),
            server_keys: Vec::new(),
            certificates,
            next_server,
            tls,
            client_config: Arc::new(self.client),
            server_config: Arc::new(self.server),
            strategy: self.strategy,
        }
    }

    /// A pair with a client that begins to connect.
    pub(crate) fn pair(self) -> Pair {
        let mut pair = self.unconnected();
        pair.connect();
        pair
    }
}

/// A client and a server.
pub(crate) struct Pair {
    began: Instant,
    clock: Time,
    pub(crate) client: Endpoint,
    pub(crate) server: Endpoint,
    pub(crate) up: Wire,
    pub(crate) down: Wire,
    outboxes: [Outbox; 2],
    /// The client's connections.
    pub(crate) keys: Vec<ConnectionKey>,
    server_keys: Vec<ConnectionKey>,
    /// Of each client that came, whether its address was known to be its own.
    pub(crate) validated: Vec<bool>,
    certificates: Certificates,
    next_server: Seed,
    tls: (Arc<QuicClientConfig>, Arc<QuicServerConfig>),
    client_config: Arc<Config>,
    server_config: Arc<Config>,
    strategy: Strategy,
}

fn server_tls(certificates: &Certificates, early_data: bool) -> Arc<QuicServerConfig> {
    let mut tls = certificates.server(&["test"]);
    tls.max_early_data_size = if early_data { u32::MAX } else { 0 };
    Arc::new(tls.try_into().unwrap())
}

pub(crate) const fn ms(value: u64) -> Duration {
    Duration::from_millis(value)
}

impl Pair {
    /// One more connection.
    pub(crate) fn connect(&mut self) -> ConnectionKey {
        self.try_connect().unwrap()
    }

    /// One more connection, if it can be begun.
    pub(crate) fn try_connect(&mut self) -> Result<ConnectionKey, ConnectFailed> {
        let now = self.now();
        let key = self.client.connect(
            now,
            SERVER.parse().unwrap(),
            SERVER_NAME,
            Arc::clone(&self.tls.0),
            &self.client_config,
            self.strategy.scheduler(),
        )?;
        self.keys.push(key);
        Ok(key)
    }

    /// Another server takes over, which knows nothing of what was.
    pub(crate) fn replace_server(&mut self, early_data: bool) {
        self.tls.1 = server_tls(&self.certificates, early_data);
        self.server = Endpoint::server(Arc::clone(&self.tls.1), &self.next_server);
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.clock
    }

    pub(crate) fn now(&self) -> Instant {
        self.began + self.clock
    }

    /// The client's first connection.
    pub(crate) fn connection(&mut self) -> &mut Connection {
        self.client.connection(self.keys[0]).expect("it is not drained")
    }

    /// Both ends of the client's first connection, if they are there.
    pub(crate) fn ends(&mut self) -> [Option<&mut Connection>; 2] {
        let server = self.server_keys.first().and_then(|&key| self.server.connection(key));
        [self.client.connection(self.keys[0]), server]
    }

    /// Whether no packet is on its way.
    pub(crate) fn is_quiet(&self) -> bool {
        self.up.held() + self.down.held() == 0
    }

    /// The client's packets come from another address from now on.
    pub(crate) fn move_client(&mut self, to: &str, deliberate: bool) {
        self.outboxes[0].address = to.parse().unwrap();
        if deliberate {
            self.client.migrate(self.now());
        }
    }

    /// Runs until nothing is on its way and no timer is set, or a limit.
    pub(crate) fn run(&mut self, client: &mut dyn Side, server: &mut dyn Side, limit: Duration) {
        self.with(client, server, |clock, ring| simulate(clock, limit, ring));
    }

    /// Goes on to the next moment at which something happens.
    pub(crate) fn step(&mut self, client: &mut dyn Side, server: &mut dyn Side) -> bool {
        self.with(client, server, |clock, ring| {
            settle(*clock, ring, true);
            step(clock, Time::MAX, ring)
        })
    }

    /// Hands over all that can be, without time going on.
    pub(crate) fn turn(&mut self, client: &mut dyn Side, server: &mut dyn Side) {
        self.with(client, server, |clock, ring| settle(*clock, ring, true));
    }

    fn with<T>(
        &mut self,
        client: &mut dyn Side,
        server: &mut dyn Side,
        go: impl FnOnce(&mut Time, &mut Ring<'_, Datagram>) -> T,
    ) -> T {
        let [client_outbox, server_outbox] = &mut self.outboxes;
        let mut client = Host {
            began: self.began,
            endpoint: &mut self.client,
            outbox: client_outbox,
            tells_first: false,
            accept: Box::new(|_, _, _, _| unreachable!("clients accept nobody")),
            tell: Box::new(|now, key, connection, event| tell(client, now, key, connection, event)),
        };
        let mut server = Host {
            began: self.began,
            endpoint: &mut self.server,
            outbox: server_outbox,
            tells_first: false,
            accept: Box::new(|now, endpoint, outbox, incoming| {
                let (tls, config) = (Arc::clone(&self.tls.1), &self.server_config);
                self.validated.push(incoming.is_validated());
                // Handshakes that cannot succeed fail here or there; the client tells.
                let scheduler = self.strategy.scheduler();
                let accepted = endpoint.accept(now, outbox, incoming, tls, config, scheduler);
                self.server_keys.extend(accepted);
            }),
            tell: Box::new(|now, key, connection, event| tell(server, now, key, connection, event)),
        };
        go(&mut self.clock, &mut [&mut client, &mut self.up, &mut server, &mut self.down])
    }
}

fn tell(
    side: &mut dyn Side,
    now: Instant,
    key: ConnectionKey,
    connection: Option<&mut Connection>,
    event: Event,
) {
    match connection {
        Some(connection) => side.event(now, key, connection, event),
        None => side.last_word(event),
    }
}
