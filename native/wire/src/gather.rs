//! Bytes that are only of use together.

use bytes::{Bytes, BytesMut};

/// Collects a known number of bytes from the pieces of a stream.
///
/// What it returns has memory of its own: otherwise a few bytes could keep the whole datagram or record that
/// they came in.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    kept: BytesMut,
}

impl Gather {
    /// Takes up to `len` bytes off `input` and returns them once there are so many. `len` must stay
    /// the same until then.
    pub(crate) fn take(&mut self, input: &mut Bytes, len: usize) -> Option<Bytes> {
        let missing = len - self.kept.len();
        let part = input.split_to(missing.min(input.len()));
        if part.len() == missing && self.kept.is_empty() {
            return Some(Bytes::copy_from_slice(&part));
        }
        self.kept.extend_from_slice(&part);
        (part.len() == missing).then(|| std::mem::take(&mut self.kept).freeze())
    }

    /// Memory that it keeps, in bytes.
    pub(crate) fn kept(&self) -> usize {
        self.kept.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gathered_does_not_keep_what_it_came_in() {
        let datagram = Bytes::from(vec![7; 15_000]);
        let mut gather = Gather::default();
        let whole = gather.take(&mut datagram.slice(..10), 10).unwrap();
        assert_eq!(gather.take(&mut datagram.slice(..5), 10), None);
        assert!((5..100).contains(&gather.kept()));
        let parts = gather.take(&mut datagram.slice(..5), 10).unwrap();
        assert_eq!((&whole, gather.kept()), (&parts, 0));
        // Nobody else has the datagram: it can be taken over.
        assert!(datagram.try_into_mut().is_ok());
    }
}
