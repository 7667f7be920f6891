//! HyStart++ (RFC 9406).

use std::time::Duration;

use super::SlowStart;
use crate::controller::Ack;
use crate::rounds::Rounds;

// RFC 9406, section 4.3.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u32 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
/// `L`: the most datagrams an acknowledgement is worth to a sender that does not pace.
const UNPACED_LIMIT: u64 = 8;

/// Where the slow start is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Doubling.
    Standard,
    /// Conservative slow start: a slower one that finds out whether the delay rose for good.
    Conservative { baseline: Duration, rounds: u32 },
    /// Over. RFC 9406, section 4.3: a later slow start is a traditional one.
    Over,
}

/// Ends slow start when the delay rises from round to round and does not fall again.
#[derive(Debug)]
pub(crate) struct HyStartPlusPlus {
    /// The most bytes an acknowledgement is worth.
    limit: u64,
    phase: Phase,
    rounds: Rounds,
    last_round_min: Option<Duration>,
    round_min: Option<Duration>,
    samples: u32,
}

impl HyStartPlusPlus {
    pub(crate) fn new(datagram: u64, paced: bool) -> Self {
        Self {
            limit: if paced { u64::MAX } else { datagram.saturating_mul(UNPACED_LIMIT) },
            phase: Phase::Standard,
            rounds: Rounds::default(),
            last_round_min: None,
            round_min: None,
            samples: 0,
        }
    }

    fn start_round(&mut self) {
        self.last_round_min = self.round_min.take();
        self.samples = 0;
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1;
        }
    }

    /// The round's least delay, once there are samples enough to judge it.
    fn judged_min(&self) -> Option<Duration> {
        self.round_min.filter(|_| self.samples >= N_RTT_SAMPLE)
    }

    /// Whether the delay rose by the threshold since the last round.
    fn delay_rose(&self, min: Duration) -> bool {
        self.last_round_min.is_some_and(|last| {
            min >= last + (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
        })
    }

    fn next_phase(&self, min: Duration) -> Phase {
        match self.phase {
            Phase::Standard if self.delay_rose(min) => {
                Phase::Conservative { baseline: min, rounds: 0 }
            }
            Phase::Conservative { baseline, .. } if min < baseline => Phase::Standard,
            phase => phase,
        }
    }
}

impl SlowStart for HyStartPlusPlus {
    fn on_sent(&mut self, number: u64) {
        self.rounds.on_sent(number);
    }

    fn ends_with(&mut self, ack: &Ack<'_>, largest_acked: u64, _window: u64) -> bool {
        if self.phase == Phase::Over {
            return false;
        }
        if self.rounds.starts_with(largest_acked) {
            self.start_round();
        }
        let sample = ack.rtt.undelayed;
        self.round_min = Some(self.round_min.map_or(sample, |so_far| so_far.min(sample)));
        self.samples = self.samples.saturating_add(1);
        if let Some(min) = self.judged_min() {
            self.phase = self.next_phase(min);
        }
        // The round in which the phase began counts, however late it began.
        let over = matches!(self.phase, Phase::Conservative { rounds, .. } if rounds >= CSS_ROUNDS);
        if over {
            self.phase = Phase::Over;
        }
        over
    }

    fn credit(&self, bytes: u64) -> u64 {
        match self.phase {
            Phase::Standard => bytes.min(self.limit),
            Phase::Conservative { .. } => bytes.min(self.limit) / CSS_GROWTH_DIVISOR,
            Phase::Over => bytes,
        }
    }

    fn on_congestion(&mut self) {
        self.phase = Phase::Over;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slow_start::tests::Acks;

    /// A round of ten acknowledgements with a delay, and whether slow start ended in it.
    fn round(acks: &mut Acks<HyStartPlusPlus>, delay_ms: u64) -> bool {
        acks.round(10);
        (0..10).any(|_| acks.next(0, delay_ms, 0))
    }

    fn in_css(acks: &Acks<HyStartPlusPlus>) -> bool {
        matches!(acks.slow_start.phase, Phase::Conservative { .. })
    }

    #[test]
    fn the_delay_has_to_rise_by_an_eighth_from_round_to_round() {
        let mut acks = Acks::new(HyStartPlusPlus::new(1000, true));
        for delay in [80, 89, 98, 107] {
            round(&mut acks, delay);
            assert!(!in_css(&acks), "{delay}");
        }
        round(&mut acks, 121);
        assert!(in_css(&acks), "107 + 107 / 8 is less than 121");
    }

    #[test]
    fn the_threshold_has_bounds() {
        for (before, after) in [(8, 12), (400, 416)] {
            for (delay, expected) in [(after - 1, false), (after, true)] {
                let mut acks = Acks::new(HyStartPlusPlus::new(1000, true));
                round(&mut acks, before);
                round(&mut acks, delay);
                assert_eq!(in_css(&acks), expected, "{before} to {delay}");
            }
        }
    }

    #[test]
    fn the_eighth_sample_decides() {
        let mut acks = Acks::new(HyStartPlusPlus::new(1000, true));
        round(&mut acks, 80);
        acks.round(10);
        (0..7).for_each(|_| assert!(!acks.next(0, 100, 0) && !in_css(&acks)));
        acks.next(0, 100, 0);
        assert!(in_css(&acks));
    }

    #[test]
    fn conservative_slow_start_lasts_five_rounds_and_grows_a_quarter_as_fast() {
        let mut acks = Acks::new(HyStartPlusPlus::new(1000, true));
        round(&mut acks, 80);
        assert_eq!(acks.slow_start.credit(10_000), 10_000);
        assert!(!round(&mut acks, 100), "the first round");
        assert_eq!(acks.slow_start.credit(10_000), 2500);
        assert!((0..4).all(|_| !round(&mut acks, 100)));
        assert!(round(&mut acks, 100), "the sixth round's first acknowledgement ends it");
        assert!(!round(&mut acks, 100), "and later slow starts are traditional");
        assert_eq!(acks.slow_start.credit(10_000), 10_000);
    }

    #[test]
    fn a_falling_delay_resumes_slow_start() {
        let mut acks = Acks::new(HyStartPlusPlus::new(1000, true));
        round(&mut acks, 80);
        round(&mut acks, 100);
        round(&mut acks, 99);
        assert_eq!(acks.slow_start.phase, Phase::Standard);
    }

    #[test]
    fn unpaced_acknowledgements_are_worth_eight_datagrams_at_most() {
        let mut acks = Acks::new(HyStartPlusPlus::new(1000, false));
        assert_eq!(acks.slow_start.credit(10_000), 8000);
        round(&mut acks, 80);
        round(&mut acks, 100);
        assert_eq!(acks.slow_start.credit(10_000), 2000);
    }
}
