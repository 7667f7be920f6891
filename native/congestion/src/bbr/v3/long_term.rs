//! How much BBR version 3 dares to have in flight, by the losses of its probes
//! (draft-ietf-ccwg-bbr-06, sections 5.3.3 and 5.5.10.2).

use crate::bbr::delivery_rate::{LostPacket, Sample};

/// The share of a flight that a probe may lose (`LossThresh`).
pub(super) const LOSS_THRESHOLD: f64 = 0.02;
/// The share of the bound that is left to others (`Headroom`).
const HEADROOM: f64 = 0.15;
/// The bound's growth doubles each round of a probe, so many times at most.
const MOST_DOUBLINGS: u32 = 30;

/// What the acknowledgements tell about probing (`ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feedback {
    /// Nothing.
    None,
    /// The pipe is being filled.
    Refilling,
    /// A probe began, of which nothing was acknowledged yet.
    Starting,
    /// The probe's packets are being acknowledged.
    Coming,
    /// The probe is over, but not all its packets are acknowledged.
    Stopping,
}

/// Bytes in flight beyond which there is too much loss (`inflight_longterm`), and its growth.
#[derive(Debug)]
pub(super) struct LongTerm {
    datagram: u64,
    pub(super) bound: Option<u64>,
    pub(super) feedback: Feedback,
    /// Whether losses are those of a probe (`is_bw_probe_sample`).
    pub(super) probing: bool,
    /// Whether the last probe lost too much (`prev_probe_too_high`).
    pub(super) too_high: bool,
    /// Whether it was stopped before it could (`prev_probe_precautionary`).
    pub(super) precautionary: bool,
    /// Bytes acknowledged since the bound grew, and how many make it grow by a datagram.
    acked: u64,
    acked_per_datagram: u64,
    rounds: u32,
}

/// Whether a flight lost more than it may (`IsInflightTooHigh`).
pub(super) fn is_too_high(lost: u64, in_flight: u64) -> bool {
    lost as f64 > in_flight as f64 * LOSS_THRESHOLD
}

/// What was in flight when losses crossed the threshold, within this packet (`InflightAtLoss`).
pub(super) fn in_flight_at_loss(packet: &LostPacket) -> u64 {
    let in_flight_before = packet.in_flight.saturating_sub(packet.bytes) as f64;
    let lost_before = packet.lost.saturating_sub(packet.bytes) as f64;
    let prefix = (LOSS_THRESHOLD * in_flight_before - lost_before) / (1.0 - LOSS_THRESHOLD);
    (in_flight_before + prefix).max(0.0) as u64
}

impl LongTerm {
    pub(super) fn new(datagram: u64) -> Self {
        Self {
            datagram,
            bound: None,
            feedback: Feedback::None,
            probing: false,
            too_high: false,
            precautionary: false,
            acked: 0,
            acked_per_datagram: u64::MAX,
            rounds: 0,
        }
    }

    /// Whether so much in flight, or a window, reaches the bound.
    pub(super) fn is_reached(&self, bytes: u64) -> bool {
        self.bound.is_some_and(|bound| bytes >= bound)
    }

    /// The bound without what is left to others (`InflightWithHeadroom`).
    pub(super) fn with_headroom(&self, min_pipe: u64) -> Option<u64> {
        let bound = self.bound?;
        let headroom = ((bound as f64 * HEADROOM) as u64).max(self.datagram);
        Some(bound.saturating_sub(headroom).max(min_pipe))
    }

    /// Probing is over.
    pub(super) fn stop(&mut self) {
        self.acked_per_datagram = u64::MAX;
        self.feedback = Feedback::Stopping;
    }

    /// The pipe is filled before a probe.
    pub(super) fn refill(&mut self) {
        self.rounds = 0;
        self.acked = 0;
        self.precautionary = false;
        self.feedback = Feedback::Refilling;
    }

    /// `RaiseInflightLongtermSlope`.
    pub(super) fn raise_slope(&mut self, window: u64) {
        let growth = 1_u64 << self.rounds;
        self.rounds = (self.rounds + 1).min(MOST_DOUBLINGS);
        self.acked_per_datagram = (window / growth).max(self.datagram);
    }

    /// A probe's flight was safe.
    pub(super) fn on_safe(&mut self, sample: &Sample) {
        self.bound = self.bound.map(|bound| bound.max(sample.in_flight));
    }

    /// `ProbeInflightLongtermUpward`, when the window is full and at the bound.
    pub(super) fn grow(&mut self, newly_delivered: u64, window: u64, round_started: bool) {
        self.acked = self.acked.saturating_add(newly_delivered);
        let datagrams = self.acked / self.acked_per_datagram;
        self.acked %= self.acked_per_datagram;
        let growth = datagrams.saturating_mul(self.datagram);
        self.bound = self.bound.map(|bound| bound.saturating_add(growth));
        if round_started {
            self.raise_slope(window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_percent_are_tolerated() {
        assert!(!is_too_high(2, 100));
        assert!(is_too_high(3, 100));
    }

    #[test]
    fn the_bound_is_where_losses_crossed_the_threshold() {
        // 100 packets before, of which 1 was lost; (0.02 * 100 - 1) / 0.98 = 1.02 of the 10 of this
        // burst may be lost.
        let packet = LostPacket {
            bytes: 10_000,
            lost: 11_000,
            in_flight: 110_000,
            application_limited: false,
        };
        assert_eq!(in_flight_at_loss(&packet), 101_020);
    }

    #[test]
    fn headroom_is_fifteen_percent_and_at_least_a_datagram() {
        let mut long = LongTerm::new(1000);
        assert_eq!(long.with_headroom(4000), None);
        for (bound, left) in [(100_000, 85_000), (6000, 5000), (4000, 4000)] {
            long.bound = Some(bound);
            assert_eq!(long.with_headroom(4000), Some(left));
        }
    }

    #[test]
    fn the_bound_grows_exponentially() {
        let mut long = LongTerm::new(1000);
        long.bound = Some(100_000);
        long.refill();
        long.raise_slope(100_000);
        let mut bounds = Vec::new();
        for _ in 0..4 {
            long.grow(100_000, 100_000, true);
            bounds.push(long.bound.expect("a bound"));
        }
        assert_eq!(bounds, [101_000, 103_000, 107_000, 115_000]);
    }
}
