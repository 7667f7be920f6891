//! Connections to servers, whatever they run over.

mod quic;
mod tcp;

pub(crate) use quic::{Move, QuicConnector};
pub(crate) use tcp::TcpConnector;

use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use bytes::Bytes;
use headway_http::event::{Asked, ClientEvent, RequestId};
use headway_quic::HeadOfLine;
use headway_reactor::{Reactor, Ready, Token};

use crate::report::ConnectionRow;
use crate::target::Origin;
use headway_reactor::Clock;

/// Begins connections.
pub(crate) enum Connector {
    /// Over TCP.
    Tcp(TcpConnector),
    /// Over QUIC.
    Quic(QuicConnector),
}

impl Connector {
    /// Begins to connect. What goes wrong is told by the requests' events.
    pub(crate) fn connect(
        &self,
        number: u64,
        origin: &Origin,
        remote: SocketAddr,
        token: Token,
        now: Instant,
    ) -> Box<dyn Transport> {
        match self {
            Self::Tcp(tcp) => tcp.connect(number, origin, remote, token, now),
            Self::Quic(quic) => quic.connect(number, origin, remote, token, now),
        }
    }
}

/// A connection to a server.
pub(crate) trait Transport {
    /// Whether it takes a request that would not have to wait for the end of another one.
    fn is_free(&self) -> bool;

    /// Whether it takes no more requests.
    fn is_closed(&self) -> bool;

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
