use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

/// Connections that wait for `accept`.
const BACKLOG: i32 = 1024;

/// What the kernel is told about a TCP socket. What is none is left at the kernel's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// TCP_CONGESTION: the congestion controller's name.
    pub congestion_control: Option<String>,
    /// TCP_NOTSENT_LOWAT: at most this many bytes that the program has written wait in the kernel
    /// without having been sent. The pipe keeps to it, TLS included.
    pub notsent_lowat_bytes: Option<u32>,
    /// Raises that limit while the connection is fast, to what it sends in two milliseconds.
    pub adapts_lowat: bool,
    /// SO_SNDBUF, in bytes; the kernel doubles it and no longer tunes it.
    pub send_buffer_bytes: Option<usize>,
    /// SO_RCVBUF, in bytes; likewise.
    pub receive_buffer_bytes: Option<usize>,
}

impl SocketOptions {
    /// Applies them, and TCP_NODELAY: the programs write what is to be sent at once.
    pub(super) fn apply(&self, socket: &Socket) -> io::Result<()> {
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        if let Some(name) = &self.congestion_control {
            socket.set_tcp_congestion(name.as_bytes()).map_err(|error| {
                io::Error::new(error.kind(), format!("congestion control {name}: {error}"))
            })?;
        }
        if let Some(bytes) = self.notsent_lowat_bytes {
            socket.set_tcp_notsent_lowat(bytes)?;
        }
        if let Some(bytes) = self.send_buffer_bytes {
            socket.set_send_buffer_size(bytes)?;
        }
        if let Some(bytes) = self.receive_buffer_bytes {
            socket.set_recv_buffer_size(bytes)?;
        }
        Ok(())
    }
}

/// A socket that accepts connections, which inherit its options.
///
/// # Errors
/// The address is taken or not this host's; the kernel refuses an option.
pub fn listen(address: SocketAddr, options: &SocketOptions) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    options.apply(&socket)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
