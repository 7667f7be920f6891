//! How slow start grows the window, and when it ends by itself.

mod hystart;
mod hystart_plus_plus;

use std::fmt;

use crate::controller::Ack;

pub(crate) use hystart::HyStart;
pub(crate) use hystart_plus_plus::HyStartPlusPlus;

/// A slow start.
pub(crate) trait SlowStart: fmt::Debug + Send {
    /// Packet `number` is sent.
    fn on_sent(&mut self, _number: u64) {}

    /// Whether slow start ends with this acknowledgement, which arrives at `window`. Called only in
    /// slow start.
    fn ends_with(&mut self, _ack: &Ack<'_>, _largest_acked: u64, _window: u64) -> bool {
        false
    }

    /// How many of the acknowledged bytes the window grows by.
    fn credit(&self, bytes: u64) -> u64 {
        bytes
    }

    /// Congestion ended slow start.
    fn on_congestion(&mut self) {}

    /// Slow start begins again after persistent congestion.
    fn restart(&mut self) {}
}

/// Slow start without an exit of its own.
#[derive(Debug)]
pub(crate) struct Classic;

impl SlowStart for Classic {}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::SlowStart;
    use crate::controller::{Ack, Acked, Rtt};

    /// Feeds a slow start.
    pub(super) struct Acks<S> {
        pub(super) slow_start: S,
        next_sent: u64,
        next_acked: u64,
    }

    impl<S: SlowStart> Acks<S> {
        pub(super) fn new(slow_start: S) -> Self {
            Self { slow_start, next_sent: 0, next_acked: 0 }
        }

        /// Sends so many packets, of which the first one acknowledged begins a round.
        pub(super) fn round(&mut self, packets: u64) {
            self.next_acked = self.next_sent;
            (0..packets).for_each(|index| self.slow_start.on_sent(self.next_sent + index));
            self.next_sent += packets;
        }

        /// Acknowledges the next packet at a time, with a delay, at a window.
        pub(super) fn next(&mut self, at_ms: u64, delay_ms: u64, window: u64) -> bool {
            let number = self.next_acked;
            self.next_acked += 1;
            let ack = Ack {
                now: Duration::from_millis(at_ms),
                packets: &[Acked { number, bytes: 1000, sent_at: Duration::ZERO }],
                rtt: Rtt { undelayed: Duration::from_millis(delay_ms), ..Rtt::default() },
                in_flight: 0,
                cwnd_limited: true,
            };
            self.slow_start.ends_with(&ack, number, window)
        }
    }
}
