//! The program from outside.

#![allow(clippy::unwrap_used)]

mod goodbye;
mod hostile;
mod limits;
mod running;
mod serving;
mod shortage;
