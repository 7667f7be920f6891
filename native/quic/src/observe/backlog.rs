use std::collections::BTreeMap;

use crate::packetsize::{stream_header, varint_size};

/// What quinn-proto was given of streams, and what of it was sent for the first time.
///
/// The sender gives it data for one packet at a time; but if that packet turns out to have less
/// room, as with an ACK frame in it, some of the data goes into the next one.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    streams: BTreeMap<u64, Progress>,
    /// Streams with data that was not sent yet.
    waiting: Vec<u64>,
    unsent: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    handed_over: u64,
    sent: u64,
}

impl Backlog {
    /// More data of a stream was handed over.
    pub(crate) fn hand_over(&mut self, stream: u64, bytes: u64) {
        let progress = self.streams.entry(stream).or_default();
        if progress.handed_over == progress.sent && bytes > 0 {
            self.waiting.push(stream);
        }
        progress.handed_over += bytes;
        self.unsent += bytes;
    }

    /// A stream was sent up to an offset.
    pub(crate) fn send(&mut self, stream: u64, end: u64) {
        let Some(progress) = self.streams.get_mut(&stream).filter(|p| p.sent < end) else { return };
        self.unsent -= end - progress.sent;
        progress.sent = end;
        if progress.handed_over == end {
            self.waiting.retain(|other| *other != stream);
        }
    }

    /// Forgets a stream that is over: what was not sent of it never will be.
    pub(crate) fn forget(&mut self, stream: u64) {
        if let Some(progress) = self.streams.remove(&stream) {
            self.unsent -= progress.handed_over - progress.sent;
            self.waiting.retain(|other| *other != stream);
        }
    }

    /// Forgets all streams.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bytes not sent yet.
    pub(crate) fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Where a stream's next byte to be handed over is.
    pub(crate) fn offset(&self, stream: u64) -> u64 {
        self.streams.get(&stream).map_or(0, |progress| progress.handed_over)
    }

    /// Bytes of the frames that will carry what was not sent yet, if others follow them.
    pub(crate) fn frames(&self) -> u64 {
        let frame = |stream: &u64| {
            // What waits is of streams that are there: both are forgotten together.
            let Progress { handed_over, sent } = self.streams[stream];
            let data = handed_over - sent;
            (stream_header(*stream, sent) + varint_size(data)) as u64 + data
        };
        self.waiting.iter().map(frame).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_again_counts_once() {
        let mut backlog = Backlog::default();
        backlog.hand_over(4, 10);
        backlog.send(4, 6);
        backlog.send(4, 6);
        assert_eq!((backlog.unsent(), backlog.offset(4)), (4, 10));
        // Type, stream, offset, length and four bytes.
        assert_eq!(backlog.frames(), 8);
        backlog.send(4, 10);
        assert_eq!((backlog.unsent(), backlog.frames()), (0, 0));
    }

    #[test]
    fn a_stream_that_is_over_leaves_nothing() {
        let mut backlog = Backlog::default();
        backlog.hand_over(0, 10);
        backlog.hand_over(4, 10);
        backlog.forget(0);
        backlog.forget(8);
        assert_eq!(backlog.unsent(), 10);
        backlog.send(0, 10);
        assert_eq!(backlog.unsent(), 10);
    }
}
