//! The program from outside.

#![allow(clippy::unwrap_used)]

mod crypto_gaps;
mod goodbye;
mod greedy;
mod h2;
mod half_open;
mod hostile;
mod limits;
mod running;
mod serving;
mod shortage;
mod turns;
