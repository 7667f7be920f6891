//! Clients, proxies and servers over emulated paths, in virtual time.

mod apps;
mod chain;
mod ends;
mod failures;
mod streams;
mod timing;
