//! Emulated paths in virtual time, TLS without chance, and what else tests of endpoints share.

mod certificates;
mod numbers;
mod provider;
mod wire;

use bytes::Bytes;

pub use certificates::{Certificates, SERVER_NAME};
pub use numbers::Numbers;
pub use provider::provider;
pub use wire::{Departure, Direction, Packet, Wire};

/// The content of every stream in tests: byte i is i mod 251.
#[must_use]
pub fn content(offset: u64, length: usize) -> Bytes {
    (offset..offset + length as u64).map(|i| (i % 251) as u8).collect::<Vec<u8>>().into()
}
