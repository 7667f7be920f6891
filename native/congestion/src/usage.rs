//! Whether the window is used up, so that it may grow.

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
}
