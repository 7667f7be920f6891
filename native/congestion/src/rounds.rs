//! Rounds of packets: from sending a packet to its acknowledgement.

/// Counts rounds by packet number. A round ends when a packet sent after its start is acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    largest_sent: Option<u64>,
    end: Option<u64>,
}

impl Rounds {
    pub(crate) fn on_sent(&mut self, number: u64) {
        self.largest_sent = Some(number);
    }

    /// Whether the acknowledgement of `largest_acked` starts a new round.
    pub(crate) fn starts_with(&mut self, largest_acked: u64) -> bool {
        if self.end.is_some_and(|end| largest_acked <= end) {
            return false;
        }
        self.end = self.largest_sent;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_with_a_packet_sent_after_its_start() {
        let mut rounds = Rounds::default();
        (0..10).for_each(|number| rounds.on_sent(number));
        assert!(rounds.starts_with(0), "the first acknowledgement");
        (10..20).for_each(|number| rounds.on_sent(number));
        assert!(!rounds.starts_with(9), "sent before the round began");
        assert!(rounds.starts_with(10));
    }
}
