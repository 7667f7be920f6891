//! How fast a live video is played, so that its latency comes near to what it is to be.

use serde::Serialize;

/// How often the rate is thought about: as often as a browser tells the moment of a video, in seconds.
const EVERY_S: f64 = 0.25;
/// What a second of latency too much is to the curve of the rate (dash.js' default).
const STEEPNESS: f64 = 5.0;
/// A change of the rate that is worth it, as a part of the greatest (dash.js).
const WORTH: f64 = 0.04;

/// From a moment on, a video is played at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pace {
    /// Since when.
    pub at_s: f64,
    /// The latency then: from when the source made a picture until it is seen.
    pub latency_s: f64,
    /// How fast; 0 while the picture stands still.
    pub rate: f64,
}

/// Chooses the rate.
#[derive(Clone, Debug)]
pub(crate) struct CatchUp {
    /// What the latency is to be.
    aim_s: f64,
    /// By how much the rate may differ from 1.
    most: f64,
    /// How often it has thought.
    thoughts: u64,
    /// The buffer was empty, and has not recovered yet.
    is_recovering: bool,
    rate: f64,
    paces: Vec<Pace>,
}

impl CatchUp {
    pub(crate) fn new(aim_s: f64, most: f64) -> Self {
        Self { aim_s, most, thoughts: 0, is_recovering: false, rate: 1.0, paces: Vec::new() }
    }

    /// The rate at which what is there is played.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// When it thinks next.
    pub(crate) fn due_s(&self) -> f64 {
        (self.thoughts + 1) as f64 * EVERY_S
    }

    /// The picture moves from now on.
    ///
    /// # Arguments
    /// * `late_s` - what the latency is beyond what it is to be.
    pub(crate) fn moves(&mut self, at_s: f64, late_s: f64) {
        self.paces.push(Pace { at_s, latency_s: self.aim_s + late_s, rate: self.rate });
    }

    /// The picture stands still from now on.
    pub(crate) fn stands(&mut self, at_s: f64, late_s: f64) {
        self.is_recovering = true;
        self.paces.push(Pace { at_s, latency_s: self.aim_s + late_s, rate: 0.0 });
    }

    /// Thinks about the rate, as dash.js does by default: a logistic curve of the latency.
    ///
    /// # Arguments
    /// * `level_s` - what is buffered; none while the picture stands still.
    pub(crate) fn think(&mut self, at_s: f64, late_s: f64, level_s: Option<f64>) {
        self.thoughts += 1;
        let Some(level_s) = level_s else { return };
        self.is_recovering &= level_s <= self.aim_s / 2.0;
        // To play faster would empty the buffer again.
        let waits = self.is_recovering && late_s > 0.0;
        let curve = 2.0 / (1.0 + (-STEEPNESS * late_s).exp()) - 1.0;
        let rate = if waits { 1.0 } else { 1.0 + self.most * curve };
        let changes = (rate - self.rate).abs() >= WORTH * self.most || rate == 1.0;
        if changes && rate != self.rate {
            self.rate = rate;
            self.moves(at_s, late_s);
        }
    }

    /// Every change.
    pub(crate) fn into_paces(self) -> Vec<Pace> {
        self.paces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_late_plays_faster_and_who_is_early_slower() {
        let mut pace = CatchUp::new(3.0, 0.1);
        pace.moves(0.2, 0.2);
        assert_eq!(pace.due_s(), 0.25);
        pace.think(0.25, 2.0, Some(2.0));
        assert!((pace.rate() - 1.1).abs() < 1e-4, "{}", pace.rate());
        pace.think(0.5, -2.0, Some(2.0));
        assert!((pace.rate() - 0.9).abs() < 1e-4);
        pace.think(0.75, 0.0, Some(2.0));
        assert_eq!(pace.rate(), 1.0);
        // Too little to be worth a change.
        pace.think(1.0, 0.01, Some(2.0));
        assert_eq!(pace.rate(), 1.0);
        assert_eq!(pace.due_s(), 1.25);
        let paces = pace.into_paces();
        assert_eq!(paces.len(), 4);
        assert_eq!(paces[0], Pace { at_s: 0.2, latency_s: 3.2, rate: 1.0 });
    }

    #[test]
    fn after_a_stall_the_buffer_recovers_first() {
        let mut pace = CatchUp::new(3.0, 0.1);
        pace.stands(1.0, 0.5);
        pace.think(1.25, 0.75, None);
        pace.think(1.5, 1.0, Some(1.4));
        assert_eq!(pace.rate(), 1.0);
        pace.think(1.75, 1.0, Some(1.6));
        assert!(pace.rate() > 1.09);
        // That is over now.
        pace.think(2.0, 1.0, Some(0.1));
        assert!(pace.rate() > 1.09);
    }
}
