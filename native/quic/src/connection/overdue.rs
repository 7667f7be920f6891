//! The acknowledgment that quinn-proto forgets to send.

use std::time::{Duration, Instant};

/// Beyond the moment from which quinn-proto lets an ACK frame ride along.
const MARGIN: Duration = Duration::from_millis(2);

/// Watches over the first acknowledgment of a peer that asked for fewer (ACK_FREQUENCY).
///
/// Servers ask together with their handshake. quinn-proto then starts the timer of its largest delay, and
/// stops it when it acknowledges packets of the handshake, as if those ACK frames were of the same space:
/// what comes next waits until so many packets are there as were asked for, or until the peer's probe
/// timeout. A PING of this side takes the ACK frame along, as soon as quinn-proto adds one to other frames.
#[derive(Debug, Default)]
pub(super) struct OverdueAck {
    due: Option<Instant>,
}

impl OverdueAck {
    /// Looks at the connection.
    ///
    /// # Arguments
    /// * `asked` - the peer asked for fewer acknowledgments, and got none since.
    /// * `patience` - a round-trip time and the longest delay of the peer's own acknowledgments.
    pub(super) fn look(&mut self, now: Instant, asked: bool, patience: Duration) {
        self.due = asked.then(|| self.due.unwrap_or(now + patience + MARGIN));
    }

    /// When the acknowledgment is overdue.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Whether it is overdue; it is asked about again later if it still does not come.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgment_in_time_is_not_overdue() {
        let (now, patience) = (Instant::now(), Duration::from_millis(125));
        let mut ack = OverdueAck::default();
        ack.look(now, true, patience);
        ack.look(now + patience, true, patience);
        assert_eq!(ack.due(), Some(now + patience + MARGIN), "from the first look on");
        ack.look(now + patience, false, patience);
        assert!(!ack.take(now + patience * 2));
    }

    #[test]
    fn an_overdue_one_is_asked_for_again() {
        let (now, patience) = (Instant::now(), Duration::from_millis(125));
        let mut ack = OverdueAck::default();
        ack.look(now, true, patience);
        assert!(!ack.take(now + patience));
        let late = now + patience + MARGIN;
        assert!(ack.take(late));
        ack.look(late, true, patience);
        assert_eq!(ack.due(), Some(late + patience + MARGIN));
    }
}
