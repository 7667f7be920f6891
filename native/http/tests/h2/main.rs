//! HTTP/2: both sides in memory, and the server against frames made by hand.

#![allow(clippy::unwrap_used)]

mod counts;
mod ends;
mod joined;
mod limits;
mod order;
#[path = "../support/pattern.rs"]
mod pattern;
mod raw;
