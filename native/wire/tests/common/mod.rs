//! Feeding incremental decoders.

use bytes::Bytes;
use proptest::prelude::*;
use proptest::sample::Index;

/// Feeds `bytes`, cut at `cuts`, to a decoder until it fails; `decode` is called as its users would:
/// again and again until it returns `None`, by when it must have taken all there was. What it returns
/// goes to `take`.
pub(crate) fn feed<T, E>(
    bytes: &[u8],
    cuts: &[Index],
    mut decode: impl FnMut(&mut Bytes) -> Result<Option<T>, E>,
    mut take: impl FnMut(T),
) -> Result<(), E> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    let mut start = 0;
    for end in ends {
        let mut piece = Bytes::copy_from_slice(&bytes[start..end]);
        while let Some(item) = decode(&mut piece)? {
            take(item);
        }
        assert!(piece.is_empty(), "a decoder that wants more has taken all");
        start = end;
    }
    Ok(())
}

/// Places to cut at.
pub(crate) fn any_cuts() -> impl Strategy<Value = Vec<Index>> {
    prop::collection::vec(any::<Index>(), 0..12)
}
