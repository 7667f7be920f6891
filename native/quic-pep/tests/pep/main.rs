//! Clients, proxies and servers over emulated paths, in virtual time.

mod apps;
mod chain;
mod streams;
