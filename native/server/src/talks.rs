//! Answers that go on over time.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use headway_http::event::RequestId;
use headway_http::service::{Conversation, Said};

/// The conversations of a connection, and when each has something to say.
#[derive(Default)]
pub(crate) struct Talks {
    open: HashMap<RequestId, Talk>,
    dues: BTreeSet<(Instant, RequestId)>,
}

struct Talk {
    conversation: Box<dyn Conversation>,
    due: Option<Instant>,
}

impl Talks {
    /// One begins.
    pub(crate) fn begin(&mut self, id: RequestId, conversation: Box<dyn Conversation>) {
        self.open.insert(id, Talk { conversation, due: None });
        self.change(id, |_| ());
    }

    /// Content of a request came, if it is part of one.
    pub(crate) fn hear(&mut self, id: RequestId, content: &[u8], now: Instant) {
        self.change(id, |conversation| conversation.hear(content, now));
    }

    /// That was all content of a request.
    pub(crate) fn hear_end(&mut self, id: RequestId, now: Instant) {
        self.change(id, |conversation| conversation.hear_end(now));
    }

    /// One is over, if there is one.
    pub(crate) fn end(&mut self, id: RequestId) {
        if let Some(at) = self.open.remove(&id).and_then(|talk| talk.due) {
            self.dues.remove(&(at, id));
        }
    }

    /// Memory that they take, in bytes.
    pub(crate) fn kept(&self) -> u64 {
        self.open.values().map(|talk| talk.conversation.kept() as u64).sum()
    }

    /// When something is to be said.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.dues.first().map(|&(at, _)| at)
    }

    /// What is to be said next, if it is time.
    pub(crate) fn next(&mut self, now: Instant) -> Option<(RequestId, Said)> {
        let &(_, id) = self.dues.first().filter(|(at, _)| *at <= now)?;
        let said = self.change(id, |conversation| conversation.say(now))?;
        if said.ends {
            self.end(id);
        }
        Some((id, said))
    }

    /// Has a conversation do something, after which it may have something to say at another time.
    fn change<T>(
        &mut self,
        id: RequestId,
        act: impl FnOnce(&mut dyn Conversation) -> T,
    ) -> Option<T> {
        let Talk { conversation, due } = self.open.get_mut(&id)?;
        let outcome = act(conversation.as_mut());
        let before = std::mem::replace(due, conversation.due());
        if before != *due {
            before.map(|at| self.dues.remove(&(at, id)));
            self.dues.extend(due.map(|at| (at, id)));
        }
        Some(outcome)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Says a letter every so often.
    struct Letters {
        left: u32,
        every: Duration,
        next: Instant,
    }

    impl Conversation for Letters {
        fn due(&self) -> Option<Instant> {
            (self.left > 0).then_some(self.next)
        }

        fn say(&mut self, _now: Instant) -> Said {
            self.next += self.every;
            self.left -= 1;
            Said { content: "a".into(), ends: self.left == 0, ..Said::default() }
        }
    }

    #[test]
    fn each_says_what_it_has_to_say_at_its_time() {
        let (start, mut talks) = (Instant::now(), Talks::default());
        let after = |ms| start + Duration::from_millis(ms);
        for (id, left, ms) in [(0, 2, 30), (4, 3, 20), (8, 9, 25)] {
            let every = Duration::from_millis(ms);
            talks.begin(RequestId(id), Box::new(Letters { left, every, next: start + every }));
        }
        talks.end(RequestId(8));
        let mut heard = Vec::new();
        while let Some(at) = talks.due() {
            assert_eq!(talks.next(at - Duration::from_nanos(1)), None);
            let (id, said) = talks.next(at).unwrap();
            heard.push((at, id.0, said.ends));
        }
        let said = [(20, 4, false), (30, 0, false), (40, 4, false), (60, 0, true), (60, 4, true)];
        assert_eq!(heard, said.map(|(ms, id, ends)| (after(ms), id, ends)));
        assert!(talks.open.is_empty());
    }
}
