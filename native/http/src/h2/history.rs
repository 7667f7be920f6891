//! What became of the streams that are no longer open (RFC 9113, section 5.1).

use std::collections::BTreeMap;

use headway_wire::h2::{Error, ErrorCode};

/// Ranges that are remembered of each kind. Clients open streams in order and close most of them, so
/// that few ranges hold them all; of one who does otherwise the oldest streams are forgotten.
const MAX_RANGES: usize = 256;

/// Streams that the peer never used, and those on which it said that no more would come. All are the
/// client's, as nothing is pushed.
///
/// A stream in neither was ended by this side: what still comes on it was perhaps on its way already,
/// and has to be ignored.
#[derive(Debug, Default)]
pub(super) struct History {
    unused: Streams,
    ended: Streams,
}

impl History {
    /// The client has opened a stream, and passed over those below that it had not used.
    ///
    /// # Arguments
    /// * `id` - the stream.
    /// * `last` - the last one it opened before; 0 is none.
    pub(super) fn opened(&mut self, id: u32, last: u32) {
        let first_unused = if last == 0 { 1 } else { last + 2 };
        if first_unused < id {
            self.unused.insert(first_unused, id - 2);
        }
    }

    /// The peer has ended its side of a stream, with END_STREAM or RST_STREAM, and it is over.
    pub(super) fn ended(&mut self, id: u32) {
        self.ended.insert(id, id);
    }

    /// Whether the client never opened a stream, although it opened higher ones.
    pub(super) fn is_unused(&self, id: u32) -> bool {
        self.unused.contains(id)
    }

    /// Judges HEADERS or DATA on a stream that is over.
    ///
    /// # Errors
    /// The peer had ended the stream, so that they were not on their way when this side did.
    pub(super) fn check(&self, id: u32) -> Result<(), Error> {
        if self.ended.contains(id) || self.unused.contains(id) {
            let reason = "a frame on a stream that had been ended by who sent it";
            return Err(Error::connection(ErrorCode::StreamClosed, reason));
        }
        Ok(())
    }
}

/// A set of a client's streams, which have odd numbers, as ranges: the first of each, and the last.
#[derive(Debug, Default)]
struct Streams(BTreeMap<u32, u32>);

impl Streams {
    fn contains(&self, id: u32) -> bool {
        self.0.range(..=id).next_back().is_some_and(|(_, &last)| id <= last)
    }

    /// Adds streams, of which all are there already, or none.
    fn insert(&mut self, mut first: u32, mut last: u32) {
        if self.contains(first) {
            return;
        }
        if let Some((&before, &end)) = self.0.range(..first).next_back() {
            if end + 2 >= first {
                first = before;
            }
        }
        if let Some(end) = self.0.remove(&(last + 2)) {
            last = end;
        }
        self.0.insert(first, last);
        if self.0.len() > MAX_RANGES {
            self.0.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_range() {
        let mut streams = Streams::default();
        for id in [1, 5, 9, 3, 7] {
            streams.insert(id, id);
        }
        assert_eq!(streams.0, BTreeMap::from([(1, 9)]));
        assert!(streams.contains(5) && !streams.contains(11));
        streams.insert(1, 1);
        assert!(streams.contains(9), "what is there already takes nothing away");
    }

    #[test]
    fn streams_that_were_passed_over() {
        let mut history = History::default();
        history.opened(1, 0);
        history.opened(3, 1);
        history.opened(9, 3);
        history.ended(3);
        assert_eq!(
            [1, 3, 5, 7, 9].map(|id| history.is_unused(id)),
            [false, false, true, true, false]
        );
        assert_eq!(
            [1, 3, 5, 7, 9].map(|id| history.check(id).is_err()),
            [false, true, true, true, false]
        );
        let mut history = History::default();
        history.opened(5, 0);
        assert!(history.is_unused(1) && history.is_unused(3));
    }

    #[test]
    fn memory_is_bounded() {
        let mut history = History::default();
        for id in (1..4 * 10_000).step_by(4) {
            history.ended(id);
        }
        assert_eq!(history.ended.0.len(), MAX_RANGES);
        assert!(history.check(39_997).is_err() && history.check(1).is_ok());
    }
}
