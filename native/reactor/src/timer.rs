use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// The kernel's default lets a sleep end 50 us late, to save energy.
const TIMER_SLACK_NS: NonZeroU64 = NonZeroU64::MIN;
const NEVER: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// A moment that is waited for together with file descriptors.
///
/// The kernel lets the time limits of `poll`, `select` and `epoll_wait`, of `epoll_pwait2` too, end
/// late by a thousandth of their length, up to 100 ms, whatever a thread's timer slack is
/// (`select_estimate_accuracy`). A timer of its own has no slack.
pub(crate) struct Timer {
    fd: OwnedFd,
    /// When it ends, or ended.
    set_to: Option<Instant>,
    has_ended: bool,
}

impl Timer {
    /// One that is not set. Sleeps of this thread become exact, too.
    pub(crate) fn new() -> io::Result<Self> {
        rustix::thread::set_current_timer_slack(Some(TIMER_SLACK_NS))?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self { fd, set_to: None, has_ended: false })
    }

    /// Sets it to a moment, or to none; returns false if the moment has passed, for which it is not set.
    pub(crate) fn set(&mut self, until: Option<Instant>) -> io::Result<bool> {
        if until == self.set_to && !self.has_ended {
            return Ok(true);
        }
        let left = match until {
            None => None,
            Some(at) => match at.saturating_duration_since(Instant::now()) {
                Duration::ZERO => return Ok(false),
                left => Some(left),
            },
        };
        let it_value = left.map_or(NEVER, |left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        });
        let value = Itimerspec { it_interval: NEVER, it_value };
        timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &value)?;
        (self.set_to, self.has_ended) = (until, false);
        Ok(true)
    }

    /// It was seen to have ended.
    pub(crate) fn ended(&mut self) {
        self.has_ended = true;
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
