use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Instant;

use headway_knobs::limits::Limits as _;
use headway_reactor::{
    Acceptor, Addresses, Application, Log, Looks, Reactor, Ready, Signal, Signals, Token,
    raise_descriptors, say,
};

use crate::connection::{Connection, End, Side};
use crate::half::Half;
use crate::limits::Limits;
use crate::log::Entry;
use crate::options::Options;
use crate::socket::{Accepted, SideOptions, Upstream, connect, listen};
use crate::vessel::Vessels;

const END: Token = Token(0);
const ACT: Token = Token(1);
const FIRST_LISTENER: u64 = 2;
/// The tokens of connections: two for each.
const FIRST_HALF: u64 = 1 << 32;

/// Two sockets, and for each direction a pipe.
const FILES_PER_CONNECTION: u64 = 6;
/// Files for everything else.
const OTHER_FILES: u64 = 200;

/// Why the proxy cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// An address cannot be listened on.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// The log cannot be written.
    #[error("{}: {source}", path.display())]
    Log {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The kernel does not do what is needed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The proxy: its listeners, its connections and what they share.
pub(crate) struct Pep {
    signals: Signals,
    listeners: Vec<Acceptor>,
    upstream: Upstream,
    server_side: SideOptions,
    client_side: SideOptions,
    connections: HashMap<u64, Connection>,
    max_connections: usize,
    accepted: u64,
    vessels: Vessels,
    limits: Limits,
    addresses: Addresses,
    looks: Looks<u64>,
    log: Log,
    stopped: bool,
}

impl Pep {
    /// Listens on all addresses.
    pub(crate) fn start(options: &Options, reactor: &Reactor) -> Result<Self, StartError> {
        let (client_side, server_side) = (options.client_side(), options.server_side());
        client_side.check()?;
        server_side.check()?;
        let log =
            Log::open("headway-tcp-pep: log", options.log.as_deref(), Instant::now()).map_err(
                |source| StartError::Log { path: options.log.clone().unwrap_or_default(), source },
            )?;
        let upstream = options.to.map_or(Upstream::Transparent, Upstream::Fixed);
        Ok(Self {
            signals: Signals::register(reactor, END, ACT)?,
            listeners: listeners(&options.listen, upstream, &client_side, reactor)?,
            upstream,
            server_side,
            client_side,
            connections: HashMap::new(),
            max_connections: options.max_connections.min(connections_for_files()),
            accepted: 0,
            vessels: Vessels::new(options.copy),
            limits: options.limits,
            addresses: Addresses::new(options.limits.connections_per_address),
            looks: Looks::new(options.limits.shortest_time()),
            log,
            stopped: false,
        })
    }

    fn accept(&mut self, listener: usize, reactor: &Reactor, now: Instant) -> io::Result<()> {
        while self.connections.len() < self.max_connections {
            let Some((stream, client)) = self.listeners[listener].accept(reactor, now)? else {
                break;
            };
            if let Ok(accepted) = Accepted::new(stream, client, self.upstream) {
                if self.addresses.open(client.ip()) {
                    self.open(accepted, reactor, now);
                }
            }
        }
        self.listen(reactor)
    }

    fn open(&mut self, accepted: Accepted, reactor: &Reactor, now: Instant) {
        self.accepted += 1;
        let number = self.accepted;
        let client = Half::new(accepted.stream, accepted.client, token(number, Side::Client));
        let opened = self.client_side.established(&client.stream).and_then(|()| {
            connect(accepted.client, accepted.server, self.upstream, &self.server_side)
        });
        match opened {
            Ok(stream) => {
                let server = Half::new(stream, accepted.server, token(number, Side::Server));
                self.connections.insert(number, Connection::new(client, server, now));
                self.looks.add(number, now, None);
                self.watch(number, reactor, now);
            }
            Err(error) => {
                client.reset_on_drop();
                self.addresses.close(accepted.client.ip());
                self.log.write(|log| {
                    Entry::refused(log.seconds(now), number, &client, accepted.server, &error)
                });
            }
        }
    }

    /// Waits for what a connection needs next. One that cannot be waited for is over.
    fn watch(&mut self, number: u64, reactor: &Reactor, now: Instant) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        if let Err(error) = connection.watch(reactor) {
            self.over(number, &End::Lost(Side::Client, error), now);
        }
    }

    fn progress(&mut self, ready: Ready, reactor: &Reactor, now: Instant) -> io::Result<()> {
        let (number, side) = half(ready.token);
        // Both halves may be ready at the same time, and the first have ended the connection.
        let Some(connection) = self.connections.get_mut(&number) else { return Ok(()) };
        let was_established = connection.connect_time.is_some();
        match connection.ready(side, ready, &self.server_side, &mut self.vessels, now) {
            Ok(()) => {
                if !was_established && connection.connect_time.is_some() {
                    self.log.write(|log| Entry::new(log, number, connection, None, now));
                }
                self.watch(number, reactor, now);
            }
            Err(end) => self.over(number, &end, now),
        }
        self.listen(reactor)
    }

    fn over(&mut self, number: u64, end: &End, now: Instant) {
        let Some(connection) = self.connections.remove(&number) else { return };
        self.addresses.close(connection.client.peer.ip());
        self.looks.remove(number);
        self.vessels.lose(connection.vessels());
        if !matches!(end, End::Complete) {
            connection.abort();
        }
        self.log.write(|log| Entry::new(log, number, &connection, Some(end), now));
    }

    /// Ends connections that have had their time.
    fn look(&mut self, now: Instant) {
        while let Some(number) = self.looks.next(now) {
            let Some(connection) = self.connections.get_mut(&number) else { continue };
            match connection.look(&self.limits, now) {
                Ok(at) => self.looks.add(number, now, at),
                Err(end) => self.over(number, &end, now),
            }
        }
    }

    /// Ends connections that have waited for the longest while too much waits.
    fn end_stalled(&mut self, now: Instant) {
        let Some(limit) = self.limits.relay_bytes else { return };
        while self.vessels.lent_bytes() > limit {
            let waiting = self.connections.iter().filter(|(_, one)| one.vessels() > 0);
            let longest = waiting.min_by_key(|(number, one)| (one.taken(), **number));
            let Some((&number, connection)) = longest else { return };
            let seconds = now.saturating_duration_since(connection.taken()).as_secs_f64();
            let [limit, held] = [limit, self.vessels.lent_bytes()].map(|bytes| bytes as f64 / 1e6);
            let reason = format!(
                "relay-memory={limit}MB: what waits may take {held:.1} MB; of this connection \
                 nothing was taken for {seconds:.1} s, the longest"
            );
            self.over(number, &End::Limit(reason), now);
        }
    }

    /// Waits for further connections if there is room for them; else the kernel holds them.
    fn listen(&mut self, reactor: &Reactor) -> io::Result<()> {
        let has_room = self.connections.len() < self.max_connections;
        self.listeners.iter_mut().try_for_each(|listener| listener.set_room(reactor, has_room))
    }

    fn stop(&mut self, now: Instant) {
        let mut numbers: Vec<u64> = self.connections.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            self.over(number, &End::Stopped, now);
        }
        self.log.end();
        if let Some(refusals) = self.addresses.refusals() {
            say!("headway-tcp-pep: {refusals}");
        }
        self.stopped = true;
    }
}

impl Application for Pep {
    type Error = io::Error;

    fn ready(&mut self, reactor: &Reactor, now: Instant, ready: Ready) -> io::Result<()> {
        match ready.token {
            // There is nothing to be done on command.
            END | ACT => {
                if self.signals.take(ready.token) == Some(Signal::End) {
                    self.stop(now);
                }
                Ok(())
            }
            Token(number) if number >= FIRST_HALF => self.progress(ready, reactor, now),
            Token(number) => {
                let listener = usize::try_from(number - FIRST_LISTENER).unwrap_or(usize::MAX);
                self.accept(listener, reactor, now)
            }
        }
    }

    fn turn(&mut self, reactor: &Reactor, now: Instant) -> io::Result<()> {
        self.look(now);
        self.end_stalled(now);
        self.log.flush();
        self.listen(reactor)?;
        self.listeners.iter_mut().try_for_each(|listener| listener.turn(reactor, now))
    }

    fn deadline(&self) -> Option<Instant> {
        let listeners = self.listeners.iter().map(Acceptor::deadline);
        listeners.chain([self.looks.deadline()]).flatten().min()
    }

    fn finished(&self) -> bool {
        self.stopped
    }
}

fn token(number: u64, side: Side) -> Token {
    Token(FIRST_HALF + 2 * number + u64::from(side == Side::Server))
}

/// Which connection's half a token stands for.
fn half(token: Token) -> (u64, Side) {
    let halves = token.0 - FIRST_HALF;
    (halves / 2, if halves % 2 == 0 { Side::Client } else { Side::Server })
}

fn listeners(
    addresses: &[SocketAddr],
    upstream: Upstream,
    options: &SideOptions,
    reactor: &Reactor,
) -> Result<Vec<Acceptor>, StartError> {
    let mut listeners = Vec::new();
    for (token, &address) in (FIRST_LISTENER..).map(Token).zip(addresses) {
        let listener = listen(address, upstream, options)
            .map_err(|error| StartError::Listen(address, error))?;
        say!("headway-tcp-pep: listening on {}", listener.local_addr()?);
        listeners.push(Acceptor::register(listener, reactor, token)?);
    }
    Ok(listeners)
}

/// For how many connections the files that this process may have open are enough.
fn connections_for_files() -> usize {
    let connections = raise_descriptors().saturating_sub(OTHER_FILES) / FILES_PER_CONNECTION;
    usize::try_from(connections).unwrap_or(usize::MAX).max(1)
}
