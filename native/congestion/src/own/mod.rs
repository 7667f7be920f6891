//! Controllers of your own: each other file here is one, called as the file (`docs/congestion-control.md`).
//!
//! A file has `pub(crate) fn build(config: &Config, settings: Settings) -> Box<dyn Controller>`, and finds here what
//! it needs for that.

#[allow(
    unused_imports,
    reason = "these are for controllers of one's own, of which there may be none"
)]
mod needs {
    pub(crate) use crate::config::Config;
    pub(crate) use crate::controller::{
        Ack, Acked, Controller, Ecn, Loss, Rtt, Sent, SpuriousLoss, State, Time,
    };
    pub(crate) use crate::loss_based::{Progress, WindowLaw};
    pub(crate) use crate::rate::Rate;
    pub(crate) use crate::ruled::{Rule, Ruled};
    pub(crate) use crate::settings::Settings;
}

#[allow(unused_imports, reason = "as above")]
pub(crate) use needs::*;

/// Makes a controller for a new path.
pub(crate) type Build = fn(&Config, Settings) -> Box<dyn Controller>;

include!(concat!(env!("OUT_DIR"), "/own.rs"));
