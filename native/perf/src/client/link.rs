use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use headway_reactor::{Reactor, Ready, Token};

use crate::failure::Failure;
use crate::flow::Flow;

/// From where to where a connection goes.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    /// Where the server is.
    pub(crate) server: SocketAddr,
    /// Where connections come from; the port is the kernel's choice.
    pub(crate) local: SocketAddr,
    /// Whether data go with the first flight where that is possible.
    pub(crate) early_data: bool,
}

/// A connection of the client with its socket, which carries one flow.
pub(crate) trait Link {
    /// This side's address.
    fn local_address(&self) -> io::Result<SocketAddr>;

    /// The socket is ready.
    fn ready(&mut self, now: Instant, ready: Ready, flow: &mut Flow) -> Result<(), Failure>;

    /// Lets the flow advance, and sends what is due.
    fn turn(
        &mut self,
        reactor: &Reactor,
        token: Token,
        now: Instant,
        flow: &mut Flow,
    ) -> Result<(), Failure>;

    /// When it wants its next turn, apart from the flow's wishes.
    fn deadline(&mut self) -> Option<Instant>;

    /// The flow is over: begins to end the connection.
    ///
    /// # Arguments
    /// * `cut_off` - whether the server has more to send, and is to stop at once.
    fn close(&mut self, now: Instant, cut_off: bool) -> Result<(), Failure>;

    /// Whether the server knows that the connection has ended, as far as this side can tell.
    fn is_closed(&mut self) -> bool;
}
