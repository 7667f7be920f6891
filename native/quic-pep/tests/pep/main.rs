//! Clients, proxies and servers over emulated paths, in virtual time.

#![expect(clippy::unwrap_used, reason = "what cannot be unwrapped fails the test")]

mod apps;
mod chain;
mod ends;
mod failures;
mod limits;
mod streams;
mod timing;
