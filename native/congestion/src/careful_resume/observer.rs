use std::time::Duration;

use super::bytes;
use crate::controller::{Ack, Time};
use crate::max_filter::MaxFilter;
use crate::phase::Saved;

/// Round trips over which the capacity is the largest seen, so that a pause at the end of a
/// connection does not hide it.
const ROUNDS: u64 = 10;

/// Observes a path's capacity, for the connections that follow (RFC 9959, sections 3.1 and 4.1).
///
/// It is the volume acknowledged in one least round-trip time: what a queue adds to the round trip,
/// and slow start to the window, is none of it.
#[derive(Debug)]
pub struct CapacityObserver {
    /// When the current round trip began; none before the first acknowledgement.
    began: Option<Time>,
    acked: u64,
    round: u64,
    most: MaxFilter<u64>,
    rtt: Duration,
}

impl Default for CapacityObserver {
    fn default() -> Self {
        let most = MaxFilter::new(ROUNDS);
        Self { began: None, acked: 0, round: 0, most, rtt: Duration::ZERO }
    }
}

impl CapacityObserver {
    /// Packets were acknowledged.
    pub fn on_ack(&mut self, ack: &Ack<'_>) {
        self.rtt = ack.rtt.min;
        let acked = bytes(ack.packets.iter());
        match self.began {
            Some(began) if ack.now < began + self.rtt => {
                self.acked = self.acked.saturating_add(acked);
            }
            began => {
                if began.is_some() {
                    self.most.insert(self.round, self.acked);
                    self.round += 1;
                }
                self.began = Some(ack.now);
                self.acked = acked;
            }
        }
    }

    /// What to save of the path; none before a whole round trip.
    #[must_use]
    pub fn observed(&self) -> Option<Saved> {
        let window = self.most.get();
        (window > 0).then_some(Saved { window, rtt: self.rtt })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::{Acked, Rtt};

    /// Acknowledgements of 1000 bytes each, evenly spread from one time to another.
    fn acks(observer: &mut CapacityObserver, from_ms: u64, to_ms: u64, every_ms: u64) {
        for at_ms in (from_ms..to_ms).step_by(every_ms as usize) {
            observer.on_ack(&Ack {
                now: Duration::from_millis(at_ms),
                packets: &[Acked { number: at_ms, bytes: 1000, sent_at: Time::ZERO }],
                rtt: Rtt { min: Duration::from_millis(100), ..Rtt::default() },
                in_flight: 0,
                cwnd_limited: true,
            });
        }
    }

    #[test]
    fn capacity_is_what_a_round_trip_takes() {
        let mut observer = CapacityObserver::default();
        acks(&mut observer, 0, 100, 10);
        assert_eq!(observer.observed(), None, "the first is not over");
        acks(&mut observer, 100, 200, 2);
        let rtt = Duration::from_millis(100);
        assert_eq!(observer.observed(), Some(Saved { window: 10_000, rtt }));
        acks(&mut observer, 200, 300, 5);
        assert_eq!(observer.observed(), Some(Saved { window: 50_000, rtt }));
    }

    #[test]
    fn ten_round_trips_are_remembered() {
        let mut observer = CapacityObserver::default();
        acks(&mut observer, 0, 100, 2);
        acks(&mut observer, 100, 1100, 10);
        let window = |observer: &CapacityObserver| observer.observed().map(|saved| saved.window);
        assert_eq!(window(&observer), Some(50_000));
        acks(&mut observer, 1100, 1200, 10);
        assert_eq!(window(&observer), Some(10_000));
    }
}
