use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use headway_http::h2;
use headway_http::service::Service;
use headway_http::side::Fault;
use headway_http::tcp::{Pipe, SocketOptions, TlsSide};
use headway_knobs::limits::Limits as _;
use headway_quic::ConnectionKey;
use headway_reactor::{
    Addresses, Application, Budget, Log, Looks, Reactor, Ready, Signals, Token, need_descriptors,
    say,
};

use crate::context::Context;
use crate::exchanges::Exchanges;
use crate::header_log::HeaderLog;
use crate::limits::Limits;
use crate::listener::Listener;
use crate::options::{Options, StartError};
use crate::quic::QuicListener;
use crate::tcp::{LINGER, Outcome, TcpConnection};
use crate::work::Work;

const END: Token = Token(0);
const ACT: Token = Token(1);
/// The tokens of listeners; those of connections follow.
const FIRST_LISTENER: u64 = 2;
/// Connections whose requests go on before it is looked what else has come.
const TURNS_BETWEEN_NEWS: usize = 8;

/// A connection, whatever it goes over.
enum Guest {
    Tcp(Token),
    /// By the number of its listener.
    Quic(usize, ConnectionKey),
}

/// What connections need of the server, while they are borrowed from it.
macro_rules! context {
    ($server:ident, $now:ident) => {
        Context {
            service: $server.service.as_mut(),
            log: &mut $server.log,
            headers: &mut $server.header_log,
            addresses: &mut $server.addresses,
            work: &mut $server.work,
            requests_per_turn: $server.limits.requests_per_turn,
            early_hints: $server.early_hints,
            now: $now,
        }
    };
}

/// The program: its listeners, its connections and what they share.
pub(crate) struct Server {
    signals: Signals,
    listeners: Vec<Listener>,
    /// Their tokens follow those of the other listeners.
    quic: Vec<QuicListener>,
    connections: BTreeMap<Token, TcpConnection>,
    /// Connections that the server has ended and the client may still end, oldest first.
    ending: VecDeque<(Instant, Token)>,
    opened: u64,
    service: Box<dyn Service>,
    log: Log,
    socket: SocketOptions,
    h2: h2::ServerOptions,
    max_connections: usize,
    header_log: HeaderLog,
    limits: Limits,
    addresses: Addresses,
    budget: Budget,
    /// All that has come over TCP, in bytes.
    received_over_tcp: u64,
    looks: Looks<Token>,
    work: Work,
    early_hints: bool,
    /// When answers of connections are due.
    dues: BTreeSet<(Instant, Token)>,
    /// Connections with requests that wait for the next turn, in the order of their turns.
    unfinished: VecDeque<Token>,
    /// When the last turn was.
    turned: Instant,
    finished: bool,
}

impl Server {
    /// Listens on all addresses.
    pub(crate) fn start(options: &Options, reactor: &Reactor) -> Result<Self, StartError> {
        need_descriptors(options.descriptors())?;
        let path = options.access_log.as_deref();
        let log =
            Log::open("headway-server: access log", path, Instant::now()).map_err(|source| {
                let path = options.access_log.clone().unwrap_or_default();
                StartError::File { path, source }
            })?;
        let path = options.header_counts.as_deref();
        let header_log = HeaderLog::open(path).map_err(|source| {
            let path = options.header_counts.clone().unwrap_or_default();
            StartError::File { path, source }
        })?;
        // Whoever reads that it listens can ask.
        let service = options.service()?;
        let listeners = listeners(options, reactor)?;
        let quic = quic_listeners(options, reactor, FIRST_LISTENER + listeners.len() as u64)?;
        Ok(Self {
            signals: Signals::register(reactor, END, ACT)?,
            listeners,
            quic,
            connections: BTreeMap::new(),
            ending: VecDeque::new(),
            opened: 0,
            service,
            log,
            socket: options.socket(),
            h2: options.h2(),
            max_connections: options.max_connections,
            header_log,
            limits: options.limits,
            addresses: Addresses::new(options.limits.newcomers.connections_per_address),
            budget: Budget::new(options.limits.memory),
            received_over_tcp: 0,
            looks: Looks::new(options.limits.shortest_time()),
            work: options.work(),
            early_hints: options.early_hints,
            dues: BTreeSet::new(),
            unfinished: VecDeque::new(),
            turned: Instant::now(),
            finished: false,
        })
    }

    fn accept(&mut self, listener: usize, reactor: &Reactor, now: Instant) -> io::Result<()> {
        while let Some((stream, remote)) = self.listeners[listener].acceptor.accept(reactor, now)? {
            let has_room = self.connections.len() < self.max_connections;
            if has_room && self.addresses.open(remote.ip()) {
                let tls = self.listeners[listener].tls.clone();
                self.open(stream, remote, tls, reactor, now);
            }
        }
        Ok(())
    }

    fn open(
        &mut self,
        stream: TcpStream,
        remote: SocketAddr,
        tls: Option<TlsSide>,
        reactor: &Reactor,
        now: Instant,
    ) {
        let is_plain = tls.is_none();
        let Ok(pipe) = Pipe::accept(stream, &self.socket, tls, now) else {
            return self.addresses.close(remote.ip());
        };
        self.opened += 1;
        let listeners = self.listeners.len() + self.quic.len();
        let token = Token(FIRST_LISTENER + listeners as u64 + self.opened);
        let exchanges = Exchanges::new(self.opened, remote.to_string(), now);
        let connection = TcpConnection::new(pipe, is_plain, self.h2, exchanges, remote.ip(), now);
        self.connections.insert(token, connection);
        self.looks.add(token, now, None);
        self.progress(token, None, reactor, now);
    }

    fn progress(&mut self, token: Token, ready: Option<Ready>, reactor: &Reactor, now: Instant) {
        let Some(connection) = self.connections.get_mut(&token) else { return };
        let mut context = context!(self, now);
        let before = connection.received_bytes();
        let outcome = connection.progress(ready, &mut context, reactor, token);
        self.received_over_tcp += connection.received_bytes() - before;
        match outcome {
            Outcome::Over => return self.remove(token),
            Outcome::Ending => self.ending.push_back((now + LINGER, token)),
            Outcome::Open => {}
        }
        if let Some(at) = connection.next_due() {
            self.dues.insert((at, token));
        }
        if connection.begins_to_wait() {
            self.unfinished.push_back(token);
        }
    }

    /// Goes on with connections that have had a turn and have more requests; as many as let newcomers
    /// wait for a few milliseconds at most.
    fn go_on(&mut self, reactor: &Reactor, now: Instant) {
        for _ in 0..self.unfinished.len().min(TURNS_BETWEEN_NEWS) {
            let Some(token) = self.unfinished.pop_front() else { break };
            if let Some(connection) = self.connections.get_mut(&token) {
                connection.is_waiting = false;
                self.progress(token, None, reactor, now);
            }
        }
    }

    /// Goes on with connections whose answers are due.
    fn answer_due(&mut self, reactor: &Reactor, now: Instant) {
        while let Some(&(at, token)) = self.dues.first().filter(|(at, _)| *at <= now) {
            self.dues.remove(&(at, token));
            self.progress(token, None, reactor, now);
        }
    }

    fn remove(&mut self, token: Token) {
        if let Some(connection) = self.connections.remove(&token) {
            connection.log_headers(&mut self.header_log);
            self.addresses.close(connection.address());
            self.looks.remove(token);
        }
    }

    /// Ends connections that take too much memory.
    fn end_greedy(&mut self, now: Instant) {
        let over_quic: u64 = self.quic.iter().map(QuicListener::received_bytes).sum();
        if !self.budget.is_due(now, self.received_over_tcp + over_quic) {
            return;
        }
        let tcp = self.connections.iter().map(|(&token, one)| (Guest::Tcp(token), one.kept()));
        let mut kept: Vec<_> = tcp.collect();
        for (listener, quic) in self.quic.iter_mut().enumerate() {
            kept.extend(quic.kept().map(|(key, bytes)| (Guest::Quic(listener, key), bytes)));
        }
        for (guest, reason) in self.budget.greedy(kept) {
            let mut context = context!(self, now);
            match guest {
                Guest::Quic(listener, key) => {
                    self.quic[listener].end_greedy(key, &reason, &mut context);
                }
                Guest::Tcp(token) => {
                    if let Some(connection) = self.connections.get_mut(&token) {
                        connection.expire(Fault::Greedy, &reason, &mut context);
                    }
                    self.remove(token);
                }
            }
        }
    }

    /// Ends connections whose clients have had their time.
    fn look(&mut self, now: Instant) {
        while let Some(token) = self.looks.next(now) {
            let Some(connection) = self.connections.get_mut(&token) else { continue };
            let mut context = context!(self, now);
            match connection.look(&self.limits, &mut context) {
                (Outcome::Over, _) => self.remove(token),
                (_, at) => self.looks.add(token, now, at),
            }
        }
    }

    fn end(&mut self, now: Instant) {
        let mut context = context!(self, now);
        for connection in self.connections.values_mut() {
            connection.end(&mut context);
            connection.log_headers(context.headers);
        }
        self.connections.clear();
        for listener in &mut self.quic {
            listener.end(&mut context);
        }
        self.log.end();
        if let Some(refusals) = self.addresses.refusals() {
            say!("headway-server: {refusals}");
        }
        self.finished = true;
    }
}

impl Application for Server {
    type Error = io::Error;

    fn ready(&mut self, reactor: &Reactor, now: Instant, ready: Ready) -> io::Result<()> {
        if ready.token == END || ready.token == ACT {
            // There is nothing to be done on command.
            if self.signals.take(ready.token) == Some(headway_reactor::Signal::End) {
                self.end(now);
            }
            return Ok(());
        }
        let listener = usize::try_from(ready.token.0 - FIRST_LISTENER).unwrap_or(usize::MAX);
        if listener < self.listeners.len() {
            self.accept(listener, reactor, now)
        } else if let Some(quic) = self.quic.get_mut(listener - self.listeners.len()) {
            quic.receive(now)
        } else {
            self.progress(ready.token, Some(ready), reactor, now);
            Ok(())
        }
    }

    fn turn(&mut self, reactor: &Reactor, now: Instant) -> io::Result<()> {
        for listener in &mut self.listeners {
            listener.acceptor.turn(reactor, now)?;
        }
        self.log.flush();
        while let Some((_, token)) = self.ending.front().filter(|(at, _)| *at <= now) {
            let token = *token;
            let mut context = context!(self, now);
            if let Some(connection) = self.connections.get_mut(&token) {
                connection.give_up("the client did not end the connection", &mut context);
            }
            self.remove(token);
            self.ending.pop_front();
        }
        self.go_on(reactor, now);
        self.answer_due(reactor, now);
        self.turned = now;
        self.look(now);
        self.end_greedy(now);
        let mut context = context!(self, now);
        self.quic.iter_mut().try_for_each(|quic| quic.turn(&mut self.opened, &mut context))
    }

    fn deadline(&self) -> Option<Instant> {
        let ending = self.ending.front().map(|&(at, _)| at);
        let listeners = self.listeners.iter().map(|listener| listener.acceptor.deadline());
        let quic = self.quic.iter().map(QuicListener::deadline);
        let unfinished = (!self.unfinished.is_empty()).then_some(self.turned);
        let due = self.dues.first().map(|&(at, _)| at);
        let own = [ending, unfinished, due, self.looks.deadline(), self.budget.deadline()];
        listeners.chain(quic).chain(own).flatten().min()
    }

    fn finished(&self) -> bool {
        self.finished
    }
}

fn listeners(options: &Options, reactor: &Reactor) -> Result<Vec<Listener>, StartError> {
    let secured = match options.tls()? {
        Some(tls) => Some(TlsSide::Server(tls.config()?)),
        None => None,
    };
    let all = options
        .listen
        .iter()
        .filter(|_| secured.is_some())
        .map(|&address| (address, secured.clone()))
        .chain(options.plain.iter().map(|&address| (address, None)));
    let socket = options.socket();
    let mut listeners = Vec::new();
    for (number, (address, tls)) in (FIRST_LISTENER..).zip(all) {
        let listener = Listener::tcp(address, &socket, tls, reactor, Token(number))
            .map_err(|error| StartError::Listen(address, error))?;
        listeners.push(listener);
    }
    Ok(listeners)
}

fn quic_listeners(
    options: &Options,
    reactor: &Reactor,
    first_token: u64,
) -> Result<Vec<QuicListener>, StartError> {
    let Some(quic) = options.quic()? else { return Ok(Vec::new()) };
    (first_token..)
        .zip(&options.listen)
        .map(|(number, &address)| {
            QuicListener::bind(address, quic.clone(), reactor, Token(number))
                .map_err(|error| StartError::Listen(address, error))
        })
        .collect()
}
