//! Data of streams on its way to quinn-proto and from it.

mod receive;
mod send;
mod source;
mod tally;

pub(crate) use receive::Receiving;
pub use receive::{HeadOfLine, Read};
pub(crate) use send::Sending;
pub use source::Source;
pub(crate) use tally::Tally;
