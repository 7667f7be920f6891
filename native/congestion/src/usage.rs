//! Whether the window is used up, so that it may grow.

use crate::controller::{Acked, State};

/// How far the window was filled in the current round.
///
/// RFC 9002, section 7.8, forbids growing a window that is not used. Like Linux
/// (`tcp_cwnd_validate`), the strongest signal of the last round counts, so that a paced sender
/// that fills its window once a round is seen as limited by it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usage {
    filled: bool,
    most_in_flight: u64,
    round_end: Option<u64>,
    round_over: bool,
}

impl Usage {
    /// Packet `number` leaves, after which `in_flight` bytes are out; `filled` if no full-sized
    /// packet can follow.
    pub(crate) fn on_sent(&mut self, number: u64, in_flight: u64, filled: bool) {
        let stronger = filled || (!self.filled && in_flight > self.most_in_flight);
        if self.round_end.is_none() || self.round_over || stronger {
            self.filled = filled;
            self.most_in_flight = in_flight;
            self.round_end = Some(number);
            self.round_over = false;
        }
    }

    /// Packets up to `largest_acked` are out no more.
    pub(crate) fn on_ack(&mut self, largest_acked: u64) {
        self.round_over |= self.round_end.is_some_and(|end| largest_acked >= end);
    }

    /// Whether `window` was filled, or, in slow start, at least half (Linux's
    /// `tcp_is_cwnd_limited`: the window may grow to twice what was in flight).
    pub(crate) fn limited(&self, window: u64, slow_start: bool) -> bool {
        self.filled || (slow_start && window < self.most_in_flight.saturating_mul(2))
    }
}

/// What a loss-based controller knows of its sender: how it uses the window, and if anything came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sending {
    usage: Usage,
    application_limited: bool,
    acknowledged: bool,
}

impl Sending {
    /// As [`Usage::on_sent`].
    pub(crate) fn on_sent(&mut self, number: u64, in_flight: u64, filled: bool) {
        self.usage.on_sent(number, in_flight, filled);
        self.application_limited &= !filled;
    }

    /// Packets were acknowledged; the largest of their numbers, if there is any.
    pub(crate) fn on_ack(&mut self, packets: &[Acked]) -> Option<u64> {
        let largest = packets.iter().map(|packet| packet.number).max()?;
        self.acknowledged = true;
        self.usage.on_ack(largest);
        Some(largest)
    }

    /// The application has nothing more to send, while there is `room` or not.
    pub(crate) fn on_application_limited(&mut self, room: bool) {
        self.application_limited = room;
    }

    /// As [`Usage::limited`].
    pub(crate) fn limited(&self, window: u64, slow_start: bool) -> bool {
        self.usage.limited(window, slow_start)
    }

    /// The state of a sender that its window does not hold back.
    pub(crate) fn state(&self) -> Option<State> {
        if !self.acknowledged {
            Some(State::Init)
        } else if self.application_limited {
            Some(State::ApplicationLimited)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filling_the_window_counts_for_a_round() {
        let mut usage = Usage::default();
        usage.on_sent(0, 10, false);
        usage.on_sent(1, 100, true);
        usage.on_sent(2, 50, false);
        assert!(usage.limited(100, false));
        usage.on_ack(1);
        assert!(usage.limited(100, false), "until the next round's first packet");
        usage.on_sent(3, 20, false);
        assert!(!usage.limited(100, false));
    }

    #[test]
    fn slow_start_needs_more_than_half_the_window() {
        let mut usage = Usage::default();
        usage.on_sent(0, 51, false);
        assert!(usage.limited(100, true));
        assert!(!usage.limited(102, true));
        assert!(!usage.limited(100, false));
    }

    #[test]
    fn an_application_that_fills_the_window_is_no_limit() {
        let mut sending = Sending::default();
        assert_eq!(sending.state(), Some(State::Init));
        assert_eq!(sending.on_ack(&[]), None);
        assert_eq!(sending.state(), Some(State::Init));
        let packet = |number| Acked { number, bytes: 10, sent_at: std::time::Duration::ZERO };
        assert_eq!(sending.on_ack(&[packet(4), packet(7), packet(5)]), Some(7));
        assert_eq!(sending.state(), None);
        sending.on_application_limited(true);
        sending.on_sent(8, 10, false);
        assert_eq!(sending.state(), Some(State::ApplicationLimited));
        sending.on_sent(9, 100, true);
        assert_eq!(sending.state(), None);
    }
}
