use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{SocketFlags, acceptfrom_with};

use crate::{Interest, Reactor, Token};

/// How long a listener waits after a shortage before it tries again.
const PAUSE: Duration = Duration::from_millis(100);

/// A TCP listener on the reactor, which no shortage ends: connections that cannot be accepted wait
/// in the kernel.
#[derive(Debug)]
pub struct Acceptor {
    listener: TcpListener,
    token: Token,
    has_room: bool,
    is_watched: bool,
    /// When it tries again after a shortage.
    resumes: Option<Instant>,
}

impl Acceptor {
    /// Has a reactor wait for the listener's connections.
    ///
    /// # Errors
    /// The listener cannot be waited for.
    pub fn register(listener: TcpListener, reactor: &Reactor, token: Token) -> io::Result<Self> {
        reactor.register(&listener, token, Interest::Read)?;
        Ok(Self { listener, token, has_room: true, is_watched: true, resumes: None })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The next connection that waits, if there is one that can be accepted now; it does not block.
    /// One that has failed meanwhile is left out.
    ///
    /// # Errors
    /// Those of the reactor.
    pub fn accept(
        &mut self,
        reactor: &Reactor,
        now: Instant,
    ) -> io::Result<Option<(TcpStream, SocketAddr)>> {
        while self.is_watched {
            match acceptfrom_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok((fd, Some(remote))) => {
                    if let Ok(remote) = remote.try_into() {
                        return Ok(Some((TcpStream::from(fd), remote)));
                    }
                }
                // Without an address the client is gone already.
                Ok((_, None)) => {}
                Err(Errno::AGAIN) => break,
                Err(error) if is_of_the_connection(error) => {}
                // EMFILE, ENFILE, ENOBUFS, ENOMEM.
                Err(_) => {
                    self.resumes = Some(now + PAUSE);
                    self.watch(reactor)?;
                }
            }
        }
        Ok(None)
    }

    /// Says whether further connections can be taken; else they wait in the kernel.
    ///
    /// # Errors
    /// Those of the reactor.
    pub fn set_room(&mut self, reactor: &Reactor, has_room: bool) -> io::Result<()> {
        self.has_room = has_room;
        self.watch(reactor)
    }

    /// Tries again if a shortage was long enough ago.
    ///
    /// # Errors
    /// Those of the reactor.
    pub fn turn(&mut self, reactor: &Reactor, now: Instant) -> io::Result<()> {
        if self.resumes.take_if(|at| *at <= now).is_some() {
            self.watch(reactor)?;
        }
        Ok(())
    }

    /// When it wants its next turn.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.resumes
    }

    fn watch(&mut self, reactor: &Reactor) -> io::Result<()> {
        let watched = self.has_room && self.resumes.is_none();
        if watched != self.is_watched {
            let interest = Interest::new(watched, false);
            reactor.reregister(&self.listener, self.token, interest)?;
            self.is_watched = watched;
        }
        Ok(())
    }
}

impl AsFd for Acceptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

/// Errors of accept4(2) that tell of one connection and not of the listener.
fn is_of_the_connection(error: Errno) -> bool {
    matches!(
        error,
        Errno::CONNABORTED
            | Errno::HOSTDOWN
            | Errno::HOSTUNREACH
            | Errno::INTR
            | Errno::NETDOWN
            | Errno::NETUNREACH
            | Errno::NONET
            | Errno::NOPROTOOPT
            | Errno::PERM
            | Errno::PROTO
    )
}
