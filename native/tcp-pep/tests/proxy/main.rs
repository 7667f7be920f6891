//! The proxy as a process, between clients and servers of a few lines.

#![allow(clippy::unwrap_used)]

mod common;
mod limits;
mod relay;
