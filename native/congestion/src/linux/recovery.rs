//! What follows a loss: the window is reduced packet by packet (RFC 6937), until all that was sent before the
//! loss was noticed is delivered.

use std::collections::BTreeSet;

/// What began an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Packets were lost (`TCP_CA_Recovery`).
    Losses,
    /// Packets were marked (`TCP_CA_CWR`).
    Marks,
    /// Nothing was acknowledged for long (`TCP_CA_Loss`).
    TimeOut,
}

/// What an undo restores.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) window: u64,
    pub(super) ssthresh: Option<u64>,
}

/// From a loss until everything sent before it was noticed is delivered. Losses in between reduce nothing.
#[derive(Debug)]
pub(super) struct Episode {
    pub(super) kind: Kind,
    /// The first place beyond it (`high_seq`).
    pub(super) end: u64,
    pub(super) before: Before,
    /// Lost places that may have been delivered nevertheless.
    pub(super) lost: BTreeSet<u64>,
    /// Whether marks prove that it is no mistake.
    pub(super) marked: bool,
    /// Packets delivered and sent since it began (`prr_delivered`, `prr_out`).
    delivered: u64,
    sent: u64,
    /// It ends with the first acknowledgement of a later packet (RFC 9002, section 7.3.2).
    pub(super) is_short: bool,
    /// That packet's number.
    first_sent: Option<u64>,
}

impl Episode {
    pub(super) fn new(kind: Kind, end: u64, before: Before) -> Self {
        let (lost, marked) = (BTreeSet::new(), false);
        let (is_short, first_sent) = (false, None);
        Self { kind, end, before, lost, marked, delivered: 0, sent: 0, is_short, first_sent }
    }

    pub(super) fn on_sent(&mut self, number: u64) {
        self.sent += 1;
        self.first_sent.get_or_insert(number);
    }

    /// Whether it is a short one that this acknowledgement ends.
    pub(super) fn is_short_of(&self, largest: u64) -> bool {
        self.is_short && self.first_sent.is_some_and(|first| largest >= first)
    }

    /// Packets beyond its end that have to be delivered, too: marks are answered by what comes later.
    pub(super) fn needs_later(&self) -> u64 {
        u64::from(self.kind == Kind::Marks)
    }

    /// The window after an acknowledgement of so many packets: proportional rate reduction.
    ///
    /// # Arguments
    /// * `fresh` - the first gap was filled, and nothing more was lost.
    pub(super) fn reduced(
        &mut self,
        in_flight: u64,
        ssthresh: u64,
        delivered: u64,
        fresh: bool,
    ) -> u64 {
        self.delivered += delivered;
        let may = if in_flight > ssthresh {
            let share = u128::from(ssthresh) * u128::from(self.delivered);
            let due = share.div_ceil(u128::from(self.before.window.max(1)));
            u64::try_from(due).unwrap_or(u64::MAX).saturating_sub(self.sent)
        } else {
            let owed = self.delivered.saturating_sub(self.sent).max(delivered);
            (owed + u64::from(fresh)).min(ssthresh - in_flight)
        };
        let least = u64::from(self.sent == 0);
        in_flight + may.max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(window: u64) -> Episode {
        Episode::new(Kind::Losses, 100, Before { window, ssthresh: None })
    }

    #[test]
    fn the_window_shrinks_with_what_is_delivered() {
        // From 20 to 10: a packet leaves for every second one that arrives.
        let mut episode = episode(20);
        let mut in_flight = 19;
        for delivered in 1..=6 {
            in_flight -= 1;
            let window = episode.reduced(in_flight, 10, 1, false);
            let leaves = window - in_flight;
            assert_eq!(leaves, u64::from(delivered % 2 == 1), "{delivered}");
            (0..leaves).for_each(|_| episode.on_sent(delivered));
            in_flight = window;
        }
    }

    #[test]
    fn below_the_threshold_the_window_is_filled_up_as_fast_as_packets_are_delivered() {
        let mut episode = episode(20);
        episode.on_sent(0);
        assert_eq!(episode.reduced(4, 10, 3, false), 7);
        assert_eq!(episode.reduced(4, 10, 3, true), 10, "6 are owed, and the threshold is 10");
    }

    #[test]
    fn what_was_lost_is_sent_again_at_once() {
        assert_eq!(episode(20).reduced(15, 10, 0, false), 16);
    }
}
