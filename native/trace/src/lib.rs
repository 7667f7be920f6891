//! What is observed of a connection: the frames of its packets, and the traces that keep them.
//!
//! * [`frame`] reads the plaintext payload of a QUIC packet.
//! * [`qlog`] writes events of a connection in a form that common tools read.
//! * [`compact`] writes a sender's state, and little else, for whole series of long runs.
//! * [`Metrics`] and [`State`] are what both tell of a sender.

mod buffer;
pub mod compact;
pub mod frame;
pub mod qlog;
mod sender;

pub use sender::{Metrics, State};
