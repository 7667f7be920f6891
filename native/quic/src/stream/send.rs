use std::collections::VecDeque;

use bytes::Bytes;

/// Below this many queued bytes, the application is asked for more.
const LOW_WATER: u64 = 128 << 10;

/// Data of a stream that waits for its turn to be sent.
#[derive(Debug, Default)]
pub(crate) struct Sending {
    queue: VecDeque<Bytes>,
    queued: u64,
    ends: bool,
    ended: bool,
    asked: bool,
    scheduled: bool,
    /// Flow control stopped it.
    blocked: bool,
}

impl Sending {
    /// Adds data to the end.
    pub(crate) fn push(&mut self, data: Bytes) {
        if !data.is_empty() {
            self.queued += data.len() as u64;
            self.queue.push_back(data);
        }
        self.asked = false;
    }

    /// There will be no more data.
    pub(crate) fn end(&mut self) {
        self.ends = true;
    }

    /// Bytes that wait.
    pub(crate) fn queued(&self) -> u64 {
        self.queued
    }

    /// Whether there is something to send, data or the end.
    pub(crate) fn is_pending(&self) -> bool {
        self.queued > 0 || (self.ends && !self.ended)
    }

    /// Whether there is something to send, and nothing forbids it.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_pending() && !self.blocked
    }

    pub(crate) fn set_blocked(&mut self, blocked: bool) {
        self.blocked = blocked;
    }

    /// Whether a scheduler decides when it is this stream's turn.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.scheduled
    }

    pub(crate) fn set_scheduled(&mut self) {
        self.scheduled = true;
    }

    /// Takes pieces from the front that have together at most a number of bytes.
    pub(crate) fn take(&mut self, mut room: usize) -> Vec<Bytes> {
        let mut pieces = Vec::new();
        while room > 0 {
            let Some(first) = self.queue.front_mut() else { break };
            let piece = first.split_to(first.len().min(room));
            if first.is_empty() {
                self.queue.pop_front();
            }
            room -= piece.len();
            self.queued -= piece.len() as u64;
            pieces.push(piece);
        }
        pieces
    }

    /// Puts pieces back at the front; empty ones are none.
    ///
    /// # Returns
    /// Whether there were any.
    pub(crate) fn put_back(&mut self, pieces: Vec<Bytes>) -> bool {
        let before = self.queued;
        for piece in pieces.into_iter().rev().filter(|piece| !piece.is_empty()) {
            self.queued += piece.len() as u64;
            self.queue.push_front(piece);
        }
        self.queued > before
    }

    /// Whether the stream ends with what was taken last.
    pub(crate) fn ends_here(&self) -> bool {
        self.ends && !self.ended && self.queue.is_empty()
    }

    /// The end was handed over.
    pub(crate) fn end_told(&mut self) {
        self.ended = true;
    }

    /// Whether the application should be asked for more; true once until it gave some.
    pub(crate) fn take_low(&mut self) -> bool {
        let now = !self.asked && !self.ends && self.queued < LOW_WATER;
        self.asked |= now;
        now
    }

    /// Throws away what waits.
    pub(crate) fn abandon(&mut self) {
        self.queue.clear();
        self.queued = 0;
        self.ends = true;
        self.ended = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_across_pieces_and_ends_once() {
        let mut sending = Sending::default();
        sending.push(Bytes::from_static(b"abc"));
        sending.push(Bytes::from_static(b"defgh"));
        sending.end();
        let taken = sending.take(5);
        assert_eq!(taken.concat(), b"abcde");
        assert!(!sending.ends_here());
        assert!(sending.put_back(vec![Bytes::new(), Bytes::from_static(b"de")]));
        assert_eq!(sending.take(100).concat(), b"defgh");
        assert!(sending.ends_here());
        assert!(!sending.put_back(vec![Bytes::new()]));
        sending.end_told();
        assert!(!sending.ends_here());
        assert!(!sending.is_pending());
    }

    #[test]
    fn asks_for_more_once() {
        let mut sending = Sending::default();
        sending.push(Bytes::from(vec![0; 200_000]));
        assert!(!sending.take_low());
        sending.take(100_000);
        assert!(sending.take_low());
        assert!(!sending.take_low());
        sending.push(Bytes::from_static(b"x"));
        assert!(sending.take_low());
    }
}
