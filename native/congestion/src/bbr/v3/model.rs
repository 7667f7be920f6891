//! What BBR version 3 knows about the path in the long run.
//!
//! Section numbers are those of draft-ietf-ccwg-bbr-06.

use std::time::Duration;

use crate::bbr::delivery_rate::Sample;
use crate::bbr::round::Round;
use crate::controller::Time;
use crate::max_filter::MaxFilter;
use crate::rate::Rate;

/// Probing cycles over which the rate is the largest (`MaxBwFilterLen`).
const RATE_CYCLES: u64 = 2;
/// How long the least round-trip time is believed (`MinRTTFilterLen`).
const MIN_RTT_LIFE: Duration = Duration::from_secs(10);
/// How often it is looked for (`ProbeRTTInterval`).
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
/// Growth of the rate by which a round is a success, and how many failures fill the pipe (5.3.1.2).
const SUCCESS: f64 = 1.25;
const FAILURES: u32 = 3;
/// Rounds over which aggregation is the largest, in startup and later (`ExtraAckedFilterLen`).
const STARTUP_AGGREGATION_ROUNDS: u64 = 1;
const AGGREGATION_ROUNDS: u64 = 10;

/// Whether the pipe is full (5.3.1.2).
#[derive(Debug, Default)]
pub(super) struct FullPipe {
    /// The rate of the last round that was a success.
    baseline: Rate,
    failures: u32,
    now: bool,
    reached: bool,
}

impl FullPipe {
    /// Looks anew, from a rate (`ResetFullBW`).
    pub(super) fn restart(&mut self, baseline: Rate) {
        *self = Self { baseline, failures: 0, now: false, reached: self.reached };
    }

    /// Whether it is full by what was seen since looking anew (`full_bw_now`).
    pub(super) fn now(&self) -> bool {
        self.now
    }

    /// Whether it ever was (`full_bw_reached`).
    pub(super) fn reached(&self) -> bool {
        self.reached
    }

    /// Decides that it was, or after all was not, full.
    pub(super) fn set_reached(&mut self, reached: bool) {
        self.reached = reached;
    }

    /// `CheckFullBWReached`.
    fn check(&mut self, sample: &Sample, round_started: bool) {
        if self.now || !round_started || sample.application_limited {
            return;
        }
        let rate = sample.rate.unwrap_or_default();
        if rate >= self.baseline.scaled(SUCCESS) {
            self.restart(rate);
            return;
        }
        self.failures += 1;
        self.now = self.failures >= FAILURES;
        self.reached |= self.now;
    }
}

/// How much more than expected is acknowledged at once (5.5.9).
#[derive(Debug)]
struct Aggregation {
    since: Time,
    delivered: u64,
    extra: MaxFilter<u64>,
}

impl Aggregation {
    /// `UpdateACKAggregation`.
    fn update(&mut self, now: Time, rate: Rate, newly_delivered: u64, window: u64, round: u64) {
        let mut expected = rate.bytes_in(now.saturating_sub(self.since));
        if self.delivered <= expected {
            self.delivered = 0;
            self.since = now;
            expected = 0;
        }
        self.delivered = self.delivered.saturating_add(newly_delivered);
        self.extra.insert(round, self.delivered.saturating_sub(expected).min(window));
    }
}

/// The model.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) round: Round,
    pub(super) full: FullPipe,
    max_rate: MaxFilter<Rate>,
    cycle: u64,
    min_rtt: Option<Duration>,
    min_rtt_at: Time,
    /// The least round-trip time since the last look for it (`probe_rtt_min_delay`).
    recent_rtt: Option<Duration>,
    recent_rtt_at: Time,
    recent_rtt_expired: bool,
    aggregation: Aggregation,
}

impl Model {
    pub(super) fn new() -> Self {
        let extra = MaxFilter::new(STARTUP_AGGREGATION_ROUNDS);
        Self {
            round: Round::default(),
            full: FullPipe::default(),
            max_rate: MaxFilter::new(RATE_CYCLES),
            cycle: 0,
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            recent_rtt: None,
            recent_rtt_at: Time::ZERO,
            recent_rtt_expired: false,
            aggregation: Aggregation { since: Time::ZERO, delivered: 0, extra },
        }
    }

    /// `max_bw`; zero while it is unknown.
    pub(super) fn max_rate(&self) -> Rate {
        self.max_rate.get()
    }

    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// `extra_acked`, in bytes.
    pub(super) fn extra_acked(&self) -> u64 {
        self.aggregation.extra.get()
    }

    /// Whether the least round-trip time has to be looked for (`probe_rtt_expired`).
    pub(super) fn is_rtt_due(&self) -> bool {
        self.recent_rtt_expired
    }

    /// It was looked for.
    pub(super) fn renew_rtt(&mut self, now: Time) {
        self.recent_rtt_at = now;
    }

    /// Sending resumed after a pause.
    pub(super) fn on_restart(&mut self, now: Time) {
        self.aggregation.since = now;
    }

    /// `UpdateMaxBw` (5.5.5).
    pub(super) fn update_rate(&mut self, sample: &Sample, delivered: u64) {
        self.round.update(sample.prior_delivered, delivered);
        let Some(rate) = sample.rate else {
            return;
        };
        if rate >= self.max_rate() || !sample.application_limited {
            self.max_rate.insert(self.cycle, rate);
        }
    }

    /// `AdvanceMaxBwFilter` (5.5.6).
    pub(super) fn next_cycle(&mut self) {
        self.cycle += 1;
    }

    /// `UpdateACKAggregation` and `CheckFullBWReached`; `rate` is `bw`.
    pub(super) fn update_volume(&mut self, sample: &Sample, now: Time, rate: Rate, window: u64) {
        if self.full.reached() {
            self.aggregation.extra.resize(AGGREGATION_ROUNDS);
        }
        let round = self.round.count();
        self.aggregation.update(now, rate, sample.newly_delivered, window, round);
        self.full.check(sample, self.round.started());
    }

    /// `UpdateMinRTT` (5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, rtt: Duration, now: Time) {
        self.recent_rtt_expired = now > self.recent_rtt_at + PROBE_RTT_INTERVAL;
        if self.recent_rtt_expired || self.recent_rtt.is_none_or(|least| rtt < least) {
            self.recent_rtt = Some(rtt);
            self.recent_rtt_at = now;
        }
        let expired = now > self.min_rtt_at + MIN_RTT_LIFE;
        if expired || self.min_rtt.is_none_or(|least| self.recent_rtt < Some(least)) {
            self.min_rtt = self.recent_rtt;
            self.min_rtt_at = self.recent_rtt_at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_the_largest_of_this_cycle_and_the_last() {
        let mut model = Model::new();
        let sample =
            |rate| Sample { rate: Some(Rate::from_bytes_per_second(rate)), ..Sample::default() };
        model.update_rate(&sample(1000), 0);
        model.next_cycle();
        model.update_rate(&sample(500), 0);
        assert_eq!(model.max_rate().bytes_per_second(), 1000);
        model.next_cycle();
        model.update_rate(&sample(400), 0);
        assert_eq!(model.max_rate().bytes_per_second(), 500);
    }

    #[test]
    fn a_rise_in_the_round_trip_is_believed_after_ten_seconds() {
        let (short, long) = (Duration::from_millis(20), Duration::from_millis(50));
        let mut model = Model::new();
        model.update_min_rtt(short, Time::ZERO);
        model.update_min_rtt(long, Time::from_millis(5001));
        assert!(model.is_rtt_due());
        assert_eq!(model.min_rtt(), Some(short));
        model.update_min_rtt(long, Time::from_millis(10_001));
        assert_eq!(model.min_rtt(), Some(long));
    }

    #[test]
    fn acknowledgements_beyond_the_rate_are_extra() {
        let mut model = Model::new();
        let rate = Rate::from_bytes_per_second(1_000_000);
        let sample = Sample { newly_delivered: 10_000, ..Sample::default() };
        // 10 kB at once where 1 kB was expected after the first 10 kB: 19 kB more than expected.
        model.update_volume(&sample, Time::from_millis(1000), rate, 100_000);
        model.update_volume(&sample, Time::from_millis(1001), rate, 100_000);
        assert_eq!(model.extra_acked(), 19_000);
        // 100 ms later all that was to be expected.
        model.round.update(0, 0);
        model.update_volume(&sample, Time::from_millis(1101), rate, 100_000);
        assert_eq!(model.extra_acked(), 10_000);
    }
}
