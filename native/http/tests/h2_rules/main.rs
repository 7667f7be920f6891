//! HTTP/2's rules as tables: what a peer sends, byte by byte, and what has to come back.
//!
//! Frames are written and read by this test alone, so that a mistake of the codecs cannot hide itself.

#![allow(clippy::unwrap_used)]

mod client;
mod compression;
mod fields;
mod frames;
#[path = "../support/pattern.rs"]
mod pattern;
mod peer;
mod server;
mod settings;
mod streams;
