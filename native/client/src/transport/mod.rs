//! Connections to servers, whatever they run over.

mod quic;
mod race;
mod tcp;

pub(crate) use quic::{Move, QuicConnector};
pub(crate) use race::connection_of;
pub(crate) use tcp::TcpConnector;

use race::Race;

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use headway_http::event::{Asked, ClientEvent, RequestId};
use headway_http::tls::Protocol;
use headway_quic::HeadOfLine;
use headway_reactor::{Reactor, Ready, Token};

use crate::report::ConnectionRow;
use crate::target::Origin;
use headway_reactor::Clock;

/// Where a server may be, and by which version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) protocol: Protocol,
    pub(crate) remote: SocketAddr,
}

/// Begins connections.
pub(crate) struct Connector {
    /// Over TCP, if any candidate is.
    pub(crate) tcp: Option<TcpConnector>,
    /// Over QUIC.
    pub(crate) quic: Option<QuicConnector>,
    /// How long an attempt is alone before the next one begins (RFC 8305, section 5).
    pub(crate) attempt_delay: Duration,
}

impl Connector {
    /// Begins to connect, to the first of several candidates that answers. What goes wrong is told by the requests'
    /// events.
    pub(crate) fn connect(
        &self,
        number: u64,
        origin: &Origin,
        candidates: &[Candidate],
        token: Token,
        now: Instant,
    ) -> Box<dyn Transport + '_> {
        match candidates {
            [only] => self.attempt(number, origin, *only, token, now),
            several => Box::new(Race::new(self, number, origin, several, token, now)),
        }
    }

    fn attempt(
        &self,
        number: u64,
        origin: &Origin,
        Candidate { protocol, remote }: Candidate,
        token: Token,
        now: Instant,
    ) -> Box<dyn Transport> {
        match (protocol, &self.tcp, &self.quic) {
            (Protocol::H3, _, Some(quic)) => quic.connect(number, origin, remote, token, now),
            (_, Some(tcp), _) => tcp.connect(number, origin, remote, token, now),
            _ => unreachable!("there is a connector for each candidate"),
        }
    }
}

/// A connection to a server.
pub(crate) trait Transport {
    /// Whether it takes a request that would not have to wait for the end of another one.
    fn is_free(&self) -> bool;

    /// Whether it takes no more requests.
    fn is_closed(&self) -> bool;

    /// Whether the server has answered: of TCP its own handshake is complete, of QUIC that of TLS, too.
    fn is_connected(&self) -> bool;

    /// Why it has ended before its time, if it has.
    fn failure(&self) -> Option<&str>;

    /// Which of several candidates it came to.
    fn won(&self) -> Option<Candidate> {
        None
    }

    /// Sends a request as soon as possible.
    fn ask(&mut self, asked: Asked);

    /// Sends content that the server was to ask for first, though it has not.
    fn proceed(&mut self, id: RequestId);

    /// Sends more content of a request that talks and was sent.
    fn extend(&mut self, id: RequestId, content: Bytes, ends: bool);

    /// Gives up a request that was sent.
    fn cancel(&mut self, id: RequestId);

    /// Takes so many more bytes of a response that is read on demand.
    fn read(&mut self, id: RequestId, bytes: u64, now: Instant);

    /// The user commands it to move to another address; only QUIC can.
    ///
    /// # Errors
    /// The address is not this host's.
    fn command(&mut self, _reactor: &Reactor, _now: Instant) -> io::Result<()> {
        Ok(())
    }

    /// What waited behind gaps of a response; only QUIC tells that for each.
    fn head_of_line(&self, _id: RequestId) -> Option<HeadOfLine> {
        None
    }

    /// Something of it is ready.
    fn ready(&mut self, ready: Ready, now: Instant);

    /// Sends what is to be sent, tells what has happened, and waits for what it needs.
    ///
    /// # Errors
    /// Those of the reactor; what is wrong with the connection is told by events.
    fn turn(
        &mut self,
        reactor: &Reactor,
        now: Instant,
        events: &mut Vec<ClientEvent>,
    ) -> io::Result<()>;

    /// When it wants its next turn if nothing is ready before.
    fn deadline(&self) -> Option<Instant>;

    /// Ends it in an orderly way, as far as that needs no waiting.
    fn end(&mut self, now: Instant);

    /// What it is and was.
    fn row(&self, clock: &Clock) -> ConnectionRow;
}
