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
        self.accept_by(reactor, now, |listener| {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let (fd, remote) = acceptfrom_with(listener, flags)?;
            // Without an address the client is gone already.
            let remote = remote.ok_or(Errno::CONNABORTED)?.try_into();
            Ok((TcpStream::from(fd), remote.map_err(|_| Errno::CONNABORTED)?))
        })
    }

    fn accept_by(
        &mut self,
        reactor: &Reactor,
        now: Instant,
        mut accept: impl FnMut(&TcpListener) -> Result<(TcpStream, SocketAddr), Errno>,
    ) -> io::Result<Option<(TcpStream, SocketAddr)>> {
        while self.is_watched {
            match accept(&self.listener) {
                Ok(accepted) => return Ok(Some(accepted)),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What accept4(2) says one call after the other; then a client that is there.
    fn after(errors: &[Errno]) -> (Option<SocketAddr>, Option<Instant>, usize) {
        let mut reactor = Reactor::new().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut acceptor = Acceptor::register(listener, &reactor, Token(1)).unwrap();
        let (now, mut left) = (Instant::now(), errors.iter());
        let accepted = acceptor.accept_by(&reactor, now, |listener| match left.next() {
            Some(error) => Err(*error),
            None => listener.accept().map_err(|_| Errno::AGAIN),
        });
        let accepted = accepted.unwrap().map(|(_, remote)| remote);
        assert!(accepted.is_none_or(|remote| remote == client.local_addr().unwrap()));
        let mut ready = Vec::new();
        reactor.wait(Some(Instant::now()), &mut ready).unwrap();
        // What waits for the next attempt is not told of meanwhile, and of what was accepted nothing is.
        assert!(ready.is_empty());
        let resumes = acceptor.deadline();
        if let Some(resumes) = resumes {
            acceptor.turn(&reactor, resumes).unwrap();
            reactor.wait(None, &mut ready).unwrap();
        }
        (accepted, resumes, ready.len())
    }

    #[test]
    fn a_shortage_is_waited_out() {
        for shortage in [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM] {
            let (accepted, resumes, ready) = after(&[shortage]);
            assert!(accepted.is_none() && resumes.is_some(), "{shortage}");
            assert_eq!(ready, 1, "{shortage}");
        }
    }

    #[test]
    fn a_connection_that_failed_meanwhile_is_left_out() {
        let failed = [Errno::CONNABORTED, Errno::INTR, Errno::PROTO, Errno::NETUNREACH];
        let (accepted, resumes, _) = after(&failed);
        assert!(accepted.is_some() && resumes.is_none());
    }
}
