use std::io;
use std::time::{Duration, Instant};

use headway_reactor::{Interest, Patience, Reactor, Ready};

use crate::flow::{Fault, Flow};
use crate::half::Half;
use crate::limits::Limits;
use crate::socket::SideOptions;
use crate::vessel::Vessels;

/// What a connection is called whose server could not be connected to.
pub(crate) const UNREACHABLE: &str = "unreachable";

/// One of the two ends that a connection has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Who opened it.
    Client,
    /// Whom it was meant for.
    Server,
}

impl Side {
    /// The other end.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Why a connection is over.
#[derive(Debug)]
pub(crate) enum End {
    /// Both ends have sent everything, and were told that the other has.
    Complete,
    /// The server cannot be connected to.
    Unreachable(io::Error),
    /// An end has reset its half of the connection, or no longer answers.
    Lost(Side, io::Error),
    /// A limit was met, in words.
    Limit(String),
    /// This program ends.
    Stopped,
}

impl End {
    /// Its name in the log.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Unreachable(_) => UNREACHABLE,
            Self::Lost(Side::Client, _) => "client-lost",
            Self::Lost(Side::Server, _) => "server-lost",
            Self::Limit(_) => "limit",
            Self::Stopped => "stopped",
        }
    }

    /// What the kernel said, or what limit was met, if that ends the connection.
    pub(crate) fn error(&self) -> Option<String> {
        match self {
            Self::Unreachable(error) | Self::Lost(_, error) => Some(error.to_string()),
            Self::Limit(reason) => Some(reason.clone()),
            Self::Complete | Self::Stopped => None,
        }
    }
}

/// A connection between client and server, made of two.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) client: Half,
    pub(crate) server: Half,
    /// From the client to the server.
    pub(crate) up: Flow,
    /// From the server to the client.
    pub(crate) down: Flow,
    /// When the client's half was accepted.
    pub(crate) accepted: Instant,
    /// How long the server's half took to be established, once it is.
    pub(crate) connect_time: Option<Duration>,
    patience: Patience<Phase>,
    taken: Instant,
}

/// What a connection is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Connecting to the server.
    Connecting,
    /// Relaying, of which so many bytes are done.
    Relaying(u64),
}

impl Connection {
    /// A client's half, and a server's that is being established.
    pub(crate) fn new(client: Half, server: Half, now: Instant) -> Self {
        let (up, down) = (Flow::new(), Flow::new());
        let patience = Patience::new(Phase::Connecting, now);
        Self { client, server, up, down, accepted: now, connect_time: None, patience, taken: now }
    }

    /// Ends it if it has had its time.
    ///
    /// # Returns
    /// When to look again, if there is a limit.
    ///
    /// # Errors
    /// The connection is over.
    pub(crate) fn look(&mut self, limits: &Limits, now: Instant) -> Result<Option<Instant>, End> {
        let (phase, limit, what) = match self.connect_time {
            None => (Phase::Connecting, ("connect-time", limits.connect_time), "no server"),
            Some(_) => (Phase::Relaying(self.bytes()), ("idle-time", limits.idle_time), "no byte"),
        };
        self.patience.note(phase, now);
        self.patience.check(now, limit, what).map_err(End::Limit)
    }

    /// What sockets have taken.
    fn bytes(&self) -> u64 {
        self.up.bytes() + self.down.bytes()
    }

    /// Directions in which something waits.
    pub(crate) fn vessels(&self) -> usize {
        [&self.up, &self.down].into_iter().filter(|flow| flow.wants_output()).count()
    }

    /// When something was taken last.
    pub(crate) fn taken(&self) -> Instant {
        self.taken
    }

    /// Goes on with a half that is ready.
    ///
    /// # Arguments
    /// * `options` - of the server's half.
    ///
    /// # Errors
    /// The connection is over.
    pub(crate) fn ready(
        &mut self,
        side: Side,
        ready: Ready,
        options: &SideOptions,
        vessels: &mut Vessels,
        now: Instant,
    ) -> Result<(), End> {
        // Also what is not waited for is told: a reset, even if nothing can be read or written.
        if ready.readable && ready.writable {
            self.check(side)?;
        }
        if side == Side::Server && self.connect_time.is_none() {
            options.established(&self.server.stream).map_err(End::Unreachable)?;
            self.connect_time = Some(now.duration_since(self.accepted));
        }
        let before = self.bytes();
        let (from, to) = match side {
            Side::Client => (&self.up, &self.down),
            Side::Server => (&self.down, &self.up),
        };
        let reads = ready.readable && from.wants_input();
        let writes = ready.writable && to.wants_output();
        if reads {
            self.advance(side, vessels)?;
        }
        if writes {
            self.advance(side.other(), vessels)?;
        }
        if self.bytes() > before {
            self.taken = now;
        }
        if self.up.is_finished() && self.down.is_finished() { Err(End::Complete) } else { Ok(()) }
    }

    /// Says what to wait for.
    pub(crate) fn watch(&mut self, reactor: &Reactor) -> io::Result<()> {
        if self.connect_time.is_none() {
            self.client.watch(reactor, Some(Interest::Nothing))?;
            return self.server.watch(reactor, Some(Interest::Write));
        }
        self.client.watch(reactor, interest(&self.up, &self.down))?;
        self.server.watch(reactor, interest(&self.down, &self.up))
    }

    /// Carries the connection's failure on: whoever is still there gets a reset.
    pub(crate) fn abort(&self) {
        self.client.reset_on_drop();
        self.server.reset_on_drop();
    }

    fn check(&self, side: Side) -> Result<(), End> {
        let half = if side == Side::Client { &self.client } else { &self.server };
        match half.stream.take_error() {
            Ok(None) => Ok(()),
            Ok(Some(error)) | Err(error) if side == Side::Server && self.connect_time.is_none() => {
                Err(End::Unreachable(error))
            }
            Ok(Some(error)) | Err(error) => Err(End::Lost(side, error)),
        }
    }

    fn advance(&mut self, source: Side, vessels: &mut Vessels) -> Result<(), End> {
        let (flow, from, to) = match source {
            Side::Client => (&mut self.up, &self.client, &self.server),
            Side::Server => (&mut self.down, &self.server, &self.client),
        };
        flow.advance(&from.stream, &to.stream, vessels).map_err(|fault| match fault {
            Fault::Source(error) => End::Lost(source, error),
            Fault::Sink(error) => End::Lost(source.other(), error),
        })
    }
}

/// What to wait for of a half, given the flow from it and the flow to it.
fn interest(from: &Flow, to: &Flow) -> Option<Interest> {
    match Interest::new(from.wants_input(), to.wants_output()) {
        // Once both ends of a half have ended it, the kernel calls it ready for ever.
        Interest::Nothing if to.is_finished() => None,
        interest => Some(interest),
    }
}
