//! The highest rate that the throughput allows.

use super::{Choice, Rule, State};

/// The part of the throughput that may be used (dash.js' `bandwidthSafetyFactor`).
const SAFE: f64 = 0.9;

#[derive(Debug)]
pub(super) struct Throughput;

impl Rule for Throughput {
    fn choose(&mut self, state: &State) -> Choice {
        Choice::Rung(sustainable(state))
    }
}

/// The highest rung below the safe part of the throughput; the lowest while nothing is known.
pub(super) fn sustainable(state: &State) -> usize {
    state.history.smoothed_bit_s().map_or(0, |bit_s| state.video.at_most(SAFE * bit_s))
}
