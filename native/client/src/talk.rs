//! Messages that a request sends over time.

use std::time::Instant;

use bytes::Bytes;
use headway_messages::lengths::written;
use headway_messages::message::{Message, unix_ns};

use crate::options::Messages;

/// What a request has to say.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    messages: Messages,
    /// When it began, and the same in nanoseconds since 1970.
    began: Option<(Instant, u64)>,
    /// Of the next message, from 1.
    number: u64,
}

impl Talk {
    pub(crate) fn new(messages: &Messages) -> Self {
        Self { messages: messages.clone(), began: None, number: 1 }
    }

    /// The request was sent.
    pub(crate) fn begin(&mut self, now: Instant) {
        // Sent once more, it begins anew.
        (self.began, self.number) = (Some((now, unix_ns())), 1);
    }

    /// There is nobody to talk to any more.
    pub(crate) fn end(&mut self) {
        self.began = None;
    }

    /// When the next message is made.
    pub(crate) fn due(&self) -> Option<Instant> {
        let (began, _) = self.began?;
        // One that is beyond all moments never comes.
        began.checked_add(self.messages.schedule.at(self.number)?)
    }

    /// The next message, if it is time, and whether it is the last one.
    pub(crate) fn say(&mut self, now: Instant) -> Option<(Bytes, bool)> {
        let at = self.due().filter(|&at| at <= now)?;
        let (began, began_ns) = self.began?;
        let after_ns = u64::try_from((at - began).as_nanos()).unwrap_or(u64::MAX);
        let made_ns = began_ns.saturating_add(after_ns);
        let message = Message { number: self.number, made_ns, answered_ns: None };
        self.number += 1;
        let content = written(&message.written(self.messages.bytes));
        Some((content.into(), self.number > self.messages.schedule.count()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use headway_messages::schedule::Schedule;

    use super::*;

    #[test]
    fn messages_are_made_at_their_times_once_the_request_was_sent() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let schedule = Schedule::parse("first=0.01&interval=0.02&count=2").unwrap();
        let mut talk = Talk::new(&Messages { bytes: 100, schedule });
        assert_eq!((talk.due(), talk.say(start)), (None, None));
        for _ in 0..2 {
            talk.begin(start);
            assert_eq!((talk.due(), talk.say(start + ms(9))), (Some(start + ms(10)), None));
            assert_eq!(
                talk.say(start + ms(10)).map(|(said, ends)| (said.len(), ends)),
                Some((105, false))
            );
            assert_eq!(
                talk.say(start + ms(31)).map(|(said, ends)| (said.len(), ends)),
                Some((105, true))
            );
            assert_eq!(talk.due(), None);
        }
        talk.begin(start);
        talk.end();
        assert_eq!(talk.due(), None);
    }
}
