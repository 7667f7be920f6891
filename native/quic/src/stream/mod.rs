//! Data of streams on its way to quinn-proto and from it.

mod receive;
mod send;

pub(crate) use receive::Receiving;
pub use receive::{HeadOfLine, Read};
pub(crate) use send::Sending;
