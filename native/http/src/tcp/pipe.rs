use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use headway_reactor::{Interest, Reactor, Ready, Token};
use headway_sockopt::{TcpInfo, tcp_info};
use rustix::io::Errno;
use socket2::{Domain, Protocol as IpProtocol, Socket, Type};

use super::SocketOptions;
use super::lowat::Lowat;
use super::secured::{Secured, Security, TlsSide};
use crate::tls::Protocol;

/// One read from the kernel.
const READ_BYTES: usize = 64 << 10;
/// What is written at once if nothing bounds the unsent bytes.
const WRITE_BYTES: usize = 64 << 10;

thread_local! {
    /// Where all pipes read to, one after the other: an idle one has no room of its own.
    static INCOMING: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into());
}

/// Why a pipe is broken.
#[derive(Debug, thiserror::Error)]
pub enum PipeError {
    /// The connection was not established.
    #[error("cannot connect: {0}")]
    Connect(#[source] io::Error),
    /// The peer ended it without saying that all had been sent, as TLS demands (RFC 8446, 6.1).
    #[error("the connection ended without TLS's close_notify")]
    Truncated,
    /// TLS failed.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The kernel reports an error; a reset, for example.
    #[error("connection lost: {0}")]
    Lost(#[from] io::Error),
}

/// What a pipe may still deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// More may come.
    Open,
    /// The peer has sent everything.
    Ended,
}

/// When a connection got how far.
#[derive(Clone, Copy, Debug)]
pub struct Milestones {
    /// The SYN was sent or the connection accepted.
    pub started: Instant,
    /// TCP's handshake was over.
    pub connected: Option<Instant>,
    /// TLS' handshake was over.
    pub secured: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    No,
    /// The FIN follows what is still to be written.
    Asked,
    Done,
}

/// A TCP connection, with or without TLS, that never blocks and holds a bounded number of bytes.
///
/// Bytes are written just in time: with TCP_NOTSENT_LOWAT set to L, the kernel calls the socket
/// writable while fewer than L/2 bytes are unsent (`tcp_poll`), so that L/2 more never exceed L.
/// [`Pipe::room`] is that much whenever the socket is writable, and nothing waits outside the
/// kernel then. So what is written first is sent first, and little is committed early.
#[derive(Debug)]
pub struct Pipe {
    stream: TcpStream,
    tls: Option<Secured>,
    /// Without TLS: what the kernel has not taken yet; the program's own, not a copy.
    unwritten: Bytes,
    batch_bytes: usize,
    bounds_unsent: bool,
    lowat: Option<Lowat>,
    writable: bool,
    reading: Reading,
    read_bytes: u64,
    closing: Closing,
    milestones: Milestones,
    registered: Option<Interest>,
}

impl Pipe {
    /// Begins to connect; [`Pipe::ready`] tells how it goes.
    ///
    /// # Arguments
    /// * `local` - the address to connect from; the kernel's choice if none.
    ///
    /// # Errors
    /// The socket cannot be made or bound, the network is unreachable, or TLS refuses the name.
    pub fn connect(
        remote: SocketAddr,
        local: Option<SocketAddr>,
        options: &SocketOptions,
        tls: Option<TlsSide>,
        now: Instant,
    ) -> Result<Self, PipeError> {
        let socket = Socket::new(Domain::for_address(remote), Type::STREAM, Some(IpProtocol::TCP))
            .map_err(PipeError::Connect)?;
        options.apply(&socket).map_err(PipeError::Connect)?;
        if let Some(local) = local {
            socket.bind(&local.into()).map_err(PipeError::Connect)?;
        }
        match socket.connect(&remote.into()) {
            Err(error) if Errno::from_io_error(&error) != Some(Errno::INPROGRESS) => {
                Err(PipeError::Connect(error))
            }
            _ => Self::new(socket.into(), options, tls, now),
        }
    }

    /// A pipe over an accepted connection, which has the listener's options.
    ///
    /// # Errors
    /// The kernel has no room for it.
    pub fn accept(
        stream: TcpStream,
        options: &SocketOptions,
        tls: Option<TlsSide>,
        now: Instant,
    ) -> Result<Self, PipeError> {
        stream.set_nonblocking(true)?;
        let mut pipe = Self::new(stream, options, tls, now)?;
        pipe.milestones.connected = Some(now);
        pipe.writable = true;
        Ok(pipe)
    }

    fn new(
        stream: TcpStream,
        options: &SocketOptions,
        tls: Option<TlsSide>,
        now: Instant,
    ) -> Result<Self, PipeError> {
        let lowat = options.notsent_lowat_bytes.map(|bytes| bytes as usize);
        Ok(Self {
            stream,
            tls: tls.map(Secured::new).transpose()?,
            unwritten: Bytes::new(),
            batch_bytes: lowat.map_or(WRITE_BYTES, batch_bytes),
            bounds_unsent: lowat.is_some(),
            lowat: options.notsent_lowat_bytes.filter(|_| options.adapts_lowat).map(Lowat::new),
            writable: false,
            reading: Reading::Open,
            read_bytes: 0,
            closing: Closing::No,
            milestones: Milestones { started: now, connected: None, secured: None },
            registered: None,
        })
    }

    /// Takes note of what the reactor says, and writes what waits.
    ///
    /// # Errors
    /// The connection was not established, or is lost.
    pub fn ready(&mut self, ready: Ready, now: Instant) -> Result<(), PipeError> {
        if self.milestones.connected.is_none() {
            if !ready.writable {
                return Ok(());
            }
            if let Some(error) = self.stream.take_error()? {
                return Err(PipeError::Connect(error));
            }
            self.milestones.connected = Some(now);
        }
        self.writable |= ready.writable;
        self.flush()
    }

    /// Reads once from the kernel.
    ///
    /// # Arguments
    /// * `take` - called with each piece.
    ///
    /// # Errors
    /// The connection is lost, or TLS fails.
    pub fn read(&mut self, now: Instant, take: impl FnMut(Bytes)) -> Result<Reading, PipeError> {
        if self.milestones.connected.is_none() || self.reading == Reading::Ended {
            return Ok(self.reading);
        }
        INCOMING.with_borrow_mut(|incoming| self.read_to(incoming, now, take))
    }

    fn read_to(
        &mut self,
        incoming: &mut [u8],
        now: Instant,
        mut take: impl FnMut(Bytes),
    ) -> Result<Reading, PipeError> {
        let length = match (&self.stream).read(incoming) {
            Ok(length) => length,
            Err(error) if is_temporary(&error) => return Ok(Reading::Open),
            Err(error) => return Err(error.into()),
        };
        self.read_bytes += length as u64;
        let Some(tls) = &mut self.tls else {
            if length == 0 {
                self.reading = Reading::Ended;
            } else {
                take(Bytes::copy_from_slice(&incoming[..length]));
            }
            return Ok(self.reading);
        };
        if length == 0 {
            return Err(PipeError::Truncated);
        }
        let read = tls.read(&incoming[..length], &mut take);
        if self.milestones.secured.is_none() && !tls.is_handshaking() {
            self.milestones.secured = Some(now);
        }
        // Also after an error: an alert tells the peer.
        let flushed = self.flush();
        if read? {
            self.reading = Reading::Ended;
        }
        flushed?;
        Ok(self.reading)
    }

    /// What was read from the kernel so far; with TLS, what it makes of the content.
    #[must_use]
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// How many bytes may be written now.
    #[must_use]
    pub fn room(&mut self) -> usize {
        if self.closing != Closing::No {
            return 0;
        }
        let idle = self.writable && !self.has_output();
        match &mut self.tls {
            Some(tls) if tls.is_handshaking() => tls.early_room().min(self.batch_bytes),
            _ if idle => self.batch_bytes,
            _ => 0,
        }
    }

    /// What is written next is the last: it need not wait until few bytes are unsent.
    pub fn hurry(&mut self) {
        self.writable = true;
    }

    /// Writes bytes for which there is [`Pipe::room`].
    ///
    /// # Errors
    /// The connection is lost.
    pub fn write(&mut self, bytes: Bytes) -> Result<(), PipeError> {
        let length = bytes.len();
        match &mut self.tls {
            Some(tls) => tls.write(&bytes)?,
            None if self.unwritten.is_empty() => self.unwritten = bytes,
            None => self.unwritten = [&self.unwritten[..], &bytes].concat().into(),
        }
        self.flush()?;
        // With bounded unsent bytes the kernel must say again that there is room.
        self.writable &= !self.bounds_unsent;
        self.adapt(length);
        Ok(())
    }

    /// Has as many bytes wait in the kernel as the rate of the connection asks for.
    fn adapt(&mut self, written: usize) {
        let Some(lowat) = &mut self.lowat else { return };
        if !lowat.is_due(written) {
            return;
        }
        // Without what the kernel knows, or its consent, the limit stays as it is.
        let Ok(info) = tcp_info(&self.stream) else { return };
        if let Some(bytes) = lowat.change(&info) {
            if socket2::SockRef::from(&self.stream).set_tcp_notsent_lowat(bytes).is_ok() {
                self.batch_bytes = batch_bytes(bytes as usize);
            }
        }
    }

    /// Ends this side's half of the connection after what was written.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn finish(&mut self) -> Result<(), PipeError> {
        if self.closing == Closing::No {
            self.closing = Closing::Asked;
            if let Some(tls) = &mut self.tls {
                tls.send_close_notify();
            }
        }
        self.flush()
    }

    /// Has the kernel send a reset when the pipe is dropped, and forget what is unsent.
    pub fn reset_on_drop(&self) {
        // An error leaves an orderly end, which nothing can be done about.
        let _ = socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }

    /// Has a reactor wait for what this pipe needs.
    ///
    /// # Arguments
    /// * `read` - whether there is room for more bytes of the peer.
    /// * `write` - whether there is something to write.
    ///
    /// # Errors
    /// epoll fails.
    pub fn watch(
        &mut self,
        reactor: &Reactor,
        token: Token,
        read: bool,
        write: bool,
    ) -> io::Result<()> {
        let connecting = self.milestones.connected.is_none();
        let handshaking = self.tls.as_ref().is_some_and(Secured::is_handshaking);
        let write = connecting || self.has_output() || (write && !handshaking);
        let interest = Interest::new(!connecting && (read || handshaking), write);
        match self.registered.replace(interest) {
            None => reactor.register(&self.stream, token, interest),
            Some(last) if last != interest => reactor.reregister(&self.stream, token, interest),
            Some(_) => Ok(()),
        }
    }

    /// What the kernel knows of the connection.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn info(&self) -> io::Result<TcpInfo> {
        tcp_info(&self.stream)
    }

    /// When it got how far.
    #[must_use]
    pub fn milestones(&self) -> Milestones {
        self.milestones
    }

    /// Whether bytes of the program may be exchanged.
    #[must_use]
    pub fn is_established(&self) -> bool {
        self.milestones.connected.is_some()
            && self.tls.as_ref().is_none_or(|tls| !tls.is_handshaking())
    }

    /// Whether everything was written and this side's half ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.closing == Closing::Done
    }

    /// What TLS agreed on; none without TLS or before.
    #[must_use]
    pub fn security(&self) -> Option<Security> {
        self.tls.as_ref().filter(|tls| !tls.is_handshaking()).and_then(Secured::security)
    }

    /// The protocol that ALPN agreed on.
    #[must_use]
    pub fn protocol(&self) -> Option<Protocol> {
        self.tls.as_ref().and_then(Secured::protocol)
    }

    /// This side's address.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.stream.local_addr()
    }

    fn has_output(&self) -> bool {
        !self.unwritten.is_empty() || self.tls.as_ref().is_some_and(Secured::has_output)
    }

    fn flush(&mut self) -> Result<(), PipeError> {
        if self.milestones.connected.is_none() {
            return Ok(());
        }
        match self.write_out() {
            Ok(()) if self.closing == Closing::Asked => {
                self.closing = Closing::Done;
                Ok(self.stream.shutdown(std::net::Shutdown::Write)?)
            }
            Ok(()) => Ok(()),
            Err(error) if is_temporary(&error) => {
                self.writable = false;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn write_out(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            return tls.write_to(&self.stream);
        }
        while !self.unwritten.is_empty() {
            let written = (&self.stream).write(&self.unwritten)?;
            self.unwritten.advance(written);
        }
        Ok(())
    }
}

/// What may be written at once when so many bytes may wait unsent.
fn batch_bytes(lowat: usize) -> usize {
    (lowat / 2).clamp(1, WRITE_BYTES)
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
