//! Stream schedulers for HTTP/2 and HTTP/3: which response the next packet or frame is for.
//!
//! A scheduler is told which streams there are, how important each is and which have something to
//! send, and is asked for one stream at a time. It knows no time, no I/O and no chance: the same
//! calls give the same order. [`Strategy`] names the schedulers and makes them.

mod fair;
mod groups;
mod priority;
mod rfc9218;
mod round_robin;
mod sequential;
mod strategy;
mod tree;
mod weighted;

use std::fmt;

pub use groups::Group;
pub use priority::{Dependency, Priority};
pub use rfc9218::Rfc9218;
pub use round_robin::RoundRobin;
pub use sequential::Sequential;
pub use strategy::{Strategy, UnknownStrategy};
pub use tree::DependencyTree;
pub use weighted::WeightedRoundRobin;

/// A stream's identifier, of HTTP/2 or of QUIC; a greater one was opened later by its client.
pub type StreamId = u64;

/// Decides which stream sends next.
///
/// Calls about streams that are not open have no effect unless a method says otherwise.
pub trait Scheduler: fmt::Debug {
    /// A stream that will carry a response. It is blocked until it is [`ready`](Self::ready). To
    /// open one that is open is to reprioritise it.
    fn open(&mut self, stream: StreamId, priority: &Priority);

    /// The client changed its mind. In a [`DependencyTree`] the stream may be one not yet opened.
    fn reprioritise(&mut self, stream: StreamId, priority: &Priority);

    /// The response is sent, or given up.
    fn close(&mut self, stream: StreamId);

    /// The stream has something to send, and flow control allows it.
    fn ready(&mut self, stream: StreamId);

    /// The stream has nothing to send, or flow control forbids it.
    fn blocked(&mut self, stream: StreamId);

    /// The ready stream that the next packet (HTTP/3) or frame (HTTP/2) is for; None only if none
    /// is ready. The answer stays until another method changes it.
    fn next(&mut self) -> Option<StreamId>;

    /// One packet or frame went, with this many bytes of the stream.
    fn sent(&mut self, stream: StreamId, bytes: u64);
}

#[cfg(test)]
mod testing;
