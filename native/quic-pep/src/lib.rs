//! A proxy that splits QUIC connections (a performance-enhancing proxy; Kosek 2022, section II-D).
//!
//! It ends the client's connection and opens one of its own to the next hop, another such proxy or
//! the server. Streams of one are carried over to the other under the same identifiers. It knows
//! nothing of the application's protocol. [`Pep`] does all of it, without I/O.

mod hello;
mod initial;
mod limits;
mod link;
mod pep;
mod record;
mod settings;
mod splitter;
mod tls;

pub use hello::ClientHello;
pub use limits::Limits;
pub use pep::Pep;
pub use record::{Ending, Record};
pub use settings::{Mode, Pool, Settings};
pub use splitter::{Carried, Peer, QUEUE_LIMIT};
pub use tls::{NotForQuic, Tls};
