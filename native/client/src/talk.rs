//! Messages that a request sends over time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;
use headway_messages::framing::Framing;
use headway_messages::message::{Message, unix_ns};
use headway_messages::websocket::{Mask, Opcode, frame};
use ring::rand::{SecureRandom, SystemRandom};

use crate::messages::{Carrier, Messages};

/// What a request has to say.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    messages: Messages,
    carrier: Carrier,
    /// How long its answer may take, from when it was sent.
    deadline: Option<Duration>,
    /// When it is over at the latest, once it was sent.
    ends: Option<Instant>,
    /// When it began, and the same in nanoseconds since 1970.
    began: Option<(Instant, u64)>,
    /// Of the next message, from 1.
    number: u64,
    /// Words that the server wants to have back.
    pings: VecDeque<Vec<u8>>,
}

impl Talk {
    pub(crate) fn new(messages: &Messages, carrier: Carrier, deadline: Option<Duration>) -> Self {
        let messages = messages.clone();
        let pings = VecDeque::new();
        Self { messages, carrier, deadline, ends: None, began: None, number: 1, pings }
    }

    /// The request was sent. WebSocket says nothing before it was agreed on.
    pub(crate) fn sent(&mut self, now: Instant) {
        self.ends = self.deadline.and_then(|deadline| now.checked_add(deadline));
        if self.carrier != Carrier::Websocket {
            self.begin(now);
        }
    }

    /// The response has begun.
    pub(crate) fn answered(&mut self, now: Instant) {
        if self.carrier == Carrier::Websocket {
            self.begin(now);
        }
    }

    fn begin(&mut self, now: Instant) {
        // Sent once more, it begins anew.
        (self.began, self.number) = (Some((now, unix_ns())), 1);
    }

    /// There is nobody to talk to any more.
    pub(crate) fn end(&mut self) {
        (self.began, self.ends) = (None, None);
    }

    /// Whether its time is over.
    pub(crate) fn is_overdue(&self, now: Instant) -> bool {
        self.ends.is_some_and(|at| at <= now)
    }

    /// When something is to be done.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.next().into_iter().chain(self.ends).min()
    }

    /// When the next message is made.
    fn next(&self) -> Option<Instant> {
        let (began, _) = self.began?;
        // One that is beyond all moments never comes.
        began.checked_add(self.messages.schedule.at(self.number)?)
    }

    /// The server asks whether this side is there.
    pub(crate) fn answer(&mut self, pings: Vec<Vec<u8>>) {
        self.pings.extend(pings);
    }

    /// What is to be sent now, if anything, and whether it is the last.
    pub(crate) fn say(&mut self, now: Instant) -> Option<(Bytes, bool)> {
        if let Some(words) = self.pings.pop_front() {
            return Some((frame(Opcode::Pong, &words, mask(self.carrier.framing())).into(), false));
        }
        self.message(now)
    }

    fn message(&mut self, now: Instant) -> Option<(Bytes, bool)> {
        let at = self.next().filter(|&at| at <= now)?;
        let (began, began_ns) = self.began?;
        let after_ns = u64::try_from((at - began).as_nanos()).unwrap_or(u64::MAX);
        let made_ns = began_ns.saturating_add(after_ns);
        let message = Message { number: self.number, made_ns, answered_ns: None };
        self.number += 1;
        let framing = self.carrier.framing();
        let mut content = framing.written(&message.written(self.messages.bytes), mask(framing));
        let is_last = self.number > self.messages.schedule.count();
        if is_last {
            content.extend(framing.end(mask(framing)));
        }
        Some((content.into(), is_last))
    }
}

/// What the next frame is masked with (RFC 6455, section 5.3).
fn mask(framing: Framing) -> Option<Mask> {
    let mut mask = Mask::default();
    (framing == Framing::WebSocket).then(|| {
        SystemRandom::new().fill(&mut mask).expect("the system has random numbers");
        mask
    })
}

#[cfg(test)]
mod tests {
    use headway_messages::schedule::Schedule;

    use super::*;

    fn talk(carrier: Carrier, deadline: Option<Duration>) -> Talk {
        let schedule = Schedule::parse("first=0.01&interval=0.02&count=2").unwrap();
        Talk::new(&Messages { bytes: 100, schedule }, carrier, deadline)
    }

    #[test]
    fn messages_are_made_at_their_times_once_the_request_was_sent() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let mut talk = talk(Carrier::Lengths, None);
        assert_eq!((talk.due(), talk.say(start)), (None, None));
        for _ in 0..2 {
            talk.sent(start);
            assert_eq!((talk.due(), talk.say(start + ms(9))), (Some(start + ms(10)), None));
            let said = |said: Option<(Bytes, bool)>| said.map(|(said, ends)| (said.len(), ends));
            assert_eq!(said(talk.say(start + ms(10))), Some((105, false)));
            assert_eq!(said(talk.say(start + ms(31))), Some((105, true)));
            assert_eq!(talk.due(), None);
        }
        talk.sent(start);
        talk.end();
        assert_eq!(talk.due(), None);
    }

    #[test]
    fn websocket_says_nothing_before_it_was_agreed_on() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let mut talk = talk(Carrier::Websocket, Some(ms(35)));
        talk.sent(start);
        assert_eq!((talk.due(), talk.is_overdue(start + ms(34))), (Some(start + ms(35)), false));
        talk.answered(start + ms(20));
        assert_eq!(talk.due(), Some(start + ms(30)));
        assert!(talk.say(start + ms(30)).is_some() && talk.is_overdue(start + ms(35)));
    }
}
