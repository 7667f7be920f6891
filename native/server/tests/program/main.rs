//! The program from outside.

#![allow(clippy::unwrap_used)]

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
