use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
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

/// Data of a stream, and the memory that it keeps.
#[derive(Debug)]
struct Piece {
    data: Bytes,
    kept: u64,
}

impl Piece {
    /// Data that came in a datagram of this size. It is copied if most of the datagram would be kept for
    /// nothing: so memory is less than twice what came.
    fn of(data: Bytes, datagram: usize) -> Self {
        if data.len() * 2 < datagram {
            let kept = data.len() as u64;
            return Self { data: Bytes::copy_from_slice(&data), kept };
        }
        let kept = data.len().max(datagram) as u64;
        Self { data, kept }
    }
}

#[derive(Debug)]
struct Waiting {
    piece: Piece,
    since: Time,
}

/// What a piece takes of memory beside its content: its place, and the count of who shares it.
const PIECE_OVERHEAD: u64 = 150;

/// Pieces in order that are smaller than this are joined.
const JOINED_PIECE: usize = 600;

/// A stream's data, put in order.
///
/// quinn-proto's own ordering kills a connection with more than 1024 gaps in a stream; so its data
/// is taken as it comes.
#[derive(Debug, Default)]
pub(crate) struct Receiving {
    /// In order and not yet read.
    ready: VecDeque<Piece>,
    /// What follows them: small pieces, joined.
    joined: BytesMut,
    ready_bytes: u64,
    /// Behind a gap, by offset; no two overlap.
    waiting: BTreeMap<u64, Waiting>,
    waiting_bytes: u64,
    /// Memory of all pieces, in order or not.
    kept: u64,
    next: u64,
    head_of_line: HeadOfLine,
    end: Option<Read>,
    /// quinn-proto has more that was not taken because too much is unread.
    pub(crate) left_over: bool,
}

impl Receiving {
    /// Data came.
    ///
    /// # Arguments
    /// * `datagram` - the size of the largest datagram that it may have come in.
    ///
    /// # Returns
    /// Whether there is more to read than before.
    pub(crate) fn insert(&mut self, now: Time, offset: u64, data: Bytes, datagram: usize) -> bool {
        if offset > self.next {
            let piece = Piece::of(data, datagram);
            self.kept += piece.kept + PIECE_OVERHEAD;
            self.waiting_bytes += piece.data.len() as u64;
            self.head_of_line.blocked_bytes += piece.data.len() as u64;
            self.head_of_line.most_bytes = self.head_of_line.most_bytes.max(self.waiting_bytes);
            self.waiting.insert(offset, Waiting { piece, since: now });
            return false;
        }
        self.deliver(data, datagram);
        while let Some(entry) = self.waiting.first_entry().filter(|e| *e.key() == self.next) {
            let Waiting { piece, since } = entry.remove();
            self.count_wait(piece.data.len() as u64, now.saturating_sub(since));
            self.kept -= piece.kept + PIECE_OVERHEAD;
            self.deliver(piece.data, datagram);
        }
        true
    }

    /// The stream is over.
    pub(crate) fn end(&mut self, end: Read) {
        if let Read::Reset(_) = end {
            self.ready.clear();
            self.joined = BytesMut::new();
            self.ready_bytes = 0;
            self.waiting.clear();
            self.kept = 0;
        }
        self.end = Some(end);
    }

    /// The next bytes, or why there are none.
    pub(crate) fn read(&mut self) -> Read {
        let data = match self.ready.pop_front() {
            Some(piece) => {
                self.kept -= piece.kept + PIECE_OVERHEAD;
                piece.data
            }
            None if !self.joined.is_empty() => std::mem::take(&mut self.joined).freeze(),
            None => return self.end.clone().unwrap_or(Read::Blocked),
        };
        self.ready_bytes -= data.len() as u64;
        Read::Data(data)
    }

    /// Memory that it keeps, in bytes.
    pub(crate) fn kept(&self) -> u64 {
        self.kept + self.joined.capacity() as u64
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

    /// Data in order is to be read; small pieces are joined.
    fn deliver(&mut self, data: Bytes, datagram: usize) {
        self.next += data.len() as u64;
        self.ready_bytes += data.len() as u64;
        if data.len() < JOINED_PIECE {
            return self.joined.extend_from_slice(&data);
        }
        if !self.joined.is_empty() {
            let kept = self.joined.capacity() as u64;
            let data = std::mem::take(&mut self.joined).freeze();
            self.push(Piece { data, kept });
        }
        self.push(Piece::of(data, datagram));
    }

    fn push(&mut self, piece: Piece) {
        self.kept += piece.kept + PIECE_OVERHEAD;
        self.ready.push_back(piece);
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
        assert!(receiving.insert(ms(0), 0, Bytes::from_static(b"aa"), 1200));
        assert!(!receiving.insert(ms(10), 4, Bytes::from_static(b"ccc"), 1200));
        assert!(!receiving.insert(ms(20), 7, Bytes::from_static(b"d"), 1200));
        assert!(receiving.insert(ms(110), 2, Bytes::from_static(b"bb"), 1200));
        assert_eq!(drain(&mut receiving), b"aabbcccd");
        let blocked = receiving.head_of_line();
        assert_eq!((blocked.blocked_bytes, blocked.most_bytes), (4, 4));
        assert_eq!(blocked.longest, ms(100));
        // 3 bytes for 100 ms and 1 byte for 90 ms.
        assert!((blocked.byte_seconds - 0.39).abs() < 1e-12);
    }

    /// A stream of which pieces of so many bytes came, each in a datagram of its own, and nothing was read.
    ///
    /// # Arguments
    /// * `first` - where it begins: at 1 all waits behind a gap.
    fn unread(first: u64, size: usize, datagram: usize) -> Receiving {
        let mut receiving = Receiving::default();
        for index in 0..500 {
            let whole = Bytes::from(vec![7; datagram]);
            receiving.insert(ms(0), first + index * size as u64, whole.slice(..size), datagram);
            // Whoever has the datagram alone can take it over.
            assert_eq!(whole.try_into_mut().is_ok(), size * 2 < datagram, "{size} of {datagram}");
        }
        receiving
    }

    #[test]
    fn memory_is_in_proportion_to_content_in_whatever_pieces_it_comes() {
        for (first, overhead) in [(0, 0), (1, PIECE_OVERHEAD)] {
            for (size, datagram) in
                [(1, 1200), (1, 15_000), (599, 1200), (599, 65_000), (1100, 1200), (7000, 15_000)]
            {
                let mut receiving = unread(first, size, datagram);
                let content = 500 * size as u64;
                let of_pieces =
                    500 * overhead + if size < JOINED_PIECE { 0 } else { 500 * PIECE_OVERHEAD };
                let kept = receiving.kept();
                assert!((content..=3 * content + of_pieces).contains(&kept), "{size}: {kept}");
                assert_eq!(receiving.pieces(), if first == 0 { 0 } else { 500 });
                if first > 0 {
                    receiving.insert(ms(0), 0, Bytes::from_static(b"a"), datagram);
                }
                let read = drain(&mut receiving).len() as u64;
                assert_eq!((read, receiving.unread()), (content + first, 0));
                assert_eq!((receiving.kept(), receiving.pieces()), (0, 0));
            }
        }
    }

    #[test]
    fn a_reset_keeps_nothing() {
        for first in [0, 1] {
            let mut receiving = unread(first, 700, 1200);
            receiving.end(Read::Reset(0));
            assert_eq!((receiving.pieces(), receiving.kept()), (0, 0));
        }
    }

    #[test]
    fn a_reset_discards() {
        let mut receiving = Receiving::default();
        receiving.insert(ms(0), 0, Bytes::from_static(b"aa"), 1200);
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
                receiving.insert(ms(0), from as u64, Bytes::copy_from_slice(&stream[from..to]), 1200);
            }
            prop_assert_eq!(drain(&mut receiving), stream);
        }
    }
}
