//! Updates of keys (RFC 9001, section 6).

use std::num::NonZeroU32;

/// Says when keys are to be updated.
#[derive(Debug)]
pub(super) struct KeyUpdates {
    every: Option<u64>,
    sent: u64,
    /// The last packet of the former keys.
    former: Option<u64>,
}

impl KeyUpdates {
    pub(super) fn new(every: Option<NonZeroU32>) -> Self {
        Self { every: every.map(|packets| packets.get().into()), sent: 0, former: None }
    }

    pub(super) fn are_wanted(&self) -> bool {
        self.every.is_some()
    }

    /// Packets were sent, once the handshake was confirmed: only then keys may be updated (section 6.1), and again once
    /// a packet of theirs was acknowledged.
    ///
    /// # Arguments
    /// * `last` - the number of the last packet.
    /// * `acked` - the largest number that was acknowledged.
    ///
    /// # Returns
    /// Whether it is time.
    pub(super) fn sent(&mut self, packets: u64, last: u64, acked: Option<u64>) -> bool {
        let Some(every) = self.every else { return false };
        self.sent += packets;
        let is_due = self.sent >= every && (self.former.is_none() || acked > self.former);
        if is_due {
            (self.sent, self.former) = (0, Some(last));
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_packet_is_followed_by_an_update() {
        let mut updates = KeyUpdates::new(NonZeroU32::new(3));
        let due: Vec<bool> = (1..=9).map(|number| updates.sent(1, number, Some(number))).collect();
        assert_eq!(due, [false, false, true, false, false, true, false, false, true]);
        assert!(!KeyUpdates::new(None).sent(1_000_000, 1_000_000, None));
    }

    #[test]
    fn keys_that_the_peer_has_not_acknowledged_are_not_updated() {
        let mut updates = KeyUpdates::new(NonZeroU32::new(3));
        assert!(updates.sent(5, 4, None));
        assert!(!updates.sent(5, 9, Some(4)));
        assert!(updates.sent(1, 10, Some(5)));
    }
}
