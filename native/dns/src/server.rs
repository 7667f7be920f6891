//! Serves over UDP and TCP, from one thread.

use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use headway_http::event::RequestId;
use headway_http::tls::{Identity, Protocol, ServerTls, Versions, provider};
use headway_reactor::{
    Acceptor, Application, Clock, Interest, Log, Reactor, Ready, Signal, Signals, Token, UdpSocket,
    run, say,
};
use serde::Serialize;

use rustls::ServerConfig;

use crate::Failure;
use crate::answer::{Answered, Told, Transport, answered};
use crate::https::HttpsConnection;
use crate::idle::Idle;
use crate::options::Options;
use crate::stream::Stream;
use crate::zone::Zone;

const END: Token = Token(0);
const ACT: Token = Token(1);
const UDP: Token = Token(2);
const TCP: Token = Token(3);
const HTTPS: Token = Token(4);
const FIRST_STREAM: u64 = 5;
/// Connections of each kind; one more takes the place of the one that has been idle for the longest.
const MOST_CONNECTIONS: usize = 100;
/// Answers that wait for their time.
const MOST_WAITING: usize = 100_000;

/// Serves until a signal ends it.
pub(crate) fn serve(options: &Options) -> Result<(), Failure> {
    let clock = Clock::start();
    let path = &options.zone;
    let unread = |source| Failure::Unread { path: path.clone(), source };
    let text = fs::read_to_string(path).map_err(unread)?;
    let zone = Zone::read(&text).map_err(|source| Failure::Zone { path: path.clone(), source })?;
    let unwritten = |source| Failure::Report { path: options.report.clone(), source };
    let report =
        Log::open("headway-dns: report", Some(options.report.as_path()), clock.start_instant())
            .map_err(unwritten)?;
    let failed = |error| Failure::Bind(options.listen, error);
    let mut reactor = Reactor::new()?;
    let socket = UdpSocket::bind(options.listen).map_err(failed)?;
    reactor.register(&socket, UDP, Interest::Read)?;
    let listener = TcpListener::bind(options.listen).map_err(failed)?;
    listener.set_nonblocking(true)?;
    let acceptor = Acceptor::register(listener, &reactor, TCP)?;
    let https = match (options.https, tls(options)?) {
        (Some(address), Some(config)) => {
            let listener =
                TcpListener::bind(address).map_err(|error| Failure::Bind(address, error))?;
            listener.set_nonblocking(true)?;
            Some((Acceptor::register(listener, &reactor, HTTPS)?, config))
        }
        _ => None,
    };
    let signals = Signals::register(&reactor, END, ACT)?;
    say!("headway-dns: on {}", options.listen);
    let mut server = Server {
        zone,
        delay: options.delay,
        clock,
        report,
        socket,
        acceptor,
        https,
        signals,
        requesting: BTreeMap::new(),
        streams: BTreeMap::new(),
        idle_streams: Idle::new(options.idle_time),
        idle_requesting: Idle::new(options.idle_time),
        next: FIRST_STREAM,
        waiting: BTreeMap::new(),
        asked: 0,
        finished: false,
    };
    run(&mut reactor, &mut server)
}

/// How TLS is spoken, if there is a certificate.
fn tls(options: &Options) -> Result<Option<Arc<ServerConfig>>, Failure> {
    let (Some(chain), Some(key)) = (&options.cert, &options.key) else { return Ok(None) };
    let tls = ServerTls {
        provider: provider(),
        identity: Identity::from_pem_files(chain, key)?,
        protocols: vec![Protocol::H2],
        versions: Versions::All,
        early_data_bytes: 0,
        record_bytes: None,
    };
    Ok(Some(tls.config()?))
}

/// Where an answer goes.
#[derive(Clone, Copy, Debug)]
enum Asker {
    Udp(SocketAddr),
    Tcp(Token),
    Https(Token, RequestId),
}

/// A line of the report.
#[derive(Debug, Serialize)]
struct Line {
    /// When the query came, from the program's start, and in seconds since 1970.
    at_s: f64,
    at_unix_s: f64,
    client: SocketAddr,
    #[serde(flatten)]
    told: Told,
}

struct Server {
    zone: Zone,
    delay: Duration,
    clock: Clock,
    report: Log,
    socket: UdpSocket,
    acceptor: Acceptor,
    https: Option<(Acceptor, Arc<ServerConfig>)>,
    signals: Signals,
    streams: BTreeMap<Token, (Stream, SocketAddr)>,
    /// Connections of HTTPS.
    requesting: BTreeMap<Token, (HttpsConnection, SocketAddr)>,
    idle_streams: Idle,
    idle_requesting: Idle,
    next: u64,
    /// Answers that are not due yet, by when they are and when they were asked for.
    waiting: BTreeMap<(Instant, u64), (Asker, Vec<u8>)>,
    asked: u64,
    finished: bool,
}

impl Server {
    fn asked(&mut self, asker: Asker, client: SocketAddr, query: &[u8], now: Instant) {
        let over = match asker {
            Asker::Udp(_) => Transport::Udp,
            Asker::Tcp(_) => Transport::Tcp,
            Asker::Https(..) => Transport::Https,
        };
        let due = now + self.delay;
        match asker {
            Asker::Tcp(token) => self.idle_streams.used(token, due),
            Asker::Https(token, _) if self.requesting.contains_key(&token) => {
                self.idle_requesting.used(token, due);
            }
            Asker::Udp(_) | Asker::Https(..) => {}
        }
        let Answered { told, answer } = answered(&self.zone, query, over);
        if let Some(told) = told {
            self.note(told, client, now);
        }
        self.asked += 1;
        if let Some(answer) = answer.filter(|_| self.waiting.len() < MOST_WAITING) {
            self.waiting.insert((due, self.asked), (asker, answer));
        }
    }

    fn note(&mut self, told: Told, client: SocketAddr, now: Instant) {
        if let Some(fault) = &told.fault {
            say!("headway-dns: {}: {fault}", told.name);
        }
        let start_unix_s = self.clock.started_unix_s();
        self.report.write(|log| {
            let at_s = log.seconds(now);
            Line { at_s, at_unix_s: start_unix_s + at_s, client, told }
        });
    }

    fn send(
        &mut self,
        reactor: &Reactor,
        asker: Asker,
        answer: &[u8],
        now: Instant,
    ) -> Result<(), Failure> {
        match asker {
            Asker::Udp(client) => {
                self.socket.send((client, None, None), answer);
                self.socket.flush();
            }
            Asker::Tcp(token) => {
                let gone = self
                    .streams
                    .get_mut(&token)
                    .is_some_and(|(stream, _)| stream.answer(answer).is_err());
                if gone {
                    self.close(reactor, token)?;
                }
            }
            Asker::Https(token, id) => {
                if let Some((connection, _)) = self.requesting.get_mut(&token) {
                    connection.answer(id, answer);
                    self.request(reactor, token, None, now);
                }
            }
        }
        Ok(())
    }

    fn accept(&mut self, reactor: &Reactor, now: Instant) -> Result<(), Failure> {
        while let Some((socket, client)) = self.acceptor.accept(reactor, now)? {
            if self.streams.len() >= MOST_CONNECTIONS {
                if let Some(oldest) = self.idle_streams.oldest() {
                    self.close(reactor, oldest)?;
                }
            }
            let token = Token(self.next);
            self.next += 1;
            // A client that is gone already is no reason to end.
            let Ok(stream) = Stream::new(socket) else { continue };
            reactor.register(&stream, token, Interest::Read)?;
            self.streams.insert(token, (stream, client));
            self.idle_streams.used(token, now);
        }
        Ok(())
    }

    fn heard(&mut self, reactor: &Reactor, token: Token, now: Instant) -> Result<(), Failure> {
        let Some((stream, client)) = self.streams.get_mut(&token) else { return Ok(()) };
        let client = *client;
        let Some(queries) = stream.queries() else { return self.close(reactor, token) };
        for query in queries {
            self.asked(Asker::Tcp(token), client, &query, now);
        }
        Ok(())
    }

    fn accept_https(&mut self, reactor: &Reactor, now: Instant) -> Result<(), Failure> {
        let Some((acceptor, tls)) = &mut self.https else { return Ok(()) };
        let mut tokens = Vec::new();
        while let Some((socket, client)) = acceptor.accept(reactor, now)? {
            if self.requesting.len() >= MOST_CONNECTIONS {
                if let Some(oldest) = self.idle_requesting.oldest() {
                    self.requesting.remove(&oldest);
                    self.idle_requesting.remove(oldest);
                }
            }
            if let Ok(connection) = HttpsConnection::new(socket, tls, now) {
                let token = Token(self.next);
                self.next += 1;
                self.requesting.insert(token, (connection, client));
                self.idle_requesting.used(token, now);
                tokens.push(token);
            }
        }
        for token in tokens {
            self.request(reactor, token, None, now);
        }
        Ok(())
    }

    /// Goes on with a connection of HTTPS.
    fn request(&mut self, reactor: &Reactor, token: Token, ready: Option<Ready>, now: Instant) {
        let Some((connection, client)) = self.requesting.get_mut(&token) else { return };
        let (come, client) = (connection.progress(ready, reactor, token, now), *client);
        if come.is_over {
            self.requesting.remove(&token);
            self.idle_requesting.remove(token);
        }
        for (id, query) in come.queries {
            self.asked(Asker::Https(token, id), client, &query, now);
        }
    }

    fn close(&mut self, reactor: &Reactor, token: Token) -> Result<(), Failure> {
        if let Some((stream, _)) = self.streams.remove(&token) {
            reactor.deregister(&stream)?;
        }
        self.idle_streams.remove(token);
        Ok(())
    }

    /// Ends connections that have been of no use for too long.
    fn end_idle(&mut self, reactor: &Reactor, now: Instant) -> Result<(), Failure> {
        while let Some(token) = self.idle_streams.overdue(now) {
            self.close(reactor, token)?;
        }
        while let Some(token) = self.idle_requesting.overdue(now) {
            self.requesting.remove(&token);
            self.idle_requesting.remove(token);
        }
        Ok(())
    }
}

impl Application for Server {
    type Error = Failure;

    fn ready(&mut self, reactor: &Reactor, now: Instant, ready: Ready) -> Result<(), Failure> {
        match ready.token {
            UDP => {
                let mut queries = Vec::new();
                self.socket.receive(|one| queries.push((one.remote, one.payload.to_vec())))?;
                for (client, query) in queries {
                    self.asked(Asker::Udp(client), client, &query, now);
                }
                Ok(())
            }
            TCP => self.accept(reactor, now),
            END | ACT => {
                self.finished |= self.signals.take(ready.token) == Some(Signal::End);
                Ok(())
            }
            HTTPS => self.accept_https(reactor, now),
            token if self.requesting.contains_key(&token) => {
                self.request(reactor, token, Some(ready), now);
                Ok(())
            }
            token => self.heard(reactor, token, now),
        }
    }

    fn turn(&mut self, reactor: &Reactor, now: Instant) -> Result<(), Failure> {
        self.acceptor.turn(reactor, now)?;
        if let Some((acceptor, _)) = &mut self.https {
            acceptor.turn(reactor, now)?;
        }
        while let Some(due) = self.waiting.first_entry().filter(|one| one.key().0 <= now) {
            let (asker, answer) = due.remove();
            self.send(reactor, asker, &answer, now)?;
        }
        self.end_idle(reactor, now)?;
        if self.finished {
            self.report.end();
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        let waiting = self.waiting.first_key_value().map(|((due, _), _)| *due);
        let https = self.https.as_ref().and_then(|(acceptor, _)| acceptor.deadline());
        let idle = [self.idle_streams.deadline(), self.idle_requesting.deadline()];
        let own = [waiting, self.acceptor.deadline(), https];
        own.into_iter().chain(idle).flatten().min()
    }

    fn finished(&self) -> bool {
        self.finished
    }
}
