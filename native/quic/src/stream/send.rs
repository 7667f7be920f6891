use std::collections::VecDeque;
use std::io;

use bytes::Bytes;

use super::Source;

/// Below this many queued bytes, the application is asked for more.
const LOW_WATER: u64 = 128 << 10;

/// Data of a stream that waits for its turn to be sent.
#[derive(Debug, Default)]
pub(crate) struct Sending {
    queue: VecDeque<Bytes>,
    queued: u64,
    /// What follows the queue, to the stream's end.
    source: Option<Box<dyn Source>>,
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

    /// What follows the data so far, to the stream's end.
    pub(crate) fn supply(&mut self, source: Box<dyn Source>) {
        self.source = Some(source);
        self.ends = true;
    }

    /// Bytes that wait in memory.
    pub(crate) fn queued(&self) -> u64 {
        self.queued
    }

    /// Bytes that can be sent, made already or not.
    pub(crate) fn available(&self) -> u64 {
        self.queued + self.source.as_ref().map_or(0, |source| source.remaining())
    }

    /// Whether the application gives more whenever little waits, so that what waits does not say how much it has.
    pub(crate) fn is_replenished(&self) -> bool {
        !self.ends && self.queued >= LOW_WATER
    }

    /// Whether there is something to send, data or the end.
    pub(crate) fn is_pending(&self) -> bool {
        self.available() > 0 || (self.ends && !self.ended)
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
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) fn take(&mut self, mut room: usize) -> io::Result<Taken> {
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
        let source = self.source.as_mut().filter(|source| room > 0 && source.remaining() > 0);
        let is_made = source.is_some();
        if let Some(source) = source {
            pieces.push(source.read(room)?);
        }
        Ok(Taken { pieces, is_made })
    }

    /// Puts pieces back at the front; empty ones are none.
    ///
    /// # Returns
    /// Whether there were any.
    pub(crate) fn put_back(&mut self, taken: Taken) -> bool {
        let before = self.available();
        let mut pieces = taken.pieces;
        if let (true, Some(source), Some(last)) =
            (taken.is_made, &mut self.source, pieces.last_mut())
        {
            if source.unread(last.len()) {
                last.clear();
            }
        }
        for piece in pieces.into_iter().rev().filter(|piece| !piece.is_empty()) {
            self.queued += piece.len() as u64;
            self.queue.push_front(piece);
        }
        self.available() > before
    }

    /// Whether the stream ends with what was taken last.
    pub(crate) fn ends_here(&self) -> bool {
        self.ends && !self.ended && self.available() == 0
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
        self.source = None;
        self.ends = true;
        self.ended = true;
    }
}

/// What was taken from the front of a stream.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) pieces: Vec<Bytes>,
    /// The last piece is of the source.
    is_made: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers from 0 to 9.
    #[derive(Debug)]
    struct Digits {
        next: u8,
        can_repeat: bool,
    }

    impl Source for Digits {
        fn remaining(&self) -> u64 {
            (10 - self.next).into()
        }

        fn read(&mut self, length: usize) -> io::Result<Bytes> {
            let end = 10.min(usize::from(self.next) + length) as u8;
            let bytes = (self.next..end).collect::<Vec<u8>>().into();
            self.next = end;
            Ok(bytes)
        }

        fn unread(&mut self, length: usize) -> bool {
            if self.can_repeat {
                self.next -= length as u8;
            }
            self.can_repeat
        }
    }

    #[test]
    fn content_is_made_when_it_is_taken() {
        for can_repeat in [true, false] {
            let mut sending = Sending::default();
            sending.push(Bytes::from_static(b"ab"));
            sending.supply(Box::new(Digits { next: 0, can_repeat }));
            assert_eq!((sending.queued(), sending.available()), (2, 12));
            let mut taken = sending.take(7).unwrap();
            assert_eq!(taken.pieces.concat(), b"ab\0\x01\x02\x03\x04");
            // Three of them were sent.
            taken.pieces = vec![Bytes::new(), taken.pieces[1].slice(1..)];
            assert!(sending.put_back(taken));
            assert_eq!(sending.queued(), if can_repeat { 0 } else { 4 });
            assert_eq!(sending.available(), 9);
            assert!(!sending.ends_here());
            assert_eq!(sending.take(100).unwrap().pieces.concat(), (1..10).collect::<Vec<u8>>());
            assert!(sending.ends_here() && !sending.take_low());
        }
    }

    #[test]
    fn takes_across_pieces_and_ends_once() {
        let mut sending = Sending::default();
        sending.push(Bytes::from_static(b"abc"));
        sending.push(Bytes::from_static(b"defgh"));
        sending.end();
        let taken = sending.take(5).unwrap();
        assert_eq!(taken.pieces.concat(), b"abcde");
        assert!(!sending.ends_here());
        let pieces = vec![Bytes::new(), Bytes::from_static(b"de")];
        assert!(sending.put_back(Taken { pieces, is_made: false }));
        assert_eq!(sending.take(100).unwrap().pieces.concat(), b"defgh");
        assert!(sending.ends_here());
        assert!(!sending.put_back(Taken { pieces: vec![Bytes::new()], is_made: false }));
        sending.end_told();
        assert!(!sending.ends_here());
        assert!(!sending.is_pending());
    }

    #[test]
    fn asks_for_more_once() {
        let mut sending = Sending::default();
        sending.push(Bytes::from(vec![0; 200_000]));
        assert!(!sending.take_low());
        sending.take(100_000).unwrap();
        assert!(sending.take_low());
        assert!(!sending.take_low());
        sending.push(Bytes::from_static(b"x"));
        assert!(sending.take_low());
    }
}
