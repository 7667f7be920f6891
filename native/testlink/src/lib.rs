//! Emulated paths in virtual time, TLS without chance, mutants of good bytes, and what else tests share.
//!
//! Without the feature `quic` it needs no other crate.

#[cfg(feature = "quic")]
mod certificates;
mod fuzz;
#[cfg(feature = "quic")]
mod host;
mod nodes;
mod numbers;
#[cfg(feature = "quic")]
mod provider;
mod simulation;
#[cfg(feature = "quic")]
mod wire;

#[cfg(feature = "quic")]
pub use certificates::{Certificates, SERVER_NAME};
pub use fuzz::{Sessions, sessions};
#[cfg(feature = "quic")]
pub use host::{Accept, Datagram, Host, Outbox, Tell};
pub use nodes::{Delay, Drop, Queue};
pub use numbers::Numbers;
#[cfg(feature = "quic")]
pub use provider::provider;
pub use simulation::{Node, Path, Ring, Time, settle, simulate, step};
#[cfg(feature = "quic")]
pub use wire::{Departure, Direction, Wire};

/// The content of every stream in tests: byte i is i mod 251.
#[cfg(feature = "quic")]
#[must_use]
pub fn content(offset: u64, length: usize) -> bytes::Bytes {
    (offset..offset + length as u64).map(|i| (i % 251) as u8).collect::<Vec<u8>>().into()
}
