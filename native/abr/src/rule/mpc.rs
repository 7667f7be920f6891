//! Robust model predictive control: the best course of the next segments, if the throughput is poor.

use super::{Choice, Rule, State};

/// Segments looked ahead, and looked back at.
const HORIZON: usize = 5;
/// What a change of the rate by 1 Mbit/s costs, against a rate of 1 Mbit/s.
const CHANGE: f64 = 1.0;

/// "A Control-Theoretic Approach for Dynamic Adaptive Video Streaming over HTTP" (Yin and others): it
/// maximises the sum of rates less their changes and less stalls, a second of which costs the highest
/// rate. The throughput is the harmonic mean of the last segments, less its greatest error.
#[derive(Debug)]
pub(super) struct Mpc;

impl Rule for Mpc {
    fn choose(&mut self, state: &State) -> Choice {
        let Some(mean) = state.history.harmonic_bit_s(HORIZON) else { return Choice::Rung(0) };
        let bit_s = mean / (1.0 + state.history.greatest_error(HORIZON));
        let end = (state.segment + HORIZON).min(state.video.segments);
        let course = Course { state, bit_s, end };
        let (_, rung) = course.best(state.segment, state.buffer_s, state.last);
        Choice::Rung(rung)
    }
}

struct Course<'a> {
    state: &'a State<'a>,
    bit_s: f64,
    /// The first segment that is not looked at.
    end: usize,
}

impl Course<'_> {
    /// The best value from a segment on, and the rung that it begins with.
    fn best(&self, segment: usize, buffer_s: f64, last: Option<usize>) -> (f64, usize) {
        let video = self.state.video;
        let mbit = |rung: usize| video.rungs[rung].bit_s / 1e6;
        let mut best = (f64::NEG_INFINITY, 0);
        for rung in 0..=video.top() {
            let takes_s = 8.0 * video.bytes(rung, segment) as f64 / self.bit_s;
            let stalled_s = (takes_s - buffer_s).max(0.0);
            let change = last.map_or(0.0, |last| (mbit(rung) - mbit(last)).abs());
            let mut value = mbit(rung) - CHANGE * change - mbit(video.top()) * stalled_s;
            if segment + 1 < self.end {
                let left_s = (buffer_s - takes_s).max(0.0) + video.length_s(segment);
                value += self.best(segment + 1, left_s, Some(rung)).0;
            }
            if value > best.0 {
                best = (value, rung);
            }
        }
        best
    }
}
