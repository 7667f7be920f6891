//! Serves over UDP and TCP, from one thread.

use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use headway_reactor::{
    Acceptor, Application, Clock, Interest, Lines, Reactor, Ready, Signal, Signals, Token,
    UdpSocket, run, say,
};
use serde::Serialize;

use crate::Failure;
use crate::answer::{Told, Transport, answered};
use crate::options::Options;
use crate::stream::Stream;
use crate::zone::Zone;

const END: Token = Token(0);
const ACT: Token = Token(1);
const UDP: Token = Token(2);
const TCP: Token = Token(3);
const FIRST_STREAM: u64 = 4;
const MOST_STREAMS: usize = 100;

/// Serves until a signal ends it.
pub(crate) fn serve(options: &Options) -> Result<(), Failure> {
    let clock = Clock::start();
    let path = &options.zone;
    let unread = |source| Failure::Unread { path: path.clone(), source };
    let text = fs::read_to_string(path).map_err(unread)?;
    let zone = Zone::read(&text).map_err(|source| Failure::Zone { path: path.clone(), source })?;
    let unwritten = |source| Failure::Report { path: options.report.clone(), source };
    let report =
        Lines::open("headway-dns: report", Some(options.report.as_path())).map_err(unwritten)?;
    let failed = |error| Failure::Bind(options.listen, error);
    let mut reactor = Reactor::new()?;
    let socket = UdpSocket::bind(options.listen).map_err(failed)?;
    reactor.register(&socket, UDP, Interest::Read)?;
    let listener = TcpListener::bind(options.listen).map_err(failed)?;
    listener.set_nonblocking(true)?;
    let acceptor = Acceptor::register(listener, &reactor, TCP)?;
    let signals = Signals::register(&reactor, END, ACT)?;
    say!("headway-dns: on {}", options.listen);
    let mut server = Server {
        zone,
        delay: options.delay,
        clock,
        report,
        socket,
        acceptor,
        signals,
        streams: BTreeMap::new(),
        next: FIRST_STREAM,
        waiting: BTreeMap::new(),
        asked: 0,
        finished: false,
    };
    run(&mut reactor, &mut server)
}

/// Where an answer goes.
#[derive(Clone, Copy, Debug)]
enum Asker {
    Udp(SocketAddr),
    Tcp(Token),
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
    report: Lines,
    socket: UdpSocket,
    acceptor: Acceptor,
    signals: Signals,
    streams: BTreeMap<Token, (Stream, SocketAddr)>,
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
        };
        let Some((told, answer)) = answered(&self.zone, query, over) else { return };
        if let Some(fault) = &told.fault {
            say!("headway-dns: {}: {fault}", told.name);
        }
        let at_s = self.clock.seconds(now);
        let line = Line { at_s, at_unix_s: self.clock.started_unix_s() + at_s, client, told };
        if let Ok(text) = serde_json::to_vec(&line) {
            self.report.write(&text);
        }
        self.asked += 1;
        if let Some(answer) = answer {
            self.waiting.insert((now + self.delay, self.asked), (asker, answer));
        }
    }

    fn send(&mut self, reactor: &Reactor, asker: Asker, answer: &[u8]) -> Result<(), Failure> {
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
        }
        Ok(())
    }

    fn accept(&mut self, reactor: &Reactor, now: Instant) -> Result<(), Failure> {
        while let Some((socket, client)) = self.acceptor.accept(reactor, now)? {
            let token = Token(self.next);
            self.next += 1;
            let stream = Stream::new(socket)?;
            reactor.register(&stream, token, Interest::Read)?;
            self.streams.insert(token, (stream, client));
            self.acceptor.set_room(reactor, self.streams.len() < MOST_STREAMS)?;
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

    fn close(&mut self, reactor: &Reactor, token: Token) -> Result<(), Failure> {
        if let Some((stream, _)) = self.streams.remove(&token) {
            reactor.deregister(&stream)?;
        }
        Ok(self.acceptor.set_room(reactor, true)?)
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
            token => self.heard(reactor, token, now),
        }
    }

    fn turn(&mut self, reactor: &Reactor, now: Instant) -> Result<(), Failure> {
        self.acceptor.turn(reactor, now)?;
        while let Some(due) = self.waiting.first_entry().filter(|one| one.key().0 <= now) {
            let (asker, answer) = due.remove();
            self.send(reactor, asker, &answer)?;
        }
        if self.finished {
            self.report.end();
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        let waiting = self.waiting.first_key_value().map(|((due, _), _)| *due);
        [waiting, self.acceptor.deadline()].into_iter().flatten().min()
    }

    fn finished(&self) -> bool {
        self.finished
    }
}
