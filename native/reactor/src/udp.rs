use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use socket2::{Domain, Protocol, Socket, Type};

/// Largest UDP payload that is received.
pub const MAX_DATAGRAM: usize = 65_535;
/// What one call may send, in bytes: an IP packet's limit, which holds for segmented sends, too.
const MAX_BATCH: usize = 65_000;
/// Room asked for in the kernel, so that what it drops was dropped by the path.
const BUFFER_BYTES: usize = 8 << 20;

/// A received datagram.
#[derive(Debug)]
pub struct Datagram<'a> {
    /// Who sent it.
    pub remote: SocketAddr,
    /// Which of this host's addresses it was sent to.
    pub local_ip: Option<IpAddr>,
    /// Its congestion marking.
    pub ecn: Option<EcnCodepoint>,
    /// Its payload.
    pub payload: &'a [u8],
}

/// A UDP socket that receives many datagrams a call and gathers equal-sized ones for one call that
/// sends (UDP_SEGMENT).
#[derive(Debug)]
pub struct UdpSocket {
    socket: std::net::UdpSocket,
    state: UdpSocketState,
    receive_buffers: Vec<Vec<u8>>,
    batch: Batch,
}

/// Destination, source and congestion marking.
pub type Route = (SocketAddr, Option<IpAddr>, Option<EcnCodepoint>);

/// Datagrams to one destination, of one size but for the last, which may be smaller.
#[derive(Debug, Default)]
struct Batch {
    bytes: Vec<u8>,
    to: Option<Route>,
    segment: usize,
    closed: bool,
}

impl Batch {
    fn takes(&self, to: Route, size: usize, max_segments: usize) -> bool {
        self.bytes.is_empty()
            || (self.to == Some(to)
                && !self.closed
                && size <= self.segment
                && self.bytes.len() + size <= MAX_BATCH
                && self.bytes.len() / self.segment < max_segments)
    }

    fn add(&mut self, to: Route, payload: &[u8]) {
        if self.bytes.is_empty() {
            self.to = Some(to);
            self.segment = payload.len();
        }
        self.closed = payload.len() < self.segment;
        self.bytes.extend_from_slice(payload);
    }

    /// Takes datagrams while it has none.
    fn become_run(&mut self, to: Route, payloads: &mut Vec<u8>, size: usize) {
        std::mem::swap(&mut self.bytes, payloads);
        self.to = Some(to);
        self.segment = size.min(self.bytes.len());
        self.closed = self.bytes.len() % self.segment != 0;
    }
}

impl UdpSocket {
    /// A socket bound to an address.
    ///
    /// # Errors
    /// The address is taken or not this host's.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_recv_buffer_size(BUFFER_BYTES)?;
        socket.set_send_buffer_size(BUFFER_BYTES)?;
        socket.bind(&address.into())?;
        let socket: std::net::UdpSocket = socket.into();
        let state = UdpSocketState::new((&socket).into())?;
        let receive_buffers = vec![vec![0; MAX_DATAGRAM]; BATCH_SIZE];
        Ok(Self { socket, state, receive_buffers, batch: Batch::default() })
    }

    /// Where it is bound.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Receives what is there, up to one call's worth.
    ///
    /// # Returns
    /// How many datagrams; none if there was nothing. Those from port 0, which nobody can answer,
    /// are left out.
    ///
    /// # Errors
    /// The kernel's, but for those that tell of the network or of a shortage and not of the socket.
    pub fn receive(&mut self, mut take: impl FnMut(Datagram<'_>)) -> io::Result<usize> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<IoSliceMut<'_>> =
            self.receive_buffers.iter_mut().map(|b| IoSliceMut::new(b)).collect();
        let messages = match self.state.recv((&self.socket).into(), &mut slices, &mut metas) {
            Ok(messages) => messages,
            Err(error) if is_passing(&error) => return Ok(0),
            Err(error) => return Err(error),
        };
        let mut count = 0;
        let received = metas[..messages].iter().zip(&self.receive_buffers);
        for (meta, buffer) in received.filter(|(meta, _)| meta.addr.port() != 0) {
            for payload in buffer[..meta.len].chunks(meta.stride.max(1)) {
                count += 1;
                let (remote, local_ip, ecn) = (meta.addr, meta.dst_ip, meta.ecn);
                take(Datagram { remote, local_ip, ecn, payload });
            }
        }
        Ok(count)
    }

    /// Sends a datagram, perhaps only together with the next ones: `flush` when there are no more.
    pub fn send(&mut self, to: Route, payload: &[u8]) {
        self.make_room(to, payload.len());
        self.batch.add(to, payload);
    }

    /// As [`Self::send`], for several datagrams.
    ///
    /// # Arguments
    /// * `payloads` - one after the other; they are not copied if they can leave in one call, and
    ///   another buffer is left for them.
    /// * `size` - of each but the last, which may be smaller.
    pub fn send_run(&mut self, to: Route, payloads: &mut Vec<u8>, size: usize) {
        self.make_room(to, size.min(payloads.len()));
        let segments = payloads.len().div_ceil(size);
        let is_one_call = payloads.len() <= MAX_BATCH && segments <= self.state.max_gso_segments();
        if self.batch.bytes.is_empty() && is_one_call {
            self.batch.become_run(to, payloads, size);
        } else {
            payloads.chunks(size).for_each(|payload| self.send(to, payload));
        }
    }

    fn make_room(&mut self, to: Route, size: usize) {
        if !self.batch.takes(to, size, self.state.max_gso_segments()) {
            self.flush();
        }
    }

    /// Sends what was gathered. Whatever the kernel says against it, it is lost, as on a path: a
    /// full buffer (ENOBUFS), no route or a forbidden one (ENETUNREACH, EACCES, EINVAL), a firewall
    /// (EPERM), a size above the path's (EMSGSIZE).
    pub fn flush(&mut self) {
        let Some((destination, src_ip, ecn)) = self.batch.to.take() else { return };
        let contents = &self.batch.bytes[..];
        let segment_size = (contents.len() > self.batch.segment).then_some(self.batch.segment);
        let transmit = Transmit { destination, ecn, contents, segment_size, src_ip };
        let sent = self.state.try_send((&self.socket).into(), &transmit);
        self.batch.bytes.clear();
        self.batch.closed = false;
        if let Err(error) = sent {
            self.lost(&error, segment_size.is_some());
        }
    }

    /// On EINVAL, quinn-udp no longer marks packets nor sends segments, for the socket may be unable
    /// to. But one datagram that fails without either was refused for its destination.
    fn lost(&mut self, error: &io::Error, was_segmented: bool) {
        if !was_segmented && error.raw_os_error() == Some(rustix::io::Errno::INVAL.raw_os_error()) {
            if let Ok(state) = UdpSocketState::new((&self.socket).into()) {
                self.state = state;
            }
        }
    }
}

impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Errors that tell of what a datagram met on its way, or of a shortage.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    let no_buffer = rustix::io::Errno::NOBUFS.raw_os_error();
    error.raw_os_error() == Some(no_buffer)
        || matches!(
            error.kind(),
            Kind::WouldBlock
                | Kind::Interrupted
                | Kind::ConnectionRefused
                | Kind::HostUnreachable
                | Kind::NetworkUnreachable
                | Kind::AddrNotAvailable
                | Kind::NetworkDown
                | Kind::OutOfMemory
                | Kind::PermissionDenied
        )
}
