use std::time::{Duration, Instant};

use crate::message::{Call, Media, Message};

/// How long an answer may take before it is asked for again.
pub(crate) const AGAIN: Duration = Duration::from_millis(200);
/// How often the end is told to a peer that does not answer.
const ENDS: u32 = 25;

/// Sends a call's media, each at its time, and then the end until the peer knows of it.
#[derive(Debug)]
pub(crate) struct Sender {
    call: Call,
    begins: Instant,
    sent: u32,
    ends: u32,
    next_end: Instant,
    acknowledged: bool,
}

impl Sender {
    /// The first datagram is due now.
    pub(crate) fn begin(call: Call, now: Instant) -> Self {
        Self { call, begins: now, sent: 0, ends: 0, next_end: now, acknowledged: false }
    }

    /// The peer knows of the end.
    pub(crate) fn acknowledged(&mut self) {
        self.acknowledged = true;
    }

    /// Whether there is nothing more to send.
    pub(crate) fn is_over(&self) -> bool {
        self.acknowledged || self.ends == ENDS
    }

    /// Datagrams of media that were sent.
    pub(crate) fn sent(&self) -> u32 {
        self.sent
    }

    /// What is due, one message a call.
    ///
    /// # Arguments
    /// * `clock_ns` - the host's clock, for the media's times.
    pub(crate) fn due(&mut self, now: Instant, clock_ns: u64) -> Option<Message> {
        if self.deadline().is_none_or(|at| at > now) {
            return None;
        }
        if self.sent < self.call.count {
            let Call { count, interval_ns, .. } = self.call;
            let media = Media { number: self.sent, sent_ns: clock_ns, count, interval_ns };
            self.sent += 1;
            self.next_end = now;
            return Some(Message::Media(media));
        }
        self.ends += 1;
        self.next_end = now + AGAIN;
        Some(Message::End)
    }

    /// When the next message is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        if self.is_over() {
            return None;
        }
        if self.sent < self.call.count {
            let after_ns = self.call.every_ns.saturating_mul(u64::from(self.sent));
            return self.begins.checked_add(Duration::from_nanos(after_ns));
        }
        Some(self.next_end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Direction;

    fn sender(count: u32, now: Instant) -> Sender {
        let direction = Direction::Download;
        let (every_ns, interval_ns) = (20_000_000, 100_000_000);
        Sender::begin(Call { direction, every_ns, interval_ns, payload_bytes: 100, count }, now)
    }

    #[test]
    fn media_keep_their_times_although_the_program_is_late() {
        let now = Instant::now();
        let mut sender = sender(4, now);
        let numbers = |sender: &mut Sender, after_ms| {
            let at = now + Duration::from_millis(after_ms);
            let mut found = Vec::new();
            while let Some(Message::Media(media)) = sender.due(at, 5) {
                found.push(media.number);
            }
            found
        };
        assert_eq!(numbers(&mut sender, 0), [0]);
        assert_eq!(sender.deadline(), Some(now + Duration::from_millis(20)));
        assert_eq!(numbers(&mut sender, 45), [1, 2]);
        assert_eq!(sender.deadline(), Some(now + Duration::from_millis(60)));
    }

    #[test]
    fn the_end_is_told_until_it_is_known() {
        let now = Instant::now();
        let mut sender = sender(1, now);
        assert!(matches!(sender.due(now, 5), Some(Message::Media(_))));
        assert_eq!(sender.due(now, 5), Some(Message::End));
        assert_eq!(sender.due(now, 5), None);
        assert_eq!(sender.due(now + AGAIN, 5), Some(Message::End));
        sender.acknowledged();
        assert!(sender.is_over() && sender.deadline().is_none());
    }

    #[test]
    fn who_never_answers_is_left() {
        let now = Instant::now();
        let mut sender = sender(1, now);
        let mut ends = 0;
        for step in 0..100 {
            ends += u32::from(sender.due(now + AGAIN * step, 5) == Some(Message::End));
        }
        assert!(ends == ENDS && sender.is_over());
    }
}
