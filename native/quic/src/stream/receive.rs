use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use headway_congestion::Time;

/// What reading a stream yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// The next bytes.
    Data(Bytes),
    /// Nothing yet.
    Blocked,
    /// The stream ended, and all of it was read.
    Finished,
    /// The peer gave the stream up, with this code.
    Reset(u64),
}

/// What waited behind missing data of the same stream (head-of-line blocking; Sander 2022,
/// section 4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeadOfLine {
    /// Bytes that came before bytes in front of them.
    pub blocked_bytes: u64,
    /// The most that waited at a time.
    pub most_bytes: u64,
    /// The longest that any waited.
    pub longest: Duration,
    /// Bytes times the seconds that they waited.
    pub byte_seconds: f64,
}

#[derive(Debug)]
struct Waiting {
    data: Bytes,
    since: Time,
}

/// A piece that is less than a packet's worth is copied, so that it does not keep its whole datagram.
const SMALL_PIECE: usize = 600;

/// A stream's data, put in order.
///
/// quinn-proto's own ordering kills a connection with more than 1024 gaps in a stream; so its data
/// is taken as it comes.
#[derive(Debug, Default)]
pub(crate) struct Receiving {
    /// In order and not yet read.
    ready: VecDeque<Bytes>,
    ready_bytes: u64,
    /// Behind a gap, by offset; no two overlap.
    waiting: BTreeMap<u64, Waiting>,
    waiting_bytes: u64,
    next: u64,
    head_of_line: HeadOfLine,
    end: Option<Read>,
    /// quinn-proto has more that was not taken because too much is unread.
    pub(crate) left_over: bool,
}

impl Receiving {
    /// Data came.
    ///
    /// # Returns
    /// Whether there is more to read than before.
    pub(crate) fn insert(&mut self, now: Time, offset: u64, data: Bytes) -> bool {
        if offset > self.next {
            let is_small = data.len() < SMALL_PIECE;
            let data = if is_small { Bytes::copy_from_slice(&data) } else { data };
            self.waiting_bytes += data.len() as u64;
            self.head_of_line.blocked_bytes += data.len() as u64;
            self.head_of_line.most_bytes = self.head_of_line.most_bytes.max(self.waiting_bytes);
            self.waiting.insert(offset, Waiting { data, since: now });
            return false;
        }
        self.deliver(data);
        while let Some(entry) = self.waiting.first_entry().filter(|e| *e.key() == self.next) {
            let Waiting { data, since } = entry.remove();
            self.count_wait(data.len() as u64, now.saturating_sub(since));
            self.deliver(data);
        }
        true
    }

    /// The stream is over.
    pub(crate) fn end(&mut self, end: Read) {
        if let Read::Reset(_) = end {
            self.ready.clear();
            self.ready_bytes = 0;
            self.waiting.clear();
        }
        self.end = Some(end);
    }

    /// The next bytes, or why there are none.
    pub(crate) fn read(&mut self) -> Read {
        match self.ready.pop_front() {
            Some(data) => {
                self.ready_bytes -= data.len() as u64;
                Read::Data(data)
            }
            None => self.end.clone().unwrap_or(Read::Blocked),
        }
    }

    /// Pieces that wait behind gaps.
    pub(crate) fn pieces(&self) -> usize {
        self.waiting.len()
    }

    /// Bytes that can be read.
    pub(crate) fn unread(&self) -> u64 {
        self.ready_bytes
    }

    /// Whether its end was reached, even if not all of it was read.
    pub(crate) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// The code of a reset.
    pub(crate) fn reset_code(&self) -> Option<u64> {
        match self.end {
            Some(Read::Reset(code)) => Some(code),
            _ => None,
        }
    }

    /// What waited behind gaps so far.
    pub(crate) fn head_of_line(&self) -> HeadOfLine {
        self.head_of_line
    }

    fn deliver(&mut self, data: Bytes) {
        self.next += data.len() as u64;
        self.ready_bytes += data.len() as u64;
        self.ready.push_back(data);
    }

    fn count_wait(&mut self, bytes: u64, waited: Duration) {
        self.waiting_bytes -= bytes;
        let blocked = &mut self.head_of_line;
        blocked.longest = blocked.longest.max(waited);
        blocked.byte_seconds += bytes as f64 * waited.as_secs_f64();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(value: u64) -> Time {
        Time::from_millis(value)
    }

    fn drain(receiving: &mut Receiving) -> Vec<u8> {
        let mut all = Vec::new();
        while let Read::Data(data) = receiving.read() {
            all.extend_from_slice(&data);
        }
        all
    }

    #[test]
    fn counts_what_waits_behind_a_gap() {
        let mut receiving = Receiving::default();
        assert!(receiving.insert(ms(0), 0, Bytes::from_static(b"aa")));
        assert!(!receiving.insert(ms(10), 4, Bytes::from_static(b"ccc")));
        assert!(!receiving.insert(ms(20), 7, Bytes::from_static(b"d")));
        assert!(receiving.insert(ms(110), 2, Bytes::from_static(b"bb")));
        assert_eq!(drain(&mut receiving), b"aabbcccd");
        let blocked = receiving.head_of_line();
        assert_eq!((blocked.blocked_bytes, blocked.most_bytes), (4, 4));
        assert_eq!(blocked.longest, ms(100));
        // 3 bytes for 100 ms and 1 byte for 90 ms.
        assert!((blocked.byte_seconds - 0.39).abs() < 1e-12);
    }

    #[test]
    fn pieces_behind_gaps_are_counted_and_do_not_keep_their_datagrams() {
        let mut receiving = Receiving::default();
        let datagram = Bytes::from(vec![7; 1200]);
        for offset in (1..2000).step_by(2) {
            receiving.insert(ms(0), offset, datagram.slice(..1));
        }
        assert_eq!(receiving.pieces(), 1000);
        // Nobody else has the datagram: it can be taken over.
        assert!(datagram.try_into_mut().is_ok());
        receiving.insert(ms(0), 0, Bytes::from_static(b"a"));
        assert_eq!((receiving.pieces(), receiving.unread()), (999, 2));
        receiving.end(Read::Reset(0));
        assert_eq!(receiving.pieces(), 0);
    }

    #[test]
    fn a_reset_discards() {
        let mut receiving = Receiving::default();
        receiving.insert(ms(0), 0, Bytes::from_static(b"aa"));
        receiving.end(Read::Reset(7));
        assert_eq!(receiving.read(), Read::Reset(7));
    }

    proptest! {
        #[test]
        fn any_order_of_arrival_gives_the_same_stream(
            cuts in proptest::collection::btree_set(1_usize..400, 0..40),
            seed in any::<u64>(),
        ) {
            let stream: Vec<u8> = (0..400_u32).map(|i| (i % 251) as u8).collect();
            let mut edges: Vec<usize> = cuts.into_iter().collect();
            edges.insert(0, 0);
            edges.push(400);
            let mut pieces: Vec<(usize, usize)> = edges.windows(2).map(|w| (w[0], w[1])).collect();
            pieces.sort_by_key(|(from, _)| (*from as u64).wrapping_mul(seed | 1) >> 7);
            let mut receiving = Receiving::default();
            for (from, to) in pieces {
                receiving.insert(ms(0), from as u64, Bytes::copy_from_slice(&stream[from..to]));
            }
            prop_assert_eq!(drain(&mut receiving), stream);
        }
    }
}
