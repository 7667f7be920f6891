//! A response that is read more slowly than it comes.

use std::time::{Duration, Instant};

/// How often a slow reader reads.
const EVERY: Duration = Duration::from_millis(10);

/// How slow it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Slowness {
    /// It reads so many bytes a second.
    Rate(u64),
    /// It reads nothing for so long, and then all that comes.
    Pause(Duration),
}

/// Reads a response, from its head on.
#[derive(Debug)]
pub(crate) struct SlowReader {
    slowness: Slowness,
    began: Option<Instant>,
    next: Option<Instant>,
    read: u64,
}

impl SlowReader {
    pub(crate) fn new(slowness: Slowness) -> Self {
        Self { slowness, began: None, next: None, read: 0 }
    }

    /// The response's head came.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.began = Some(now);
        self.next = Some(match self.slowness {
            Slowness::Rate(_) => now + EVERY,
            Slowness::Pause(pause) => now + pause,
        });
    }

    /// The response is over.
    pub(crate) fn end(&mut self) {
        self.next = None;
    }

    /// When it reads next.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.next
    }

    /// How many more bytes it takes by now.
    pub(crate) fn takes(&mut self, now: Instant) -> Option<u64> {
        let (began, next) = self.began.zip(self.next).filter(|&(_, next)| next <= now)?;
        match self.slowness {
            Slowness::Pause(_) => {
                self.next = None;
                Some(u64::MAX)
            }
            Slowness::Rate(rate) => {
                self.next = Some(next + EVERY);
                let may = (next - began).as_secs_f64() * rate as f64;
                let bytes = (may as u64).saturating_sub(self.read);
                self.read += bytes;
                Some(bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_kept_and_a_pause_ends() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let mut slow = SlowReader::new(Slowness::Rate(1550));
        assert_eq!((slow.due(), slow.takes(start)), (None, None));
        slow.begin(start);
        let mut taken = Vec::new();
        while let Some(at) = slow.due().filter(|&at| at <= start + ms(40)) {
            assert_eq!(slow.takes(at - Duration::from_nanos(1)), None);
            taken.extend(slow.takes(at));
        }
        assert_eq!(taken, [15, 16, 15, 16]);
        slow.end();
        assert_eq!(slow.due(), None);
        let mut pause = SlowReader::new(Slowness::Pause(ms(50)));
        pause.begin(start);
        assert_eq!(
            (pause.takes(start + ms(49)), pause.takes(start + ms(50))),
            (None, Some(u64::MAX))
        );
        assert_eq!((pause.due(), pause.takes(start + ms(60))), (None, None));
    }
}
