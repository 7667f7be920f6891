use std::io;
use std::net::SocketAddr;

use headway_http::tcp::{SocketOptions, TlsSide, listen};
use headway_reactor::{Acceptor, Reactor, Token, say};

/// Where clients come from: TCP connections, with TLS or, for HTTP/1.1, without.
pub(crate) struct Listener {
    pub(crate) acceptor: Acceptor,
    /// How TLS is spoken.
    pub(crate) tls: Option<TlsSide>,
}

impl Listener {
    /// Listens for TCP connections.
    pub(crate) fn tcp(
        address: SocketAddr,
        options: &SocketOptions,
        tls: Option<TlsSide>,
        reactor: &Reactor,
        token: Token,
    ) -> io::Result<Self> {
        let acceptor = Acceptor::register(listen(address, options)?, reactor, token)?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        say!("headway-server: {scheme}://{}", acceptor.local_address()?);
        Ok(Self { acceptor, tls })
    }
}
