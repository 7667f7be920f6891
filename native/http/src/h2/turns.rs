use std::cmp::Reverse;
use std::collections::BTreeSet;

use headway_schedule::{Priority, Scheduler};

use super::flow::StreamWindow;

/// Which stream sends next: of those whose windows let them, the one that the scheduler picks.
///
/// When the peer changes the initial window, it changes those of all streams. They are not visited:
/// streams that wait are kept in the order in which a wider one lets them go, and one that the
/// scheduler picks although its window is gone has to wait from then on.
pub(super) struct Turns {
    scheduler: Box<dyn Scheduler>,
    /// Streams that wait for their windows; the last one needs the least.
    waiting: BTreeSet<(StreamWindow, Reverse<u32>)>,
}

impl Turns {
    pub(super) fn new(scheduler: Box<dyn Scheduler>) -> Self {
        Self { scheduler, waiting: BTreeSet::new() }
    }

    /// A stream has content.
    pub(super) fn open(
        &mut self,
        id: u32,
        priority: &Priority,
        window: StreamWindow,
        initial: u32,
    ) {
        self.scheduler.open(id.into(), priority);
        self.place(id, window, initial);
    }

    /// A stream has no content any more, or had none yet.
    pub(super) fn close(&mut self, id: u32, window: StreamWindow) {
        self.waiting.remove(&(window, Reverse(id)));
        self.scheduler.close(id.into());
    }

    /// A stream's priority changes.
    pub(super) fn reprioritise(&mut self, id: u32, priority: &Priority) {
        self.scheduler.reprioritise(id.into(), priority);
    }

    /// The peer has widened the window of a stream that has content.
    pub(super) fn widened(
        &mut self,
        id: u32,
        before: StreamWindow,
        window: StreamWindow,
        initial: u32,
    ) {
        self.waiting.remove(&(before, Reverse(id)));
        self.place(id, window, initial);
    }

    /// Content of a stream was sent, and there is more of it.
    pub(super) fn sent(&mut self, id: u32, bytes: usize, window: StreamWindow, initial: u32) {
        self.scheduler.sent(id.into(), bytes as u64);
        if window.available(initial) == 0 {
            self.place(id, window, initial);
        }
    }

    /// All content that a stream has so far was sent.
    pub(super) fn drained(&mut self, id: u32, bytes: usize) {
        self.scheduler.sent(id.into(), bytes as u64);
        self.scheduler.blocked(id.into());
    }

    /// A stream that was drained has more content.
    pub(super) fn filled(&mut self, id: u32, window: StreamWindow, initial: u32) {
        self.place(id, window, initial);
    }

    /// The last content of a stream was sent.
    pub(super) fn ended(&mut self, id: u32, bytes: usize) {
        self.scheduler.sent(id.into(), bytes as u64);
        self.scheduler.close(id.into());
    }

    /// The stream whose turn it is.
    pub(super) fn next(
        &mut self,
        initial: u32,
        window: impl Fn(u32) -> Option<StreamWindow>,
    ) -> Option<u32> {
        while let Some(&(waits, Reverse(id))) = self.waiting.last() {
            if waits.available(initial) == 0 {
                break;
            }
            self.waiting.pop_last();
            self.scheduler.ready(id.into());
        }
        loop {
            let id = self.scheduler.next().and_then(|id| u32::try_from(id).ok())?;
            // A stream that is no more has no turn.
            let Some(window) = window(id) else {
                self.scheduler.close(id.into());
                continue;
            };
            if window.available(initial) > 0 {
                return Some(id);
            }
            self.place(id, window, initial);
        }
    }

    fn place(&mut self, id: u32, window: StreamWindow, initial: u32) {
        if window.available(initial) > 0 {
            self.scheduler.ready(id.into());
        } else {
            self.scheduler.blocked(id.into());
            self.waiting.insert((window, Reverse(id)));
        }
    }
}
