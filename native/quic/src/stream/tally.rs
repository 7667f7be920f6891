use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

/// How many bytes of data there are that were counted and that somebody still keeps.
#[derive(Debug, Default)]
pub(crate) struct Tally(Arc<AtomicU64>);

impl Tally {
    /// Counts data until nobody has any of it.
    pub(crate) fn count(&self, data: &Bytes) -> Bytes {
        if data.is_empty() {
            return Bytes::new();
        }
        self.0.fetch_add(data.len() as u64, Ordering::Relaxed);
        Bytes::from_owner(Counted { data: data.clone(), total: Arc::clone(&self.0) })
    }

    /// How many there are.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

struct Counted {
    data: Bytes,
    total: Arc<AtomicU64>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.total.fetch_sub(self.data.len() as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_counts_until_nobody_has_any_of_it() {
        let tally = Tally::default();
        let mut first = tally.count(&Bytes::from_static(b"abcdef"));
        let second = tally.count(&Bytes::from_static(b"gh"));
        let part = first.split_to(2);
        drop(first);
        assert_eq!((&part[..], tally.bytes()), (&b"ab"[..], 8));
        drop(part);
        assert_eq!(tally.bytes(), 2);
        drop((second, tally.count(&Bytes::new())));
        assert_eq!(tally.bytes(), 0);
    }
}
