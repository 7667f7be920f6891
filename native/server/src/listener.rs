use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

use headway_http::tcp::{SocketOptions, TlsSide, listen};
use headway_reactor::{Interest, Reactor, Token};

/// Where clients come from.
pub(crate) enum Listener {
    /// TCP connections, with TLS or, for HTTP/1.1, without.
    Tcp {
        /// The socket.
        socket: TcpListener,
        /// How TLS is spoken.
        tls: Option<TlsSide>,
    },
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
        let socket = listen(address, options)?;
        reactor.register(&socket, token, Interest::Read)?;
        let scheme = if tls.is_some() { "https" } else { "http" };
        eprintln!("headway-server: {scheme}://{}", socket.local_addr()?);
        Ok(Self::Tcp { socket, tls })
    }
}

/// The next connection that waits, if there is one. One that has failed meanwhile is left out.
pub(crate) fn accept(socket: &TcpListener) -> io::Result<Option<(TcpStream, SocketAddr)>> {
    loop {
        return match socket.accept() {
            Ok(accepted) => Ok(Some(accepted)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if is_of_the_connection(&error) => continue,
            Err(error) => Err(error),
        };
    }
}

fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(error.kind(), Kind::ConnectionAborted | Kind::Interrupted | Kind::PermissionDenied)
}
