//! QUIC connections of Headway's endpoints.
//!
//! quinn-proto does packets, TLS, streams and retransmission. What Headway exists for is its own:
//! when a packet may leave ([`Config::congestion`], [`Pacing`]), which stream's data it carries (a
//! [`headway_schedule::Scheduler`] is asked for every packet), in which order data is received, and
//! what is told of all that.

mod config;
mod connection;
mod endpoint;
mod forged;
mod gate;
pub mod knobs;
mod ledger;
mod observe;
mod outbox;
mod pacer;
mod packetsize;
mod resets;
mod resume;
mod rtt;
mod seed;
mod sender;
mod stream;
mod tokens;
mod trace;
mod udp;

pub use config::{AckFrequency, Config, FirstStreams, Pacing};
pub use connection::{Close, Connection, Event, Statistics};
pub use endpoint::{
    AcceptFailed, ConnectFailed, ConnectionKey, Endpoint, Incoming, Network, ReceivedDatagram,
    Route,
};
pub use headway_trace::qlog::{HttpFrame, Way};
pub use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
pub use quinn_proto::{Dir, EcnCodepoint, Side, StreamId};
pub use seed::Seed;
pub use stream::{HeadOfLine, Read, Source};
pub use tokens::Tokens;
pub use trace::{HttpLog, TraceFailed};
pub use udp::UdpEndpoint;
