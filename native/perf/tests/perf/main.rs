//! The program's two sides on loopback, as their users see them.

#![allow(clippy::unwrap_used)]

mod failures;
mod flows;
mod limits;
mod support;
