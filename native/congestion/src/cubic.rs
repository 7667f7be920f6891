//! CUBIC (RFC 9438), or as RFC 8312 had it.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::controller::Time;
use crate::loss_based::{Progress, WindowLaw};
use crate::new_reno::several;

/// How fast the window grows, in datagrams per second cubed (RFC 9438, section 5.1).
const C: f64 = 0.4;
/// The window's factor on congestion (RFC 9438, section 4.6).
const BETA: f64 = 0.7;
/// The most the window grows in a round (RFC 9438, section 4.2: the target is at most 1.5 windows).
const MOST_PER_ROUND: f64 = 0.5;
/// Of a round trip, so that none is nothing.
const LEAST_RTT: Duration = Duration::from_nanos(1);
/// The least it grows in a round before the first congestion event: Linux's floor, for the cubic
/// function is too cautious while the path is unknown.
const LEAST_PER_UNKNOWN_ROUND: f64 = 0.05;

/// Which RFC's growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CubicVersion {
    /// What Reno would have grows by what is acknowledged, as fast as Reno's own from the last
    /// window on; the target is at most 1.5 windows.
    Rfc9438,
    /// What Reno would have grows with time, always as slowly as this controller's `beta` asks;
    /// nothing bounds the target; a share counts as shrinking that is below the last window, however
    /// that was remembered; K is that of the remembered window.
    Rfc8312,
}

/// A stage of congestion avoidance; windows in datagrams.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Its age, without the time in which the window was not the limit (RFC 9438, section 5.8).
    age: Duration,
    /// When the age was right.
    seen: Time,
    /// Seconds until the window is `w_max`.
    k: f64,
    w_max: f64,
    /// The window that Reno would have.
    w_est: f64,
}

impl Epoch {
    /// `W_cubic(t)`, RFC 9438, equation 1, at this time after the age.
    fn cubic(&self, ahead: Duration) -> f64 {
        let t = (self.age + ahead).as_secs_f64();
        C * (t - self.k).powi(3) + self.w_max
    }
}

/// Grows with the cube of the time since congestion, steeply, flat at the window it had then, and
/// steeply again.
#[derive(Clone, Debug)]
pub(crate) struct Cubic {
    datagram: f64,
    version: CubicVersion,
    /// How many connections it is as aggressive as.
    connections: u32,
    epoch: Option<Epoch>,
    /// The window in datagrams at the last congestion event, or less for fast convergence; none if
    /// the path is unknown.
    w_max: Option<f64>,
    /// `cwnd_prior`: the window in datagrams when the threshold was last set.
    w_prior: f64,
    /// Growth in datagrams that does not make a byte yet.
    remainder: f64,
}

impl Cubic {
    pub(crate) fn new(datagram: u64, connections: NonZeroU32, version: CubicVersion) -> Self {
        Self {
            datagram: datagram as f64,
            version,
            connections: connections.get(),
            epoch: None,
            w_max: None,
            w_prior: 0.0,
            remainder: 0.0,
        }
    }

    fn beta(&self) -> f64 {
        several(BETA, self.connections)
    }

    /// Reno's growth per round with this controller's `beta` (RFC 9438, section 4.3), until Reno
    /// would be where the last event was. For several connections as in Chromium.
    fn alpha(&self, w_est: f64) -> f64 {
        if w_est >= self.w_prior {
            return f64::from(self.connections);
        }
        self.slope()
    }

    /// Growth per round that makes up for this controller's `beta` (RFC 9438, section 4.3; RFC 8312,
    /// section 4.2).
    fn slope(&self) -> f64 {
        let connections = f64::from(self.connections);
        let beta = self.beta();
        3.0 * connections * connections * (1.0 - beta) / (1.0 + beta)
    }

    fn new_epoch(&self, now: Time, window: f64) -> Epoch {
        let (w_max, gap) = match (self.version, self.w_max) {
            (CubicVersion::Rfc8312, Some(w_max)) => (w_max, w_max * (1.0 - self.beta())),
            (_, known) => {
                let w_max = known.unwrap_or(window).max(window);
                (w_max, w_max - window)
            }
        };
        let k = (gap / C).cbrt();
        Epoch { age: Duration::ZERO, seen: now, k, w_max, w_est: window }
    }

    /// The epoch, begun if there is none, at `now`.
    fn epoch_at(&self, now: Time, window: f64) -> Epoch {
        let mut epoch = self.epoch.unwrap_or_else(|| self.new_epoch(now, window));
        epoch.age += now.saturating_sub(epoch.seen);
        epoch.seen = epoch.seen.max(now);
        epoch
    }

    /// Growth per acknowledged datagram outside the Reno-friendly region.
    fn cubic_growth(&self, epoch: &Epoch, window: f64, srtt: Duration) -> f64 {
        let least = if self.w_max.is_none() { LEAST_PER_UNKNOWN_ROUND } else { 0.0 };
        let most = match self.version {
            CubicVersion::Rfc9438 => MOST_PER_ROUND,
            CubicVersion::Rfc8312 => f64::INFINITY,
        };
        ((epoch.cubic(srtt) - window) / window).clamp(least, most)
    }

    /// The window that Reno would have, after so much was acknowledged.
    fn w_est(&self, epoch: &Epoch, acked: f64, window: f64, srtt: Duration) -> f64 {
        match self.version {
            CubicVersion::Rfc9438 => epoch.w_est + self.alpha(epoch.w_est) * acked / window,
            // `W_est(t)`, RFC 8312, equation 4.
            CubicVersion::Rfc8312 => {
                let rounds = epoch.age.div_duration_f64(srtt.max(LEAST_RTT));
                epoch.w_max * self.beta() + self.slope() * rounds
            }
        }
    }
}

impl WindowLaw for Cubic {
    fn avoidance_growth(&mut self, progress: &Progress) -> u64 {
        let window = progress.window as f64 / self.datagram;
        let acked = progress.bytes as f64 / self.datagram;
        let mut epoch = self.epoch_at(progress.now, window);
        epoch.w_est = self.w_est(&epoch, acked, window, progress.rtt.smoothed);
        let cubic = acked * self.cubic_growth(&epoch, window, progress.rtt.smoothed);
        let reno_friendly = epoch.cubic(Duration::ZERO) < epoch.w_est;
        let growth = match (reno_friendly, self.version) {
            (false, _) => cubic,
            (true, CubicVersion::Rfc9438) => cubic.max(epoch.w_est - window),
            (true, CubicVersion::Rfc8312) => (epoch.w_est - window).max(0.0),
        };
        self.epoch = Some(epoch);
        let bytes = growth * self.datagram + self.remainder;
        self.remainder = bytes.fract();
        bytes as u64
    }

    fn on_congestion(&mut self, window: u64) -> u64 {
        let datagrams = window as f64 / self.datagram;
        let shrinking = match self.version {
            CubicVersion::Rfc9438 => self.w_max.is_some_and(|w_max| datagrams < w_max),
            CubicVersion::Rfc8312 => datagrams < self.w_prior,
        };
        // Fast convergence (RFC 9438, section 4.7; RFC 8312, section 4.6): a shrinking share is
        // released sooner.
        let factor = if shrinking { f64::midpoint(1.0, self.beta()) } else { 1.0 };
        self.w_max = Some(datagrams * factor);
        self.w_prior = datagrams;
        self.epoch = None;
        self.remainder = 0.0;
        (window as f64 * self.beta()) as u64
    }

    /// RFC 9438, section 4.8: the next stage begins with K = 0 at the window it finds.
    fn on_persistent_congestion(&mut self) {
        self.w_max = None;
        self.epoch = None;
    }

    fn on_unused(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.seen = epoch.seen.max(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Rtt;

    const DATAGRAM: u64 = 1000;
    const RTT: Duration = Duration::from_millis(100);

    fn cubic(connections: u32) -> Cubic {
        let connections = NonZeroU32::new(connections).expect("not zero");
        Cubic::new(DATAGRAM, connections, CubicVersion::Rfc9438)
    }

    fn older() -> Cubic {
        Cubic::new(DATAGRAM, NonZeroU32::MIN, CubicVersion::Rfc8312)
    }

    fn grow(law: &mut Cubic, now_ms: u64, window: u64, bytes: u64) -> u64 {
        let rtt = Rtt { smoothed: RTT, ..Rtt::default() };
        law.avoidance_growth(&Progress { now: Duration::from_millis(now_ms), bytes, window, rtt })
    }

    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-3, "{value} is not {expected}");
    }

    #[test]
    fn the_function_starts_at_the_reduced_window_and_is_flat_at_the_old_one() {
        let mut law = cubic(1);
        assert_eq!(law.on_congestion(100_000), 70_000);
        let epoch = law.new_epoch(Time::ZERO, 70.0);
        // K = cbrt(100 * (1 - 0.7) / 0.4) = cbrt(75).
        assert_near(epoch.k, 4.2172);
        assert_near(epoch.cubic(Duration::ZERO), 70.0);
        assert_near(epoch.cubic(Duration::from_secs_f64(epoch.k)), 100.0);
        // 0.4 * (10 - 4.2172)^3 + 100.
        assert_near(epoch.cubic(Duration::from_secs(10)), 177.3543);
    }

    #[test]
    fn a_round_of_acknowledgements_reaches_the_function() {
        let mut law = cubic(1);
        law.on_congestion(100_000);
        // W(0.1) = 0.4 * (0.1 - 4.2172)^3 + 100 = 72.0830; the first acknowledgement is at t = 0.
        let growth = grow(&mut law, 5000, 70_000, 70_000);
        assert_eq!(growth, 2083);
    }

    #[test]
    fn growth_is_at_most_half_a_window_a_round() {
        let mut law = cubic(1);
        law.on_congestion(100_000);
        grow(&mut law, 0, 70_000, 1000);
        assert_eq!(grow(&mut law, 60_000, 70_000, 1000), 500);
    }

    #[test]
    fn a_pause_does_not_age_the_stage() {
        let mut law = cubic(1);
        law.on_congestion(100_000);
        grow(&mut law, 0, 70_000, 1000);
        law.on_unused(Duration::from_secs(60));
        let epoch = law.epoch_at(Duration::from_secs(61), 70.0);
        assert_eq!(epoch.age, Duration::from_secs(1));
    }

    #[test]
    fn a_shrinking_window_converges_fast() {
        let mut law = cubic(1);
        law.on_congestion(100_000);
        assert_eq!(law.on_congestion(80_000), 56_000);
        assert_eq!(law.w_max, Some(68.0), "80 * (1 + 0.7) / 2");
        law.on_congestion(90_000);
        assert_eq!(law.w_max, Some(90.0));
    }

    #[test]
    fn small_windows_are_as_fast_as_reno() {
        let mut law = cubic(1);
        law.on_congestion(10_000);
        // 3 * 0.3 / 1.7 = 0.5294 datagrams a round; in rounds of 10 ms the cubic function, at most
        // 0.0672 datagrams a round, is slower.
        let mut window = 7000;
        for round in 0..5 {
            window += grow(&mut law, 10 * round, window, window);
        }
        assert!((9600..=9700).contains(&window), "{window}");
        // From the window there was it is a datagram a round.
        assert_near(law.alpha(9.9), 0.5294);
        assert_near(law.alpha(10.0), 1.0);
    }

    #[test]
    fn an_unknown_path_is_worth_a_twentieth_a_round() {
        let mut law = cubic(1);
        assert_eq!(grow(&mut law, 0, 100_000, 100_000), 5000);
        law.on_congestion(100_000);
        law.on_persistent_congestion();
        assert_eq!(grow(&mut law, 0, 100_000, 100_000), 5000);
    }

    #[test]
    fn two_connections_lose_half_as_much_and_grow_as_two() {
        let mut law = cubic(2);
        assert_eq!(law.on_congestion(100_000), 85_000);
        // 3 * 2^2 * 0.15 / 1.85.
        assert_near(law.alpha(0.0), 0.9730);
        law.on_congestion(80_000);
        assert_eq!(law.w_max, Some(74.0), "80 * (1 + 0.85) / 2");
    }

    #[test]
    fn an_older_friendly_region_grows_with_time_and_never_faster() {
        let mut law = older();
        law.on_congestion(10_000);
        grow(&mut law, 0, 7000, 1);
        // W_est(2) = 7 + 0.5294 * 20 rounds, above W_cubic(2) = 0.4 * (2 - 1.9574)^3 + 10: whatever was
        // acknowledged, and beyond the ten datagrams there were, where RFC 9438 has one a round.
        assert_eq!(7000 + grow(&mut law, 2000, 7000, 1), 17_588);
        let window = 17_588;
        let a_round_later = grow(&mut law, 2100, window, window);
        assert!((529..=530).contains(&a_round_later), "{a_round_later}");
        let mut newer = cubic(1);
        newer.on_congestion(10_000);
        grow(&mut newer, 0, 7000, 1);
        assert!(grow(&mut newer, 2000, 7000, 1) < 10);
    }

    #[test]
    fn a_longer_round_trip_does_not_shrink_an_older_window() {
        let mut law = older();
        law.on_congestion(10_000);
        grow(&mut law, 0, 7000, 1);
        assert_eq!(grow(&mut law, 100, 9000, 9000), 0, "W_est(0.1) = 7.53");
    }

    #[test]
    fn older_growth_has_no_bound() {
        let mut law = older();
        law.on_congestion(100_000);
        grow(&mut law, 0, 70_000, 1000);
        // (0.4 * (30.1 - 4.2172)^3 + 100 - 70) / 70 = 99.5 datagrams for one.
        let growth = grow(&mut law, 30_000, 70_000, 1000);
        let expected = (C * (30.1 - 75.0_f64.cbrt()).powi(3) + 30.0) / 70.0 * 1000.0;
        assert!((growth as f64 - expected).abs() < 2.0, "{growth} is not {expected}");
    }

    #[test]
    fn older_fast_convergence_asks_for_the_last_window_itself() {
        let mut law = older();
        law.on_congestion(100_000);
        assert_eq!(law.on_congestion(90_000), (90_000.0 * BETA) as u64);
        assert_eq!(law.w_max, Some(76.5), "90 * (1 + 0.7) / 2");
        // The function begins below the window, which stays until it is there: cbrt(76.5 * 0.3 / 0.4).
        let epoch = law.new_epoch(Time::ZERO, 63.0);
        assert_near(epoch.k, 57.375_f64.cbrt());
        assert_near(epoch.cubic(Duration::ZERO), 53.55);
        assert_eq!(grow(&mut law, 0, 63_000, 63_000), 0);
        // 80 is less than 90, but more than the 76.5 that RFC 9438 compares with.
        law.on_congestion(80_000);
        assert_eq!(law.w_max, Some(68.0));
        let mut newer = cubic(1);
        for window in [100_000, 90_000, 80_000] {
            newer.on_congestion(window);
        }
        assert_eq!(newer.w_max, Some(80.0));
    }

    #[test]
    fn both_versions_are_the_same_function_until_something_shrinks() {
        let (mut one, mut other) = (cubic(1), older());
        for law in [&mut one, &mut other] {
            law.on_congestion(100_000);
        }
        assert_eq!(grow(&mut one, 5000, 70_000, 70_000), 2083);
        assert_eq!(grow(&mut other, 5000, 70_000, 70_000), 2083);
    }
}
