//! Loss recovery of both versions.

/// A loss recovery, by packet numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// The packet sent last when it began: its first round lasts until a later one is acknowledged.
    pub(super) first_round_end: u64,
    /// The packet sent last at the latest loss: it lasts until a later one is acknowledged.
    pub(super) end: u64,
}
