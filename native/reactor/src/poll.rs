use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::Timespec;

use crate::timer::Timer;

const EVENTS_PER_TURN: usize = 256;
/// Of the timer; no program's.
const TIMER: Token = Token(u64::MAX);

/// What a program calls a registered file descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u64);

/// What a file descriptor is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Nothing but its end.
    Nothing,
    /// Something to read.
    Read,
    /// Room to write.
    Write,
    /// Either.
    ReadWrite,
}

impl Interest {
    /// An interest in reading, in writing, in both or in neither.
    #[must_use]
    pub fn new(read: bool, write: bool) -> Self {
        match (read, write) {
            (false, false) => Self::Nothing,
            (true, false) => Self::Read,
            (false, true) => Self::Write,
            (true, true) => Self::ReadWrite,
        }
    }

    fn flags(self) -> EventFlags {
        match self {
            Self::Nothing => EventFlags::empty(),
            Self::Read => EventFlags::IN | EventFlags::RDHUP,
            Self::Write => EventFlags::OUT,
            Self::ReadWrite => EventFlags::IN | EventFlags::RDHUP | EventFlags::OUT,
        }
    }
}

/// A file descriptor that need not be waited for any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Which.
    pub token: Token,
    /// Reading does not block. The end of the stream and errors count, too: reading tells them.
    pub readable: bool,
    /// Writing does not block.
    pub writable: bool,
}

/// Waits for file descriptors and moments; level-triggered.
pub struct Reactor {
    epoll: OwnedFd,
    timer: Timer,
    events: Vec<Event>,
}

impl Reactor {
    /// A reactor that waits for nothing yet. Sleeps of this thread become exact.
    ///
    /// # Errors
    /// The kernel has no room for an epoll instance or a timer.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer = Timer::new()?;
        let reactor = Self { epoll, timer, events: Vec::with_capacity(EVENTS_PER_TURN) };
        reactor.register(&reactor.timer, TIMER, Interest::Read)?;
        Ok(reactor)
    }

    /// Waits for a file descriptor from now on.
    ///
    /// # Errors
    /// It is registered already or cannot be waited for.
    pub fn register(&self, fd: impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        let data = EventData::new_u64(token.0);
        Ok(epoll::add(&self.epoll, fd, data, interest.flags())?)
    }

    /// Waits for something else of a registered file descriptor.
    ///
    /// # Errors
    /// It is not registered.
    pub fn reregister(&self, fd: impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        let data = EventData::new_u64(token.0);
        Ok(epoll::modify(&self.epoll, fd, data, interest.flags())?)
    }

    /// No longer waits for a file descriptor. Closing it has the same effect.
    ///
    /// # Errors
    /// It is not registered.
    pub fn deregister(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, fd)?)
    }

    /// Waits until something is ready or a moment has come.
    ///
    /// # Arguments
    /// * `until` - the moment; never if `None`.
    /// * `ready` - receives what is ready, after being cleared.
    ///
    /// # Errors
    /// epoll or the timer fails; a signal is not an error but ends the wait.
    pub fn wait(&mut self, until: Option<Instant>, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        self.events.clear();
        let at_once = !self.timer.set(until)?;
        // A wait of its own would end late, as much as a thousandth of its length (`Timer`).
        let limit = at_once.then_some(Timespec { tv_sec: 0, tv_nsec: 0 });
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &self.events {
            let (data, flags) = (event.data, event.flags);
            let token = Token(data.u64());
            if token == TIMER {
                self.timer.ended();
                continue;
            }
            let ended = flags.intersects(EventFlags::HUP | EventFlags::ERR);
            ready.push(Ready {
                token,
                readable: ended || flags.intersects(EventFlags::IN | EventFlags::RDHUP),
                writable: ended || flags.contains(EventFlags::OUT),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_wait_ends_at_its_moment_and_tells_of_no_timer() {
        let mut reactor = Reactor::new().unwrap();
        let (mut ready, begin) = (Vec::new(), Instant::now());
        for after_ms in [3, 1, 0, 2, 2] {
            let until = begin + Duration::from_millis(after_ms);
            reactor.wait(Some(until), &mut ready).unwrap();
            assert!(Instant::now() >= until);
            assert!(ready.is_empty());
        }
    }

    #[test]
    fn a_moment_that_is_no_longer_waited_for_ends_no_wait() {
        let (reader, mut writer) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut reactor = Reactor::new().unwrap();
        reactor.register(&reader, Token(7), Interest::Read).unwrap();
        let (mut ready, soon) = (Vec::new(), Instant::now() + Duration::from_millis(2));
        reactor.wait(Some(soon), &mut ready).unwrap();
        std::io::Write::write_all(&mut writer, b"x").unwrap();
        // The timer is over and the pipe readable: of both, only the pipe is told, however often.
        for until in [None, Some(soon), Some(Instant::now() + Duration::from_secs(60)), None] {
            reactor.wait(until, &mut ready).unwrap();
            assert_eq!(ready, [Ready { token: Token(7), readable: true, writable: false }]);
        }
    }
}
