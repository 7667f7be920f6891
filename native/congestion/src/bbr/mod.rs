//! BBR: a rate and a window from a model of the path.

mod control;
mod delivery_rate;
mod random;
mod round;
#[cfg(test)]
mod sender;
mod v1;
mod v3;

pub(crate) use v1::Bbr;
pub(crate) use v3::Bbr3;
