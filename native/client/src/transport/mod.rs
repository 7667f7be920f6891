//! Connections to servers, whatever they run over.

mod tcp;

pub(crate) use tcp::TcpConnector;

use std::io;
use std::time::Instant;

use headway_http::event::{ClientEvent, Importance, RequestId};
use headway_reactor::{Reactor, Ready};
use headway_wire::Request;

use crate::clock::Clock;
use crate::report::ConnectionRow;

/// A connection to a server.
pub(crate) trait Transport {
    /// Whether it takes a request that would not have to wait for the end of another one.
    fn is_free(&self) -> bool;

    /// Whether it takes no more requests.
    fn is_closed(&self) -> bool;

    /// Sends a request as soon as possible.
    fn request(&mut self, id: RequestId, request: Request, importance: Option<Importance>);

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
