//! What the kernel knows of a TCP connection: `TCP_INFO`.
//!
//! rustix, socket2 and nix do not read this option, so this crate does, with one
//! `unsafe` block: one `getsockopt` into an array of bytes.

mod info;

pub use info::{TcpInfo, tcp_info};
