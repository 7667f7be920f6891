//! Emulated paths in virtual time, and what else tests of endpoints share.

mod certificates;
mod wire;

use bytes::Bytes;

pub use certificates::{Certificates, SERVER_NAME};
pub use wire::{Departure, Direction, Packet, Wire};

/// The content of every stream in tests: byte i is i mod 251.
#[must_use]
pub fn content(offset: u64, length: usize) -> Bytes {
    (offset..offset + length as u64).map(|i| (i % 251) as u8).collect::<Vec<u8>>().into()
}
