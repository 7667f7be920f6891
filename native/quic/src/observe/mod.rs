//! Every packet of a connection in plaintext, sent and received.
//!
//! quinn-proto does not tell which packets it sends, what is in them or which are acknowledged.
//! But it takes its cryptography from outside: keys that pass everything on to the real ones see
//! each packet, with its number, just before encryption and just after decryption.

mod backlog;
mod config;
mod keys;
mod left_over;
mod log;
mod session;

pub(crate) use config::{ObservedClientConfig, ObservedServerConfig};
pub(crate) use log::{Log, Observation, Plaintext, Received, Sent, SharedLog, Space};
