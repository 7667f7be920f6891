//! Connections over an emulated path, in virtual time.

#![expect(clippy::unwrap_used, reason = "what cannot be unwrapped fails the test")]

mod acks;
mod apps;
mod link;
mod qlog;

mod early_data;
mod flow_control;
mod handshake;
mod ledger;
mod migration;
mod mtu;
mod physics;
mod repeat;
mod resets;
mod resume;
mod schedule;
mod settings;
mod tokens;
mod traces;
mod transfer;
