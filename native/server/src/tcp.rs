use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use headway_http::side::{Awaits, Fault, ServerSide};
use headway_http::tcp::{Pipe, PipeError, Reading};
use headway_http::tls::Protocol;
use headway_http::{h1, h2};
use headway_reactor::{Reactor, Ready, Token};

use crate::context::Context;
use crate::exchanges::{Exchanges, Next};
use crate::header_log::HeaderLog;
use crate::limits::Limits;
use crate::patience::{Patience, Phase};

/// How long a client has to end its half of a connection once the server's has ended.
pub(crate) const LINGER: Duration = Duration::from_secs(5);

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It does.
    Open,
    /// The server's half has just ended; the client's has [`LINGER`] left.
    Ending,
    /// It is over and can be dropped.
    Over,
}

/// A TCP connection of a client.
pub(crate) struct TcpConnection {
    pipe: Pipe,
    is_plain: bool,
    h2: h2::ServerOptions,
    /// Once TLS has agreed on the version.
    side: Option<(Protocol, Box<dyn ServerSide>)>,
    exchanges: Exchanges,
    /// What came and was not looked at, for other connections had their turn.
    unread: VecDeque<Bytes>,
    /// It has had its turn, and waits for the next one.
    pub(crate) is_waiting: bool,
    reading: Reading,
    lingers: bool,
    /// Where the client is.
    address: IpAddr,
    patience: Patience,
    /// Bytes that came, and that were taken.
    received: u64,
    written: u64,
}

impl TcpConnection {
    /// Logs what header fields took, when the connection is over.
    pub(crate) fn log_headers(&self, log: &mut HeaderLog) {
        if let Some((_, side)) = &self.side {
            log.write(self.exchanges.began, &side.header_counts());
        }
    }

    /// A connection just accepted.
    pub(crate) fn new(
        pipe: Pipe,
        is_plain: bool,
        h2: h2::ServerOptions,
        exchanges: Exchanges,
        address: IpAddr,
        now: Instant,
    ) -> Self {
        Self {
            pipe,
            is_plain,
            h2,
            side: None,
            exchanges,
            unread: VecDeque::new(),
            is_waiting: false,
            reading: Reading::Open,
            lingers: false,
            address,
            patience: Patience::new(now),
            received: 0,
            written: 0,
        }
    }

    /// Where the client is.
    pub(crate) fn address(&self) -> IpAddr {
        self.address
    }

    fn phase(&self) -> Phase {
        if !self.pipe.is_established() {
            return Phase::Handshake;
        }
        let awaits = self.side.as_ref().map_or(Awaits::Request, |(_, side)| side.awaits());
        match awaits {
            Awaits::Request => Phase::Idle(self.exchanges.count()),
            Awaits::RestOfHead => Phase::Head,
            Awaits::Content => Phase::Responses(self.received),
            Awaits::Nothing => Phase::Responses(self.written),
        }
    }

    /// Looks whether the client has had its time. If it has, it is told, and the connection is over.
    ///
    /// # Returns
    /// Whether it goes on, and when it is to be looked at again at the latest.
    pub(crate) fn look(
        &mut self,
        limits: &Limits,
        context: &mut Context<'_>,
    ) -> (Outcome, Option<Instant>) {
        match self.patience.check(context.now, limits) {
            Ok(at) => (Outcome::Open, at),
            Err(reason) => {
                self.expire(Fault::Slow, &reason, context);
                (Outcome::Over, None)
            }
        }
    }

    /// The connection ends for what its client did or did not do, which it is told.
    pub(crate) fn expire(&mut self, fault: Fault, reason: &str, context: &mut Context<'_>) {
        if matches!(self.phase(), Phase::Responses(_)) {
            // The kernel would keep what nobody takes.
            self.pipe.reset_on_drop();
        }
        if let Some((_, side)) = &mut self.side {
            side.expire(fault, reason);
            self.pipe.hurry();
        }
        // Whatever is wrong with the connection, it is over.
        let _ = self.write(context);
        let _ = self.pipe.finish();
        self.give_up(reason, context);
    }

    /// All that has come from its client, in bytes.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.pipe.read_bytes()
    }

    /// Memory that its client makes it keep, in bytes.
    pub(crate) fn kept(&self) -> u64 {
        let unread: usize = self.unread.iter().map(Bytes::len).sum();
        let side = self.side.as_ref().map_or(0, |(_, side)| side.kept());
        unread as u64 + side + self.exchanges.kept()
    }

    /// Goes on with what is ready, and says what to wait for.
    pub(crate) fn progress(
        &mut self,
        ready: Option<Ready>,
        context: &mut Context<'_>,
        reactor: &Reactor,
        token: Token,
    ) -> Outcome {
        let outcome = self.exchange(ready, context).and_then(|outcome| match outcome {
            Outcome::Over => Ok(outcome),
            _ => Ok(self.watch(reactor, token).map(|()| outcome)?),
        });
        self.patience.note(self.phase(), context.now);
        outcome.unwrap_or_else(|error| {
            self.give_up(&error.to_string(), context);
            Outcome::Over
        })
    }

    /// The server ends: the client is told, as far as there is room.
    pub(crate) fn end(&mut self, context: &mut Context<'_>) {
        if let Some((_, side)) = &mut self.side {
            side.go_away();
        }
        // Whatever is wrong with the connection, it is over.
        let _ = self.write(context);
        let _ = self.pipe.finish();
        self.give_up("the server ends", context);
    }

    fn exchange(
        &mut self,
        ready: Option<Ready>,
        context: &mut Context<'_>,
    ) -> Result<Outcome, PipeError> {
        if let Some(ready) = ready {
            self.pipe.ready(ready, context.now)?;
            if ready.readable && self.unread.is_empty() {
                self.read(context)?;
            }
        }
        if !self.is_waiting {
            self.take(context);
        }
        if let Some((_, side)) = &mut self.side {
            while let Some((id, reply)) = self.exchanges.due(context.now) {
                side.respond(id, reply);
            }
            while let Some((id, said)) = self.exchanges.say(context.now) {
                side.say(id, said);
            }
        }
        self.write(context)?;
        self.finish()
    }

    /// When the next answer is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.exchanges.next_due()
    }

    fn read(&mut self, context: &mut Context<'_>) -> Result<(), PipeError> {
        let unread = &mut self.unread;
        self.reading = self.pipe.read(context.now, |piece| unread.push_back(piece))?;
        self.received += self.unread.iter().map(|piece| piece.len() as u64).sum::<u64>();
        // Early data comes before TLS is established.
        if !self.unread.is_empty() {
            self.begin();
        }
        Ok(())
    }

    /// Answers what has come, as many requests as a turn has.
    fn take(&mut self, context: &mut Context<'_>) {
        let Some((protocol, side)) = &mut self.side else { return };
        side.set_now(context.now);
        let most = context.requests_per_turn.map_or(u64::MAX, u64::from);
        let before = self.exchanges.count();
        while let Some(mut piece) = self.unread.pop_front() {
            let left = most - (self.exchanges.count() - before);
            side.receive_some(&mut piece, usize::try_from(left).unwrap_or(usize::MAX));
            handle_events(*protocol, side.as_mut(), &mut self.exchanges, context);
            if !piece.is_empty() {
                self.unread.push_front(piece);
            }
            if self.exchanges.count() - before >= most {
                return;
            }
        }
    }

    /// Whether it has just had its turn and has more requests: it has to have another one, though
    /// nothing becomes ready.
    pub(crate) fn begins_to_wait(&mut self) -> bool {
        let begins = !self.unread.is_empty() && !self.is_waiting;
        self.is_waiting |= begins;
        begins
    }

    /// Speaks the version of HTTP that TLS agreed on; HTTP/1.1 if none was named.
    fn begin(&mut self) {
        if self.side.is_some() {
            return;
        }
        let side: Box<dyn ServerSide> = match self.pipe.protocol() {
            Some(Protocol::H2) => Box::new(h2::Server::new(self.h2)),
            _ => {
                let side = h1::Server::new(if self.is_plain { "http" } else { "https" });
                Box::new(side.with_websockets(self.h2.takes_websockets))
            }
        };
        self.side = Some((self.pipe.protocol().unwrap_or(Protocol::H1), side));
    }

    fn write(&mut self, context: &mut Context<'_>) -> Result<(), PipeError> {
        if self.pipe.is_established() {
            self.begin();
        }
        let Some((protocol, side)) = &mut self.side else { return Ok(()) };
        let mut bytes = BytesMut::new();
        while side.wants_send() {
            let room = self.pipe.room();
            if room == 0 {
                break;
            }
            side.send(room, &mut bytes);
            handle_events(*protocol, side.as_mut(), &mut self.exchanges, context);
            self.written += bytes.len() as u64;
            self.pipe.write(bytes.split().freeze())?;
        }
        Ok(())
    }

    /// Ends the server's half when nothing more will be sent, which is so, too, if a client that
    /// has ended its own leaves the server waiting.
    fn finish(&mut self) -> Result<Outcome, PipeError> {
        let ended = self.reading == Reading::Ended;
        let done = match &mut self.side {
            Some((_, side)) => {
                side.is_finished() || (ended && self.unread.is_empty() && !side.wants_send())
            }
            None => ended,
        };
        if !done {
            return Ok(Outcome::Open);
        }
        self.pipe.finish()?;
        if ended && self.pipe.is_finished() {
            return Ok(Outcome::Over);
        }
        let first = !std::mem::replace(&mut self.lingers, true);
        Ok(if first { Outcome::Ending } else { Outcome::Open })
    }

    fn watch(&mut self, reactor: &Reactor, token: Token) -> io::Result<()> {
        let (input, output) = match &mut self.side {
            // What comes after the last response is thrown away, until the client ends.
            Some((_, side)) => (side.wants_input() || self.lingers, side.wants_send()),
            None => (true, false),
        };
        let input = input && self.unread.is_empty() && self.reading == Reading::Open;
        self.pipe.watch(reactor, token, input, output)
    }

    /// The connection is over: what was under way is logged.
    pub(crate) fn give_up(&mut self, reason: &str, context: &mut Context<'_>) {
        if let Some((protocol, side)) = &mut self.side {
            side.close(reason);
            handle_events(*protocol, side.as_mut(), &mut self.exchanges, context);
        }
    }
}

fn handle_events(
    protocol: Protocol,
    side: &mut dyn ServerSide,
    exchanges: &mut Exchanges,
    context: &mut Context<'_>,
) {
    while let Some(event) = side.poll() {
        match exchanges.handle(event, protocol, context) {
            Next::Nothing => {}
            Next::Proceed(id) => side.proceed(id),
            Next::Inform(id, interim) => side.inform(id, &interim),
            Next::Respond(id, reply) => side.respond(id, reply),
        }
    }
}
