//! Congestion controllers for QUIC endpoints, without I/O and without a clock.
//!
//! A sender builds a [`Controller`] from a [`Config`], tells it what was sent, acknowledged and
//! lost, and asks it for the window and the pacing rate. Time is always passed in.
//!
//! `docs/congestion-control.md` says what each controller implements, and where it deviates.

mod algorithm;
mod bbr;
mod careful_resume;
mod config;
mod controller;
mod cubic;
mod factory;
mod hybla;
mod linux;
mod loss_based;
mod max_filter;
mod new_reno;
mod own;
mod phase;
mod prague;
mod rate;
mod rounds;
#[cfg_attr(not(test), allow(dead_code, reason = "it is for controllers of one's own"))]
mod ruled;
mod settings;
mod slow_start;
mod usage;
mod words;

pub use algorithm::Algorithm;
pub use careful_resume::CapacityObserver;
pub use config::{Config, NoWindowSize, SlowStart, Unsupported, WindowSize};
pub use controller::{Ack, Acked, Controller, Ecn, Loss, Rtt, Sent, SpuriousLoss, State, Time};
pub use cubic::CubicVersion;
pub use linux::LinuxPart;
pub use phase::{Phase, PhaseUpdate, Saved, Trigger};
pub use rate::Rate;
pub use settings::PacingGains;
pub use words::UnknownWord;
