//! Round trips counted by delivered bytes.

/// A round begins when a packet is delivered that was sent after the previous one began
/// (draft-cardwell-iccrg-bbr-congestion-control-00, section 4.1.1.3).
#[derive(Debug, Default)]
pub(super) struct Round {
    count: u64,
    /// The bytes delivered when the round began.
    begun_at: u64,
    started: bool,
}

impl Round {
    /// A packet was delivered, at whose sending so many bytes had been delivered, of now so many.
    pub(super) fn update(&mut self, prior_delivered: u64, delivered: u64) {
        self.started = prior_delivered >= self.begun_at;
        if self.started {
            self.restart(delivered);
            self.count += 1;
        }
    }

    /// Begins a round now.
    pub(super) fn restart(&mut self, delivered: u64) {
        self.begun_at = delivered;
    }

    /// Whether the last acknowledgement began a round.
    pub(super) fn started(&self) -> bool {
        self.started
    }

    /// Rounds so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }
}
