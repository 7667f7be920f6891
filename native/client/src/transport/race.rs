//! A connection to whichever of a server's addresses answers first (Happy Eyeballs, RFC 8305, section 5).

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use bytes::Bytes;
use headway_http::event::{Asked, ClientEvent, Failure, RequestId};
use headway_http::tls::Protocol;
use headway_quic::HeadOfLine;
use headway_reactor::{Clock, Reactor, Ready, Token};

use super::{Candidate, Connector, Transport};
use crate::report::{ConnectionRow, TriedRow};
use crate::target::Origin;

/// Below are the tokens of the connections, above the numbers of their attempts.
const ATTEMPT_SHIFT: u32 = 32;

/// The token of the connection that an attempt belongs to.
pub(crate) fn connection_of(token: Token) -> u64 {
    token.0 & u64::from(u32::MAX)
}

fn attempt_of(token: Token) -> usize {
    usize::try_from(token.0 >> ATTEMPT_SHIFT).expect("an index")
}

/// Attempts that begin one after the other until one is connected: the first to be so is the connection.
pub(super) struct Race<'a> {
    connector: &'a Connector,
    number: u64,
    origin: Origin,
    token: Token,
    /// Whether the connection will take several requests at a time.
    takes_several: bool,
    /// Those without an attempt.
    candidates: VecDeque<Candidate>,
    attempts: Vec<Attempt>,
    delay: Duration,
    /// When the next attempt begins, unless all have failed before.
    next_at: Instant,
    /// Requests that wait for the connection.
    asked: Vec<Asked>,
    /// The attempt that is the connection.
    winner: Option<usize>,
    /// Why the last attempt failed, as all have.
    failure: Option<String>,
}

struct Attempt {
    candidate: Candidate,
    transport: Box<dyn Transport>,
}

impl<'a> Race<'a> {
    pub(super) fn new(
        connector: &'a Connector,
        number: u64,
        origin: &Origin,
        candidates: &[Candidate],
        token: Token,
        now: Instant,
    ) -> Self {
        let mut race = Self {
            connector,
            number,
            origin: origin.clone(),
            token,
            takes_several: candidates.iter().all(|one| one.protocol != Protocol::H1),
            candidates: candidates.iter().copied().collect(),
            attempts: Vec::new(),
            delay: connector.attempt_delay,
            next_at: now,
            asked: Vec::new(),
            winner: None,
            failure: None,
        };
        race.begin(now);
        race
    }

    fn connection(&self) -> Option<&dyn Transport> {
        self.winner.map(|winner| self.attempts[winner].transport.as_ref())
    }

    fn connection_mut(&mut self) -> Option<&mut Box<dyn Transport>> {
        self.winner.map(|winner| &mut self.attempts[winner].transport)
    }

    /// Begins an attempt if it is time for one.
    fn begin(&mut self, now: Instant) {
        while self.next_at <= now || self.attempts.iter().all(Attempt::has_failed) {
            let Some(candidate) = self.candidates.pop_front() else { return };
            let token = Token(self.token.0 | (self.attempts.len() as u64) << ATTEMPT_SHIFT);
            let transport =
                self.connector.attempt(self.number, &self.origin, candidate, token, now);
            self.attempts.push(Attempt { candidate, transport });
            self.next_at = now + self.delay;
        }
    }

    /// Once an attempt is connected, it is the connection.
    fn decide(&mut self, now: Instant) {
        self.winner = self.attempts.iter().position(|one| one.transport.is_connected());
        let Some(winner) = self.winner else { return };
        for (index, attempt) in self.attempts.iter_mut().enumerate() {
            if index != winner {
                attempt.transport.end(now);
            }
        }
        for asked in std::mem::take(&mut self.asked) {
            self.attempts[winner].transport.ask(asked);
        }
    }

    /// Once all attempts have failed, and none is left, requests fail as the last of them.
    fn give_up(&mut self, events: &mut Vec<ClientEvent>) {
        let is_lost = self.candidates.is_empty() && self.attempts.iter().all(Attempt::has_failed);
        let last = self.attempts.last().filter(|_| is_lost && self.winner.is_none());
        let Some(reason) = last.and_then(|one| one.transport.failure()) else { return };
        for asked in self.asked.drain(..) {
            let failure = Failure::Connection(reason.to_owned());
            events.push(ClientEvent::Failed { id: asked.id, failure });
        }
        self.failure = Some(reason.to_owned());
    }
}

impl Attempt {
    fn has_failed(&self) -> bool {
        self.transport.failure().is_some()
    }
}

impl Transport for Race<'_> {
    fn is_free(&self) -> bool {
        match self.connection() {
            Some(connection) => connection.is_free(),
            None => self.asked.is_empty() || self.takes_several,
        }
    }

    fn is_closed(&self) -> bool {
        self.failure.is_some() || self.connection().is_some_and(Transport::is_closed)
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref().or_else(|| self.connection().and_then(Transport::failure))
    }

    fn is_connected(&self) -> bool {
        self.connection().is_some_and(Transport::is_connected)
    }

    fn won(&self) -> Option<Candidate> {
        let winner = &self.attempts[self.winner?];
        winner.transport.is_connected().then_some(winner.candidate)
    }

    fn ask(&mut self, asked: Asked) {
        match self.connection_mut() {
            Some(connection) => connection.ask(asked),
            None => self.asked.push(asked),
        }
    }

    fn proceed(&mut self, id: RequestId) {
        if let Some(connection) = self.connection_mut() {
            connection.proceed(id);
        }
    }

    fn extend(&mut self, id: RequestId, content: Bytes, ends: bool) {
        if let Some(connection) = self.connection_mut() {
            connection.extend(id, content, ends);
        }
    }

    fn cancel(&mut self, id: RequestId) {
        if let Some(connection) = self.connection_mut() {
            connection.cancel(id);
        }
    }

    fn read(&mut self, id: RequestId, bytes: u64, now: Instant) {
        if let Some(connection) = self.connection_mut() {
            connection.read(id, bytes, now);
        }
    }

    fn command(&mut self, reactor: &Reactor, now: Instant) -> io::Result<()> {
        self.connection_mut().map_or(Ok(()), |connection| connection.command(reactor, now))
    }

    fn head_of_line(&self, id: RequestId) -> Option<HeadOfLine> {
        self.connection().and_then(|connection| connection.head_of_line(id))
    }

    fn ready(&mut self, ready: Ready, now: Instant) {
        if let Some(attempt) = self.attempts.get_mut(attempt_of(ready.token)) {
            attempt.transport.ready(ready, now);
        }
    }

    fn turn(
        &mut self,
        reactor: &Reactor,
        now: Instant,
        events: &mut Vec<ClientEvent>,
    ) -> io::Result<()> {
        if self.winner.is_none() {
            self.decide(now);
        }
        if self.winner.is_none() && self.failure.is_none() {
            loop {
                self.begin(now);
                for attempt in &mut self.attempts {
                    attempt.transport.turn(reactor, now, events)?;
                }
                let all_failed = self.attempts.iter().all(Attempt::has_failed);
                if self.candidates.is_empty() || !all_failed {
                    break;
                }
            }
            self.decide(now);
            self.give_up(events);
        }
        match self.connection_mut() {
            Some(connection) => connection.turn(reactor, now, events),
            None => Ok(()),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        if let Some(connection) = self.connection() {
            return connection.deadline();
        }
        let next = (!self.candidates.is_empty()).then_some(self.next_at);
        let attempts = self.attempts.iter().filter_map(|one| one.transport.deadline());
        attempts.chain(next).min()
    }

    fn end(&mut self, now: Instant) {
        for attempt in &mut self.attempts {
            attempt.transport.end(now);
        }
    }

    /// That of the connection, or of the last attempt, with all attempts.
    fn row(&self, clock: &Clock) -> ConnectionRow {
        let rows: Vec<_> = self.attempts.iter().map(|one| one.transport.row(clock)).collect();
        let own = self.winner.unwrap_or(rows.len() - 1);
        let tried = rows.iter().map(TriedRow::of).collect();
        ConnectionRow { tried, ..rows[own].clone() }
    }
}
