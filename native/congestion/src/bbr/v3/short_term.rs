//! What BBR version 3 makes of losses while it is not probing (draft-ietf-ccwg-bbr-06, section
//! 5.5.10.3): bounds that last until the next probe.

use crate::bbr::delivery_rate::Sample;
use crate::rate::Rate;

/// The factor of a round with losses (`Beta`), CUBIC's.
pub(super) const BETA: f64 = 0.7;

/// Bounds on the model; none for no bound.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    /// `bw_shortterm`.
    pub(super) rate: Option<Rate>,
    /// `inflight_shortterm`.
    pub(super) in_flight: Option<u64>,
}

/// The signals of a round, and the bounds made of them.
#[derive(Debug, Default)]
pub(super) struct ShortTerm {
    pub(super) bounds: Bounds,
    /// `bw_latest`: the largest rate of the round.
    latest_rate: Rate,
    /// `inflight_latest`: the most that was delivered during a packet's flight.
    latest_delivered: u64,
    /// The bytes delivered when the round of losses began.
    round_begun_at: u64,
    round_started: bool,
    lossy: bool,
}

impl ShortTerm {
    pub(super) fn latest_delivered(&self) -> u64 {
        self.latest_delivered
    }

    /// Whether the last acknowledgement began a round of losses (`loss_round_start`).
    pub(super) fn round_started(&self) -> bool {
        self.round_started
    }

    /// A packet was lost (`NoteLoss`).
    pub(super) fn on_loss(&mut self, delivered: u64) {
        if !self.lossy {
            self.round_begun_at = delivered;
        }
        self.lossy = true;
    }

    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update(&mut self, sample: &Sample, delivered: u64) {
        self.latest_rate = self.latest_rate.max(sample.rate.unwrap_or_default());
        self.latest_delivered = self.latest_delivered.max(sample.delivered);
        self.round_started = sample.prior_delivered >= self.round_begun_at;
        if self.round_started {
            self.round_begun_at = delivered;
        }
    }

    /// `AdaptLowerBoundsFromCongestion` at the end of a round, unless the sender is `probing`.
    pub(super) fn adapt(&mut self, probing: bool, max_rate: Rate, window: u64) {
        if !self.round_started {
            return;
        }
        if self.lossy && !probing {
            let rate = self.bounds.rate.unwrap_or(max_rate).scaled(BETA);
            let in_flight = self.bounds.in_flight.unwrap_or(window) as f64 * BETA;
            self.bounds.rate = Some(rate.max(self.latest_rate));
            self.bounds.in_flight = Some((in_flight as u64).max(self.latest_delivered));
        }
        self.lossy = false;
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance(&mut self, sample: &Sample) {
        if self.round_started {
            self.latest_rate = sample.rate.unwrap_or_default();
            self.latest_delivered = sample.delivered;
        }
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_signals(&mut self) {
        self.lossy = false;
        self.latest_rate = Rate::default();
        self.latest_delivered = 0;
    }

    /// `ResetShortTermModel`.
    pub(super) fn reset_bounds(&mut self) {
        self.bounds = Bounds::default();
    }

    /// The losses were none: no bound is stricter than `before`.
    pub(super) fn undo(&mut self, before: Bounds) {
        self.lossy = false;
        self.bounds.rate = looser(self.bounds.rate, before.rate);
        self.bounds.in_flight = looser(self.bounds.in_flight, before.in_flight);
    }
}

/// The larger bound, none being the largest.
pub(super) fn looser<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    Some(one?.max(other?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rate: u64, delivered: u64, prior_delivered: u64) -> Sample {
        let rate = Some(Rate::from_bytes_per_second(rate));
        Sample { rate, delivered, prior_delivered, ..Sample::default() }
    }

    #[test]
    fn a_round_with_losses_bounds_to_what_was_delivered_or_seven_tenths() {
        let max_rate = Rate::from_bytes_per_second(1000);
        for (rate, delivered, bounds) in [(900, 80, (900, 80)), (100, 10, (700, 70))] {
            let mut short = ShortTerm::default();
            short.on_loss(500);
            short.on_loss(510);
            short.update(&sample(rate, delivered, 499), 520);
            short.adapt(false, max_rate, 100);
            assert_eq!(short.bounds.in_flight, None, "the round is not over");
            short.update(&sample(rate, delivered, 500), 530);
            short.adapt(false, max_rate, 100);
            let (rate, in_flight) = bounds;
            assert_eq!(short.bounds.rate, Some(Rate::from_bytes_per_second(rate)));
            assert_eq!(short.bounds.in_flight, Some(in_flight));
        }
    }

    #[test]
    fn probing_and_lossless_rounds_bound_nothing() {
        let mut short = ShortTerm::default();
        short.update(&sample(100, 10, 0), 10);
        short.adapt(false, Rate::default(), 100);
        short.on_loss(10);
        short.update(&sample(100, 10, 10), 20);
        short.adapt(true, Rate::default(), 100);
        assert_eq!((short.bounds.rate, short.bounds.in_flight), (None, None));
    }

    #[test]
    fn no_bound_is_the_loosest() {
        assert_eq!(looser(Some(1), Some(2)), Some(2));
        assert_eq!(looser(Some(1), None), None);
    }
}
