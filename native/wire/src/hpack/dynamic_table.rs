//! The dynamic table (RFC 7541 §2.3.2, §4).

use std::collections::VecDeque;

use bytes::Bytes;

use crate::fields::Field;

/// The last fields that were inserted, as far as they fit.
#[derive(Debug)]
pub(super) struct DynamicTable {
    /// The newest first.
    entries: VecDeque<Field>,
    /// Bytes of all entries, as [`Field::size`] counts them.
    size: u64,
    max_size: u64,
}

impl DynamicTable {
    pub(super) const fn new(max_size: u64) -> Self {
        Self { entries: VecDeque::new(), size: 0, max_size }
    }

    /// The entry at `index`; the newest has 0.
    pub(super) fn get(&self, index: u64) -> Option<&Field> {
        self.entries.get(usize::try_from(index).ok()?)
    }

    /// RFC 7541 §4.4. The entry gets memory of its own: otherwise a short one could keep the whole
    /// block it came in.
    pub(super) fn insert(&mut self, field: &Field) {
        self.evict(self.max_size.saturating_sub(field.size()));
        if field.size() <= self.max_size {
            let mut memory = Vec::with_capacity(field.name.len() + field.value.len());
            memory.extend_from_slice(&field.name);
            memory.extend_from_slice(&field.value);
            let mut value = Bytes::from(memory);
            let name = value.split_to(field.name.len());
            self.size += field.size();
            self.entries.push_front(Field { name, value });
        }
    }

    /// RFC 7541 §4.3.
    pub(super) fn resize(&mut self, max_size: u64) {
        self.max_size = max_size;
        self.evict(max_size);
    }

    /// Drops the oldest entries until the rest has at most `size` bytes.
    fn evict(&mut self, size: u64) {
        while self.size > size {
            let oldest = self.entries.pop_back().expect("a size above 0 is that of entries");
            self.size -= oldest.size();
        }
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> impl Iterator<Item = &Field> {
        self.entries.iter()
    }
}
