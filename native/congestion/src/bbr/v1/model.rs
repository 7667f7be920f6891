//! BBR's model of the path: its rate, its propagation delay, and whether the pipe was filled.
//!
//! Section numbers are those of draft-cardwell-iccrg-bbr-congestion-control-00.

use std::time::Duration;

use crate::bbr::delivery_rate::Sample;
use crate::bbr::round::Round;
use crate::controller::Time;
use crate::max_filter::MaxFilter;
use crate::rate::Rate;

/// Rounds over which the rate is the largest (`BtlBwFilterLen`, section 4.1.1.4).
const RATE_ROUNDS: u64 = 10;
/// How long a propagation delay is believed (`RTpropFilterLen`, section 4.1.2.3).
const PROPAGATION_LIFE: Duration = Duration::from_secs(10);
/// Growth of the rate by which a round of startup is a success, and how many failures end startup
/// (section 4.3.2.2).
const SUCCESS: f64 = 1.25;
const FAILURES: u32 = 3;

/// The model.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) round: Round,
    /// `BtlBw`.
    rate: MaxFilter<Rate>,
    /// `RTprop`.
    propagation: Option<Duration>,
    propagation_at: Time,
    propagation_expired: bool,
    /// The rate of the last round of startup that was a success.
    full_rate: Rate,
    failures: u32,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            round: Round::default(),
            rate: MaxFilter::new(RATE_ROUNDS),
            propagation: None,
            propagation_at: Time::ZERO,
            propagation_expired: false,
            full_rate: Rate::default(),
            failures: 0,
        }
    }

    /// The bottleneck's rate, `BtlBw`; zero while it is unknown.
    pub(super) fn rate(&self) -> Rate {
        self.rate.get()
    }

    /// The propagation delay, `RTprop`.
    pub(super) fn propagation(&self) -> Option<Duration> {
        self.propagation
    }

    /// Whether startup found the pipe full (`filled_pipe`).
    pub(super) fn is_full(&self) -> bool {
        self.failures >= FAILURES
    }

    /// Startup is over, whatever it found.
    pub(super) fn fill(&mut self) {
        self.failures = FAILURES;
    }

    /// Whether the propagation delay has to be looked for (`rtprop_expired`).
    pub(super) fn is_propagation_expired(&self) -> bool {
        self.propagation_expired
    }

    /// The propagation delay is believed from now on.
    pub(super) fn renew_propagation(&mut self, now: Time) {
        self.propagation_at = now;
    }

    /// The bandwidth-delay product; none while it is unknown.
    pub(super) fn bdp(&self) -> Option<u64> {
        let bytes = self.rate().bytes_in(self.propagation?);
        (bytes > 0).then_some(bytes)
    }

    /// `BBRUpdateBtlBw` (section 4.1.1.5) and the round counting it begins with.
    pub(super) fn on_delivered(&mut self, sample: &Sample, delivered: u64) {
        self.round.update(sample.prior_delivered, delivered);
        let Some(rate) = sample.rate else {
            return;
        };
        if rate >= self.rate() || !sample.application_limited {
            self.rate.insert(self.round.count(), rate);
        }
    }

    /// `BBRCheckFullPipe` (section 4.3.2.2).
    pub(super) fn check_full_pipe(&mut self, sample: &Sample) {
        if self.is_full() || !self.round.started() || sample.application_limited {
            return;
        }
        if self.rate() >= self.full_rate.scaled(SUCCESS) {
            self.full_rate = self.rate();
            self.failures = 0;
        } else {
            self.failures += 1;
        }
    }

    /// `BBRUpdateRTprop` (section 4.1.2.3).
    pub(super) fn on_rtt(&mut self, rtt: Duration, now: Time) {
        self.propagation_expired = now > self.propagation_at + PROPAGATION_LIFE;
        if self.propagation_expired || self.propagation.is_none_or(|least| rtt <= least) {
            self.propagation = Some(rtt);
            self.propagation_at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(prior_delivered: u64, rate: u64, application_limited: bool) -> Sample {
        let rate = Some(Rate::from_bytes_per_second(rate));
        Sample {
            rate,
            application_limited,
            prior_delivered,
            newly_delivered: 1,
            ..Sample::default()
        }
    }

    #[test]
    fn three_rounds_without_growth_by_a_quarter_fill_the_pipe() {
        let mut model = Model::new();
        let mut delivered = 0;
        let mut round = |model: &mut Model, rate, application_limited| {
            let sample = sample(delivered, rate, application_limited);
            delivered += 10;
            model.on_delivered(&sample, delivered);
            model.check_full_pipe(&sample);
        };
        for rate in [100, 200, 400, 499, 499] {
            round(&mut model, rate, false);
        }
        round(&mut model, 499, true);
        assert!(!model.is_full(), "two failures, and a round of the application's");
        round(&mut model, 500, false);
        round(&mut model, 500, false);
        round(&mut model, 500, false);
        assert!(!model.is_full(), "500 is a quarter more than 400");
        round(&mut model, 500, false);
        assert!(model.is_full());
    }

    #[test]
    fn a_slower_rate_of_the_application_is_ignored() {
        let mut model = Model::new();
        model.on_delivered(&sample(0, 1000, false), 10);
        for round in 1..20 {
            model.on_delivered(&sample(10 * round, 10, true), 10 * round + 10);
        }
        assert_eq!(model.rate().bytes_per_second(), 1000);
        model.on_delivered(&sample(200, 10, false), 210);
        assert_eq!(model.rate().bytes_per_second(), 10);
    }

    #[test]
    fn the_propagation_delay_is_the_least_for_ten_seconds() {
        let (short, long) = (Duration::from_millis(20), Duration::from_millis(50));
        let mut model = Model::new();
        model.on_rtt(short, Time::ZERO);
        model.on_rtt(long, Time::from_secs(10));
        assert_eq!(model.propagation(), Some(short));
        assert!(!model.is_propagation_expired());
        model.on_rtt(long, Time::from_millis(10_001));
        assert_eq!(model.propagation(), Some(long));
        assert!(model.is_propagation_expired());
    }
}
