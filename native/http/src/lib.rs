//! HTTP/1.1, HTTP/2 and HTTP/3 connections, server and client side, and what all versions share.
//!
//! Connections are sans-IO: bytes in, events out, bytes to send on demand.
//!
//! * [`tls`]: configurations, for TCP and for QUIC
//! * [`tcp`]: byte pipes over TCP, with or without TLS
//! * [`service`]: what a server answers
//! * [`counts`]: what header fields take
//! * [`event`]: what connections tell their programs
//! * [`h1`], [`h2`], [`h3`]: the connections
//! * [`priorities`]: who decides how important responses are
//! * [`limits`]: how often a client may do what costs a server
//! * [`side`]: what those over a byte pipe have in common

pub mod counts;
pub mod event;
pub mod h1;
pub mod h2;
pub mod h3;
pub mod limits;
pub mod priorities;
mod priority;
pub mod service;
pub mod side;
pub mod tcp;
pub mod tls;
