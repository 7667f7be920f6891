use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::time::Timespec;

const EVENTS_PER_TURN: usize = 256;
/// The kernel's default lets a sleep end 50 us late, to save energy.
const TIMER_SLACK_NS: NonZeroU64 = NonZeroU64::MIN;

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
    events: Vec<Event>,
}

impl Reactor {
    /// A reactor that waits for nothing yet. Timers of this thread become exact.
    ///
    /// # Errors
    /// The kernel has no room for an epoll instance.
    pub fn new() -> io::Result<Self> {
        rustix::thread::set_current_timer_slack(Some(TIMER_SLACK_NS))?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, events: Vec::with_capacity(EVENTS_PER_TURN) })
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

    /// Waits until something is ready or the time is over.
    ///
    /// # Arguments
    /// * `timeout` - at most this long; forever if `None`.
    /// * `ready` - receives what is ready, after being cleared.
    ///
    /// # Errors
    /// epoll fails; a signal is not an error but ends the wait.
    pub fn wait(&mut self, timeout: Option<Duration>, ready: &mut Vec<Ready>) -> io::Result<()> {
        let timeout = timeout.map(|t| Timespec {
            tv_sec: i64::try_from(t.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(t.subsec_nanos()),
        });
        ready.clear();
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        ready.extend(self.events.iter().map(|event| {
            let (data, flags) = (event.data, event.flags);
            let ended = flags.intersects(EventFlags::HUP | EventFlags::ERR);
            Ready {
                token: Token(data.u64()),
                readable: ended || flags.intersects(EventFlags::IN | EventFlags::RDHUP),
                writable: ended || flags.contains(EventFlags::OUT),
            }
        }));
        Ok(())
    }
}
