//! BOLA: the buffer's level alone decides, once there is one.

use super::throughput::sustainable;
use super::{Choice, Rule, State};
use crate::video::Video;

/// With this or less in the buffer, the lowest rung is best (dash.js' `MINIMUM_BUFFER_S`).
const LEAST_S: f64 = 10.0;
/// What the buffer must have at least for each rung, besides.
const FOR_A_RUNG_S: f64 = 2.0;

/// The algorithm BOLA-U of Spiteri, Urgaonkar and Sitaraman, "BOLA: Near-Optimal Bitrate Adaptation
/// for Online Videos", with the parameters that dash.js derives from the length of the buffer, and a
/// beginning by throughput.
#[derive(Debug)]
pub(super) struct Bola {
    /// Of each rung: ln of its rate over the lowest, plus one.
    utilities: Vec<f64>,
    /// The paper's V, times a segment's length.
    vp: f64,
    /// The paper's gamma, times a segment's length.
    gp: f64,
    is_steady: bool,
}

impl Bola {
    pub(super) fn new(video: &Video, buffer_s: f64) -> Self {
        let lowest = video.rungs[0].bit_s;
        let utilities: Vec<f64> =
            video.rungs.iter().map(|rung| (rung.bit_s / lowest).ln() + 1.0).collect();
        let target_s = buffer_s.max(LEAST_S + FOR_A_RUNG_S * utilities.len() as f64);
        let gp = (utilities[video.top()] - 1.0) / (target_s / LEAST_S - 1.0);
        // With one rung there is nothing to choose.
        let vp = if gp > 0.0 { LEAST_S / gp } else { 1.0 };
        Self { utilities, vp, gp, is_steady: false }
    }

    fn score(&self, video: &Video, rung: usize, buffer_s: f64) -> f64 {
        (self.vp * (self.utilities[rung] + self.gp) - buffer_s) / video.rungs[rung].bit_s
    }

    fn best(&self, video: &Video, buffer_s: f64) -> usize {
        let score = |&rung: &usize| self.score(video, rung, buffer_s);
        (0..=video.top()).max_by(|a, b| score(a).total_cmp(&score(b))).unwrap_or(0)
    }

    /// Above this level even the highest rung is not worth its place.
    fn enough_s(&self) -> f64 {
        self.vp * (self.utilities[self.utilities.len() - 1] + self.gp)
    }
}

impl Rule for Bola {
    fn choose(&mut self, state: &State) -> Choice {
        let best = self.best(state.video, state.buffer_s);
        let sustainable = sustainable(state);
        if !self.is_steady {
            // The buffer tells nothing before it has reached where it would choose as much.
            self.is_steady =
                state.buffer_s >= state.video.length_s(state.segment) && best >= sustainable;
            if !self.is_steady {
                return Choice::Rung(sustainable);
            }
        }
        let surplus_s = state.buffer_s - self.enough_s();
        if surplus_s > 0.0 {
            return Choice::Wait(surplus_s);
        }
        // Up no further than the throughput carries: it would have to come down again.
        let last = state.last.unwrap_or(0);
        Choice::Rung(if best > last { sustainable.clamp(last, best) } else { best })
    }
}
