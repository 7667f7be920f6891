use std::time::Duration;

use headway_congestion::Rtt;

/// Estimates a path's round-trip time (RFC 9002 section 5).
#[derive(Debug, Default)]
pub(crate) struct RttEstimator {
    rtt: Rtt,
    sampled: bool,
}

impl RttEstimator {
    /// The estimates; zero before the first sample.
    pub(crate) fn get(&self) -> Rtt {
        self.rtt
    }

    /// Whether there was a sample.
    pub(crate) fn has_sample(&self) -> bool {
        self.sampled
    }

    /// Takes a sample into account.
    ///
    /// # Arguments
    /// * `latest` - time from sending a packet to its acknowledgment.
    /// * `ack_delay` - how much of that the peer says that it waited.
    pub(crate) fn sample(&mut self, latest: Duration, ack_delay: Duration) {
        self.rtt.latest = latest;
        self.rtt.undelayed = latest;
        if !self.sampled {
            self.sampled = true;
            self.rtt.min = latest;
            self.rtt.smoothed = latest;
            self.rtt.variation = latest / 2;
            return;
        }
        self.rtt.min = self.rtt.min.min(latest);
        self.rtt.undelayed = latest.saturating_sub(ack_delay).max(self.rtt.min);
        let plausible = latest >= self.rtt.min + ack_delay;
        let adjusted = if plausible { latest - ack_delay } else { latest };
        let deviation = self.rtt.smoothed.abs_diff(adjusted);
        self.rtt.variation = (self.rtt.variation * 3 + deviation) / 4;
        self.rtt.smoothed = (self.rtt.smoothed * 7 + adjusted) / 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    #[test]
    fn first_sample_sets_all() {
        let mut estimator = RttEstimator::default();
        estimator.sample(ms(100), ms(25));
        let rtt = estimator.get();
        assert_eq!((rtt.min, rtt.smoothed, rtt.variation), (ms(100), ms(100), ms(50)));
    }

    #[test]
    fn later_samples_move_by_an_eighth_and_a_quarter() {
        let mut estimator = RttEstimator::default();
        estimator.sample(ms(100), ms(0));
        // 140 ms less 20 ms delay: deviation 20 ms from 100 ms.
        estimator.sample(ms(140), ms(20));
        let rtt = estimator.get();
        assert_eq!(rtt.latest, ms(140));
        assert_eq!(rtt.smoothed, Duration::from_micros(102_500));
        assert_eq!(rtt.variation, Duration::from_micros(42_500));
    }

    #[test]
    fn a_delay_below_the_minimum_is_not_believed() {
        let mut estimator = RttEstimator::default();
        estimator.sample(ms(100), ms(0));
        estimator.sample(ms(108), ms(20));
        assert_eq!(estimator.get().smoothed, ms(101));
        assert_eq!(estimator.get().undelayed, ms(100));
    }

    #[test]
    fn what_the_path_took_is_without_the_delay() {
        let mut estimator = RttEstimator::default();
        estimator.sample(ms(100), ms(10));
        assert_eq!(estimator.get().undelayed, ms(100), "the first sample is the least");
        estimator.sample(ms(130), ms(25));
        assert_eq!((estimator.get().latest, estimator.get().undelayed), (ms(130), ms(105)));
    }
}
