use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};

use rustix::io::Errno;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 4096;

/// What the kernel is told about the sockets of one side. What is none is left to the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SideOptions {
    /// TCP_CONGESTION: the congestion controller's name.
    pub(crate) congestion_control: Option<String>,
    /// SO_SNDBUF and SO_RCVBUF; the kernel doubles them and no longer tunes them.
    pub(crate) buffer_bytes: Option<usize>,
    /// TCP_NOTSENT_LOWAT: the kernel takes no more bytes while this many are unsent.
    pub(crate) notsent_lowat_bytes: Option<u32>,
}

impl SideOptions {
    /// Chooses the congestion control of a connection that has just been established.
    ///
    /// Not earlier: the kernel gives a connection the one that its route names when it begins,
    /// whatever was set before (`tcp_ca_dst_init`, `tcp_ca_openreq_child`), and Hybla looks at the
    /// round-trip time when it is chosen. No data has been sent yet.
    pub(crate) fn established(&self, stream: &TcpStream) -> io::Result<()> {
        let Some(name) = &self.congestion_control else { return Ok(()) };
        SockRef::from(stream).set_tcp_congestion(name.as_bytes())
    }

    /// Finds out whether the kernel has the congestion control.
    pub(crate) fn check(&self) -> io::Result<()> {
        let Some(name) = &self.congestion_control else { return Ok(()) };
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_tcp_congestion(name.as_bytes()).map_err(|error| {
            io::Error::new(error.kind(), format!("congestion control {name}: {error}"))
        })
    }

    /// A socket that does not block, with what has to be known before the handshake: the window
    /// scale follows from the receive buffer. Accepted connections inherit all of it.
    fn socket(&self, address: SocketAddr) -> io::Result<Socket> {
        let kind = Type::STREAM.nonblocking();
        let socket = Socket::new(Domain::for_address(address), kind, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        // What one half receives is due on the other at once.
        socket.set_tcp_nodelay(true)?;
        // Urgent data keeps its place in the stream.
        socket.set_out_of_band_inline(true)?;
        // A peer that vanished without a word does not hold a connection for ever.
        socket.set_keepalive(true)?;
        if let Some(bytes) = self.buffer_bytes {
            socket.set_send_buffer_size(bytes)?;
            socket.set_recv_buffer_size(bytes)?;
        }
        if let Some(bytes) = self.notsent_lowat_bytes {
            socket.set_tcp_notsent_lowat(bytes)?;
        }
        Ok(socket)
    }
}

/// How the second half of a connection is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Upstream {
    /// From the client to whomever it addressed.
    Transparent,
    /// From this host to this address.
    Fixed(SocketAddr),
}

/// A connection of a client.
#[derive(Debug)]
pub(crate) struct Accepted {
    /// The half towards the client.
    pub(crate) stream: TcpStream,
    /// The client.
    pub(crate) client: SocketAddr,
    /// Whom the connection is meant for.
    pub(crate) server: SocketAddr,
}

impl Accepted {
    /// A connection that was accepted.
    ///
    /// # Errors
    /// The client is gone already.
    pub(crate) fn new(
        stream: TcpStream,
        client: SocketAddr,
        upstream: Upstream,
    ) -> io::Result<Self> {
        let server = match upstream {
            // The kernel calls it the local address of an intercepted connection.
            Upstream::Transparent => stream.local_addr()?,
            Upstream::Fixed(server) => server,
        };
        Ok(Self { stream, client, server })
    }
}

/// A socket that accepts connections.
pub(crate) fn listen(
    address: SocketAddr,
    upstream: Upstream,
    options: &SideOptions,
) -> io::Result<TcpListener> {
    let socket = options.socket(address)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    if matches!(upstream, Upstream::Transparent) {
        set_transparent(&socket, address)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Begins to connect the second half; the socket becomes writable when it is decided.
///
/// Transparently it comes from the client's address. From its port, too, so that the server,
/// captures and whatever hashes flows see what they would see without the proxy. Should that port
/// not be free, for example because the client uses it again before this host can, any other does.
pub(crate) fn connect(
    client: SocketAddr,
    server: SocketAddr,
    upstream: Upstream,
    options: &SideOptions,
) -> io::Result<TcpStream> {
    match upstream {
        Upstream::Transparent if is_own(server.ip()) => {
            Err(io::Error::other("it was meant for the proxy's own address"))
        }
        Upstream::Fixed(_) => begin(options.socket(server)?, server),
        Upstream::Transparent => match connect_from(client, server, options) {
            Err(error) if is_taken(&error) => {
                connect_from(SocketAddr::new(client.ip(), 0), server, options)
            }
            result => result,
        },
    }
}

fn connect_from(
    source: SocketAddr,
    server: SocketAddr,
    options: &SideOptions,
) -> io::Result<TcpStream> {
    let socket = options.socket(server)?;
    set_transparent(&socket, server)?;
    socket.bind(&source.into())?;
    begin(socket, server)
}

fn begin(socket: Socket, remote: SocketAddr) -> io::Result<TcpStream> {
    match socket.connect(&remote.into()) {
        Err(error) if Errno::from_io_error(&error) != Some(Errno::INPROGRESS) => Err(error),
        _ => Ok(socket.into()),
    }
}

fn set_transparent(socket: &Socket, address: SocketAddr) -> io::Result<()> {
    match address {
        SocketAddr::V4(_) => socket.set_ip_transparent_v4(true),
        SocketAddr::V6(_) => socket.set_ip_transparent_v6(true),
    }
}

/// Whether an address is this host's: a connection to there would be intercepted like any other.
/// Only a host's own addresses can be bound to without being transparent.
fn is_own(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable)
}
