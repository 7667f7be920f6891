//! Rules that choose the quality of the next segment.

mod bola;
mod mpc;
mod throughput;

use std::fmt;
use std::str::FromStr;

use bola::Bola;
use mpc::Mpc;
use throughput::Throughput;

use crate::history::History;
use crate::video::Video;

/// What a rule may look at.
pub(crate) struct State<'a> {
    pub(crate) video: &'a Video,
    /// The segment to choose for.
    pub(crate) segment: usize,
    pub(crate) buffer_s: f64,
    /// The rung of the segment before.
    pub(crate) last: Option<usize>,
    pub(crate) history: &'a History,
}

/// What it says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Choice {
    /// This rung.
    Rung(usize),
    /// Ask again after so many seconds: enough is buffered.
    Wait(f64),
}

/// Chooses.
pub(crate) trait Rule: fmt::Debug {
    fn choose(&mut self, state: &State) -> Choice;
}

/// A rule, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleName {
    /// The highest rate below nine tenths of the throughput (dash.js' `ThroughputRule`).
    Throughput,
    /// BOLA (Spiteri, Urgaonkar and Sitaraman, INFOCOM 2016), with dash.js' parameters.
    Bola,
    /// Robust model predictive control (Yin and others, SIGCOMM 2015).
    Mpc,
    /// Always the lowest rate.
    Lowest,
    /// Always the highest.
    Highest,
}

/// There is no such rule.
#[derive(Debug, thiserror::Error)]
#[error("{0} is none of throughput, bola, mpc, lowest, highest")]
pub struct UnknownRule(String);

impl FromStr for RuleName {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, UnknownRule> {
        match name {
            "throughput" => Ok(Self::Throughput),
            "bola" => Ok(Self::Bola),
            "mpc" => Ok(Self::Mpc),
            "lowest" => Ok(Self::Lowest),
            "highest" => Ok(Self::Highest),
            _ => Err(UnknownRule(name.to_owned())),
        }
    }
}

impl RuleName {
    pub(crate) fn rule(self, video: &Video, buffer_s: f64) -> Box<dyn Rule> {
        match self {
            Self::Throughput => Box::new(Throughput),
            Self::Bola => Box::new(Bola::new(video, buffer_s)),
            Self::Mpc => Box::new(Mpc),
            Self::Lowest => Box::new(Fixed(0)),
            Self::Highest => Box::new(Fixed(video.top())),
        }
    }
}

#[derive(Debug)]
struct Fixed(usize);

impl Rule for Fixed {
    fn choose(&mut self, _: &State) -> Choice {
        Choice::Rung(self.0)
    }
}
