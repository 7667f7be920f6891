use std::collections::VecDeque;

use bytes::Bytes;

/// Content of a response that is read on demand: what came and was not asked for.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pieces: VecDeque<Bytes>,
    bytes: u32,
    /// What the program takes beyond what it has got.
    appetite: u64,
    /// All of the content came.
    has_ended: bool,
}

impl Kept {
    /// Content came.
    pub(super) fn push(&mut self, piece: Bytes, ends: bool) {
        self.bytes += piece.len() as u32;
        self.pieces.push_back(piece);
        self.has_ended |= ends;
    }

    /// The program takes so many more bytes.
    pub(super) fn ask(&mut self, bytes: u64) {
        self.appetite = self.appetite.saturating_add(bytes);
    }

    /// The next piece that the program takes.
    pub(super) fn take(&mut self) -> Option<Bytes> {
        let first = self.pieces.front_mut()?;
        let length = first.len().min(usize::try_from(self.appetite).unwrap_or(usize::MAX));
        if length == 0 && !first.is_empty() {
            return None;
        }
        let piece = first.split_to(length);
        if first.is_empty() {
            self.pieces.pop_front();
        }
        self.appetite -= length as u64;
        self.bytes -= length as u32;
        Some(piece)
    }

    /// Bytes that came and were not taken.
    pub(super) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Whether the program has got all of it.
    pub(super) fn is_over(&self) -> bool {
        self.has_ended && self.pieces.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_given_as_it_is_asked_for() {
        let mut kept = Kept::default();
        kept.push("abcdef".into(), false);
        assert_eq!((kept.take(), kept.bytes()), (None, 6));
        kept.ask(4);
        assert_eq!((kept.take().unwrap(), kept.take(), kept.bytes()), ("abcd".into(), None, 2));
        kept.ask(10);
        kept.push("gh".into(), true);
        assert_eq!([kept.take().unwrap(), kept.take().unwrap()], ["ef", "gh"]);
        assert!(kept.is_over() && kept.take().is_none());
        kept.push(Bytes::new(), true);
        assert_eq!(
            (kept.is_over(), kept.take().unwrap(), kept.is_over()),
            (false, "".into(), true)
        );
    }
}
