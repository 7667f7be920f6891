//! HTTP/2 connections (RFC 9113), with the priorities of RFC 7540 and of RFC 9218.

mod client;
mod flow;
mod history;
mod kept;
mod link;
mod server;
mod turns;

pub use client::{Client, ClientOptions};
pub use server::{Server, ServerOptions};
