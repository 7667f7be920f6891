use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use headway_reactor::{Interest, Reactor, Token};
use socket2::SockRef;

/// One of the two TCP connections that together are one between client and server.
#[derive(Debug)]
pub(crate) struct Half {
    pub(crate) stream: TcpStream,
    /// The client's or the server's address.
    pub(crate) peer: SocketAddr,
    token: Token,
    registered: Option<Interest>,
}

impl Half {
    pub(crate) fn new(stream: TcpStream, peer: SocketAddr, token: Token) -> Self {
        Self { stream, peer, token, registered: None }
    }

    /// Has the reactor wait for something, or with none not even for the end.
    pub(crate) fn watch(
        &mut self,
        reactor: &Reactor,
        interest: Option<Interest>,
    ) -> io::Result<()> {
        if interest == self.registered {
            return Ok(());
        }
        match (self.registered, interest) {
            (None, Some(interest)) => reactor.register(&self.stream, self.token, interest)?,
            (Some(_), Some(interest)) => reactor.reregister(&self.stream, self.token, interest)?,
            (_, None) => reactor.deregister(&self.stream)?,
        }
        self.registered = interest;
        Ok(())
    }

    /// Has the kernel send a reset when this is dropped, and forget what is unsent.
    pub(crate) fn reset_on_drop(&self) {
        // It fails only for what is no connection any more.
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }
}
