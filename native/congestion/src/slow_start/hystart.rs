//! HyStart (Ha and Rhee, "Taming the elephants: New TCP slow start", 2011) as in Linux's CUBIC.

use std::time::Duration;

use super::SlowStart;
use crate::controller::{Ack, Time};
use crate::rounds::Rounds;

/// Datagrams a window needs before slow start may end.
const LOW_WINDOW: u64 = 16;
/// Acknowledgements no farther apart than this are a train.
const TRAIN_SPACING: Duration = Duration::from_millis(2);
/// How much longer a train may be because packets leave and arrive in batches: Linux's limit, which
/// it has at rates below 2 Gbit/s.
const BATCHING: Duration = Duration::from_millis(1);
/// Samples of a round before its delay is judged.
const MIN_SAMPLES: u32 = 8;
/// Bounds of the rise in delay that ends slow start; between them it is an eighth of the least.
const MIN_RISE: Duration = Duration::from_millis(4);
const MAX_RISE: Duration = Duration::from_millis(16);

/// Ends slow start when a train of acknowledgements is as long as the path, or the delay rises.
#[derive(Debug)]
pub(crate) struct HyStart {
    low_window: u64,
    paced: bool,
    rounds: Rounds,
    /// The least round-trip time of all rounds.
    least: Option<Duration>,
    round: Option<Round>,
}

/// One round of acknowledgements.
#[derive(Debug)]
struct Round {
    start: Time,
    /// The last acknowledgement of the train.
    train_end: Time,
    least: Option<Duration>,
    samples: u32,
}

impl HyStart {
    pub(crate) fn new(datagram: u64, paced: bool) -> Self {
        let low_window = datagram.saturating_mul(LOW_WINDOW);
        Self { low_window, paced, rounds: Rounds::default(), least: None, round: None }
    }

    /// How long a train may be: the least round-trip time, or its half if packets are not paced,
    /// for pacing delays them by up to a half.
    fn longest_train(&self, least: Duration) -> Duration {
        let longest = least + BATCHING;
        if self.paced { longest } else { longest / 2 }
    }
}

impl Round {
    fn new(now: Time) -> Self {
        Self { start: now, train_end: now, least: None, samples: 0 }
    }

    /// Whether the train is longer than `longest` with an acknowledgement at `now`.
    fn is_long_train(&mut self, now: Time, longest: Duration) -> bool {
        if now.saturating_sub(self.train_end) > TRAIN_SPACING {
            return false;
        }
        self.train_end = now;
        now.saturating_sub(self.start) > longest
    }

    /// Whether the delay rose above the `least` there was, by the round's first samples.
    fn is_delayed(&mut self, sample: Duration, least: Duration) -> bool {
        let round_least = self.least.map_or(sample, |so_far| so_far.min(sample));
        self.least = Some(round_least);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        round_least > least + (least / 8).clamp(MIN_RISE, MAX_RISE)
    }
}

impl SlowStart for HyStart {
    fn on_sent(&mut self, number: u64) {
        self.rounds.on_sent(number);
    }

    fn ends_with(&mut self, ack: &Ack<'_>, largest_acked: u64, window: u64) -> bool {
        let sample = ack.rtt.undelayed;
        let least = self.least.map_or(sample, |so_far| so_far.min(sample));
        self.least = Some(least);
        if self.rounds.starts_with(largest_acked) {
            self.round = None;
        }
        let longest = self.longest_train(least);
        let round = self.round.get_or_insert_with(|| Round::new(ack.now));
        if window < self.low_window {
            return false;
        }
        let long_train = round.is_long_train(ack.now, longest);
        let delayed = round.is_delayed(sample, least);
        long_train || delayed
    }

    fn restart(&mut self) {
        self.least = None;
        self.round = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slow_start::tests::Acks;

    const WIDE: u64 = 16_000;

    #[test]
    fn a_train_as_long_as_the_path_ends_slow_start() {
        // Acknowledgements 2 ms apart on a path of 40 ms.
        let end = |paced| {
            let mut acks = Acks::new(HyStart::new(1000, paced));
            acks.round(100);
            (0..100).find(|index| acks.next(100 + 2 * index, 40, WIDE)).expect("an end") * 2
        };
        assert_eq!(end(true), 42, "more than 40 + 1 ms");
        assert_eq!(end(false), 22, "more than half of that");
    }

    #[test]
    fn gaps_break_the_train() {
        let mut acks = Acks::new(HyStart::new(1000, true));
        acks.round(100);
        assert!((0..50).all(|index| !acks.next(100 + 3 * index, 40, WIDE)));
    }

    #[test]
    fn eight_samples_above_an_eighth_end_slow_start() {
        let end = |delay| {
            let mut acks = Acks::new(HyStart::new(1000, true));
            acks.round(100);
            assert!(!acks.next(100, 80, WIDE));
            acks.round(100);
            (1..=20).find(|index| acks.next(1000 + 3 * index, delay, WIDE))
        };
        assert_eq!(end(90), None, "80 / 8 is not exceeded");
        assert_eq!(end(91), Some(9));
    }

    #[test]
    fn small_windows_are_not_judged() {
        let mut acks = Acks::new(HyStart::new(1000, true));
        acks.round(100);
        assert!(!acks.next(100, 40, WIDE - 1));
        acks.round(100);
        assert!((1..=50).all(|index| !acks.next(1000 + index, 400, WIDE - 1)));
    }
}
