//! Which stream's data the next packet carries.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use bytes::Bytes;
use headway_schedule::{Priority, Scheduler};

use crate::stream::Sending;

/// Data of all streams of a connection that waits to be sent.
///
/// Streams that were given a priority are the scheduler's; all others go before them, one after
/// the other in the order in which they had something to send: control streams and requests.
#[derive(Debug)]
pub(crate) struct Outbox {
    streams: BTreeMap<u64, Sending>,
    unscheduled: VecDeque<u64>,
    scheduler: Box<dyn Scheduler>,
    /// How many of the scheduler's streams have something to send.
    ready: usize,
    /// Bytes of all streams that wait in memory.
    queued: u64,
}

impl Outbox {
    pub(crate) fn new(scheduler: Box<dyn Scheduler>) -> Self {
        let (streams, unscheduled) = (BTreeMap::new(), VecDeque::new());
        Self { streams, unscheduled, scheduler, ready: 0, queued: 0 }
    }

    /// Data for a stream that is not there has nowhere to go.
    pub(crate) fn get(&self, stream: u64) -> Option<&Sending> {
        self.streams.get(&stream)
    }

    /// Bytes of all streams that wait in memory.
    pub(crate) fn queued(&self) -> u64 {
        self.queued
    }

    /// Whether as many bytes can be sent, as far as it is known what the application has.
    pub(crate) fn has(&self, bytes: u64) -> bool {
        let mut missing = bytes;
        missing == 0
            || self.streams.values().filter(|sending| sending.is_ready()).any(|sending| {
                missing = missing.saturating_sub(sending.available());
                missing == 0 || sending.is_replenished()
            })
    }

    /// A stream can be written to from now on.
    pub(crate) fn open(&mut self, stream: u64) {
        self.streams.entry(stream).or_default();
    }

    /// A stream becomes the scheduler's, or its priority changes.
    pub(crate) fn prioritise(&mut self, stream: u64, priority: &Priority) {
        let Some(sending) = self.streams.get_mut(&stream) else { return };
        if sending.is_scheduled() {
            self.scheduler.reprioritise(stream, priority);
            return;
        }
        let ready = sending.is_ready();
        sending.set_scheduled();
        self.unscheduled.retain(|other| *other != stream);
        self.scheduler.open(stream, priority);
        if ready {
            self.rise(stream, true);
        }
    }

    /// Changes what waits on a stream, and tells the scheduler what that means.
    pub(crate) fn change<T>(
        &mut self,
        stream: u64,
        change: impl FnOnce(&mut Sending) -> T,
    ) -> Option<T> {
        let sending = self.streams.get_mut(&stream)?;
        let before = sending.is_ready();
        self.queued -= sending.queued();
        let result = change(sending);
        self.queued += sending.queued();
        let (after, scheduled) = (sending.is_ready(), sending.is_scheduled());
        match (before, after) {
            (false, true) => self.rise(stream, scheduled),
            (true, false) => self.fall(stream, scheduled),
            _ => {}
        }
        Some(result)
    }

    /// The stream that is next, if any has something to send.
    pub(crate) fn next(&mut self) -> Option<u64> {
        self.unscheduled.front().copied().or_else(|| self.scheduler.next())
    }

    /// Whether it is for the scheduler to say which stream is next.
    pub(crate) fn is_scheduled(&mut self) -> bool {
        self.unscheduled.is_empty() && self.scheduler.next().is_some()
    }

    /// Whether no more than one stream has something to send.
    pub(crate) fn is_for_one(&self) -> bool {
        self.unscheduled.len() + self.ready <= 1
    }

    /// Hands over a piece from the front of a stream.
    ///
    /// # Arguments
    /// * `room` - bytes that it may have.
    /// * `write` - takes pieces, and whether the stream ends with them; leaves in them what it
    ///   does not take.
    pub(crate) fn hand_over(
        &mut self,
        stream: u64,
        room: usize,
        write: impl FnOnce(&mut [Bytes], bool) -> u64,
    ) -> HandedOver {
        let Some(sending) = self.streams.get_mut(&stream) else { return HandedOver::default() };
        let before = sending.queued();
        let mut taken = match sending.take(room) {
            Ok(taken) => taken,
            Err(error) => {
                self.queued = self.queued - before + sending.queued();
                self.close(stream);
                return HandedOver { failure: Some(error), ..HandedOver::default() };
            }
        };
        let ends = sending.ends_here();
        let bytes = write(&mut taken.pieces, ends);
        if sending.put_back(taken) {
            sending.set_blocked(true);
        } else if ends {
            sending.end_told();
        }
        self.queued = self.queued - before + sending.queued();
        let handed = HandedOver { bytes, is_low: sending.take_low(), failure: None };
        let (ready, scheduled) = (sending.is_ready(), sending.is_scheduled());
        if scheduled {
            self.scheduler.sent(stream, bytes);
        }
        if !ready {
            self.fall(stream, scheduled);
        }
        handed
    }

    /// A stream is over: everything was acknowledged, or it was reset.
    pub(crate) fn close(&mut self, stream: u64) {
        self.change(stream, Sending::abandon);
        if self.streams.remove(&stream).is_some_and(|sending| sending.is_scheduled()) {
            self.scheduler.close(stream);
        }
    }

    /// All streams are gone.
    pub(crate) fn clear(&mut self) {
        while let Some((&stream, _)) = self.streams.first_key_value() {
            self.close(stream);
        }
    }

    fn rise(&mut self, stream: u64, scheduled: bool) {
        if scheduled {
            self.ready += 1;
            self.scheduler.ready(stream);
        } else {
            self.unscheduled.push_back(stream);
        }
    }

    fn fall(&mut self, stream: u64, scheduled: bool) {
        if scheduled {
            self.ready -= 1;
            self.scheduler.blocked(stream);
        } else {
            self.unscheduled.retain(|other| *other != stream);
        }
    }
}

/// What was handed over of a stream.
#[derive(Debug, Default)]
pub(crate) struct HandedOver {
    pub(crate) bytes: u64,
    /// The application should give more.
    pub(crate) is_low: bool,
    /// Why the stream's source gives nothing: it is over.
    pub(crate) failure: Option<io::Error>,
}
