//! Waiting for a moment, exactly.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use crate::clock;

/// A moment of the monotonic clock that is waited for together with a file.
///
/// The kernel lets the time limit of a `poll` end late by a thousandth of its length, up to 100 ms,
/// whatever a process's timer slack is (`select_estimate_accuracy`). A timer of its own has no slack.
#[derive(Debug)]
pub(crate) struct Timer(OwnedFd);

impl Timer {
    pub(crate) fn new() -> Result<Self, Errno> {
        timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).map(Self)
    }

    /// Wait until a file can be read, or for a moment if there is one; returns whether it can be read.
    pub(crate) fn wait(&self, file: &OwnedFd, until_ns: Option<u64>) -> Result<bool, Errno> {
        // Nought is no moment; one that has passed ends the wait at once.
        let at_ns = until_ns.map_or(0, |until_ns| until_ns.max(1));
        let value =
            Itimerspec { it_interval: clock::timespec(0), it_value: clock::timespec(at_ns) };
        timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &value)?;
        let mut files = [PollFd::new(file, PollFlags::IN), PollFd::new(&self.0, PollFlags::IN)];
        poll(&mut files, None)?;
        Ok(!files[0].revents().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_wait_ends_at_its_moment_or_with_what_can_be_read() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (timer, file) = (Timer::new().unwrap(), OwnedFd::from(ours));
        for after_ns in [2_000_000, 0] {
            let until_ns = clock::monotonic_ns() + after_ns;
            assert!(!timer.wait(&file, Some(until_ns)).unwrap());
            assert!(clock::monotonic_ns() >= until_ns);
        }
        assert!(!timer.wait(&file, Some(0)).unwrap());
        std::io::Write::write_all(&mut theirs, b"x").unwrap();
        assert!(timer.wait(&file, None).unwrap());
        assert!(timer.wait(&file, Some(u64::MAX)).unwrap());
    }
}
