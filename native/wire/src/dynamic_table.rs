//! The dynamic table of HPACK (RFC 7541 §2.3.2, §4) and QPACK (RFC 9204 §3.2).

use std::collections::VecDeque;

use bytes::Bytes;

use crate::fields::{Field, LINE_OVERHEAD};
use crate::static_table::Match;

/// The last fields that were inserted, as far as they fit.
///
/// Entries are named by their absolute index (RFC 9204 §3.2.4): the first ever inserted has 0, the next
/// one 1, whatever was evicted since.
#[derive(Debug, Default)]
pub(crate) struct DynamicTable {
    /// The oldest first.
    entries: VecDeque<Field>,
    evicted: u64,
    /// Bytes of all entries, as [`Field::size`] counts them.
    size: u64,
    capacity: u64,
}

impl DynamicTable {
    pub(crate) const fn new(capacity: u64) -> Self {
        Self { entries: VecDeque::new(), evicted: 0, size: 0, capacity }
    }

    /// How many entries were inserted, ever: the absolute index of the next one.
    pub(crate) fn inserted(&self) -> u64 {
        self.evicted + self.entries.len() as u64
    }

    /// Bytes there may be.
    pub(crate) const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The entry at an absolute index, if it was inserted and not evicted.
    pub(crate) fn get(&self, index: u64) -> Option<&Field> {
        self.entries.get(usize::try_from(index.checked_sub(self.evicted)?).ok()?)
    }

    /// The newest entry for a field line; the place is the absolute index.
    pub(crate) fn find(&self, name: &[u8], value: &[u8]) -> Match {
        let mut best = Match::Nothing;
        for (place, entry) in self.entries.iter().enumerate().rev() {
            if entry.name != name {
                continue;
            }
            let index = self.evicted as usize + place;
            if entry.value == value {
                return Match::Line(index);
            }
            if best == Match::Nothing {
                best = Match::Name(index);
            }
        }
        best
    }

    /// Makes room and inserts a field. One larger than the table empties it and is not inserted
    /// (RFC 7541 §4.4).
    ///
    /// The entry gets memory of its own: otherwise a short one could keep the whole block it came in.
    ///
    /// # Returns
    /// Whether it was inserted.
    pub(crate) fn insert(&mut self, name: &[u8], value: &[u8]) -> bool {
        let size = line_size(name, value);
        self.evict(self.capacity.saturating_sub(size));
        if size > self.capacity {
            return false;
        }
        let mut memory = Vec::with_capacity(name.len() + value.len());
        memory.extend_from_slice(name);
        memory.extend_from_slice(value);
        let mut value = Bytes::from(memory);
        let name = value.split_to(name.len());
        self.size += size;
        self.entries.push_back(Field { name, value });
        true
    }

    /// Changes the capacity, for which entries may have to go (RFC 7541 §4.3, RFC 9204 §3.2.2).
    pub(crate) fn resize(&mut self, capacity: u64) {
        self.capacity = capacity;
        self.evict(capacity);
    }

    /// The absolute index of the oldest entry that would be left if `size` bytes were inserted.
    pub(crate) fn oldest_after(&self, size: u64) -> u64 {
        let mut left = self.size;
        let room = self.capacity.saturating_sub(size);
        let gone = self.entries.iter().take_while(|entry| {
            let goes = left > room;
            left -= if goes { entry.size() } else { 0 };
            goes
        });
        self.evicted + gone.count() as u64
    }

    /// Drops the oldest entries until the rest has at most `size` bytes.
    fn evict(&mut self, size: u64) {
        while self.size > size {
            let oldest = self.entries.pop_front().expect("a size above 0 is that of entries");
            self.size -= oldest.size();
            self.evicted += 1;
        }
    }

    /// Bytes of all entries.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// The newest first.
    #[cfg(test)]
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Field> {
        self.entries.iter().rev()
    }
}

/// Bytes that a field line takes in a table.
pub(crate) const fn line_size(name: &[u8], value: &[u8]) -> u64 {
    name.len() as u64 + value.len() as u64 + LINE_OVERHEAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_outlive_evictions() {
        let mut table = DynamicTable::new(70);
        assert!(table.insert(b"a", b"1") && table.insert(b"b", b"2"));
        assert_eq!(table.oldest_after(2), 0, "what fits evicts nothing");
        assert_eq!((table.oldest_after(34), table.oldest_after(70)), (1, 2));
        assert!(table.insert(b"b", b"3"));
        assert_eq!(table.get(0), None);
        assert_eq!(table.get(1).unwrap().value, "2");
        assert_eq!((table.inserted(), table.get(3)), (3, None));
        assert_eq!(table.find(b"b", b"2"), Match::Line(1));
        assert_eq!(table.find(b"b", b"4"), Match::Name(2));
        assert_eq!(table.find(b"a", b"1"), Match::Nothing);
        assert!(!table.insert(&[b'x'; 39], b""));
        assert_eq!((table.inserted(), table.size()), (3, 0));
    }
}
