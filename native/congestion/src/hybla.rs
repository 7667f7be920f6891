//! TCP Hybla (Caini and Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks",
//! 2004): windows grow as fast as those of a connection with a short reference round trip.

use std::time::Duration;

use crate::loss_based::{Progress, WindowLaw};
use crate::new_reno::NewReno;

/// `RTT0`, the reference that the paper has.
pub(crate) const REFERENCE_RTT: Duration = Duration::from_millis(25);
/// The largest window in datagrams unless one is configured, as in Linux: slow start multiplies
/// windows by up to 65536 per round.
pub(crate) const MAX_WINDOW: u64 = 65_535;
/// The largest exponent in slow start, as in Linux.
const MOST_DOUBLINGS: f64 = 16.0;

/// Reno's growth, normalised to the reference round trip.
#[derive(Clone, Debug)]
pub(crate) struct Hybla {
    datagram: f64,
    /// `RTT0`.
    reference: Duration,
    /// Halves like Reno.
    reno: NewReno,
    /// Growth that does not make a byte yet.
    remainder: f64,
}

impl Hybla {
    pub(crate) fn new(datagram: u64, reference: Duration) -> Self {
        let reno = NewReno::new(datagram, std::num::NonZeroU32::MIN);
        Self { datagram: datagram as f64, reference, reno, remainder: 0.0 }
    }

    /// The normalised round-trip time, at least 1. As in Linux it is that of the least round trip,
    /// so that a queue does not make the connection more aggressive.
    fn rho(&self, progress: &Progress) -> f64 {
        progress.rtt.min.div_duration_f64(self.reference).max(1.0)
    }

    fn whole_bytes(&mut self, growth: f64) -> u64 {
        let bytes = growth + self.remainder;
        self.remainder = bytes.fract();
        bytes as u64
    }
}

impl WindowLaw for Hybla {
    fn slow_start_growth(&mut self, progress: &Progress) -> u64 {
        let growth = self.rho(progress).min(MOST_DOUBLINGS).exp2() - 1.0;
        self.whole_bytes(growth * progress.bytes as f64)
    }

    fn avoidance_growth(&mut self, progress: &Progress) -> u64 {
        let acked_windows = progress.bytes as f64 / progress.window as f64;
        self.whole_bytes(self.rho(progress).powi(2) * self.datagram * acked_windows)
    }

    fn on_congestion(&mut self, window: u64) -> u64 {
        self.remainder = 0.0;
        self.reno.on_congestion(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::{Rtt, Time};

    fn progress(rtt_ms: u64, window: u64, bytes: u64) -> Progress {
        let rtt = Rtt { min: Duration::from_millis(rtt_ms), ..Rtt::default() };
        Progress { now: Time::ZERO, bytes, window, rtt }
    }

    #[test]
    fn a_path_of_the_reference_is_reno() {
        for rtt_ms in [1, 25] {
            let mut law = Hybla::new(1000, REFERENCE_RTT);
            assert_eq!(law.slow_start_growth(&progress(rtt_ms, 10_000, 1000)), 1000);
            assert_eq!(law.avoidance_growth(&progress(rtt_ms, 10_000, 10_000)), 1000);
        }
    }

    #[test]
    fn twice_the_round_trip_triples_and_quadruples() {
        let mut law = Hybla::new(1000, REFERENCE_RTT);
        // 2^2 - 1 in slow start, 2^2 in congestion avoidance.
        assert_eq!(law.slow_start_growth(&progress(50, 10_000, 1000)), 3000);
        assert_eq!(law.avoidance_growth(&progress(50, 10_000, 10_000)), 4000);
    }

    #[test]
    fn a_satellite_grows_by_its_square() {
        let mut law = Hybla::new(1000, REFERENCE_RTT);
        // 24 reference round trips.
        assert_eq!(law.avoidance_growth(&progress(600, 1_000_000, 1_000_000)), 576_000);
        assert_eq!(law.slow_start_growth(&progress(600, 10_000, 1000)), 65_535_000);
    }

    #[test]
    fn another_reference_is_that_of_the_paper_on_a_longer_path() {
        let mut law = Hybla::new(1000, Duration::from_millis(200));
        assert_eq!(law.slow_start_growth(&progress(200, 10_000, 1000)), 1000);
        // Three references: 2^3 - 1, and 3^2.
        assert_eq!(law.slow_start_growth(&progress(600, 10_000, 1000)), 7000);
        assert_eq!(law.avoidance_growth(&progress(600, 10_000, 10_000)), 9000);
    }

    #[test]
    fn congestion_halves_the_window() {
        assert_eq!(Hybla::new(1000, REFERENCE_RTT).on_congestion(10_000), 5000);
    }
}
