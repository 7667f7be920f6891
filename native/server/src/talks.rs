//! Answers that go on over time.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use headway_http::event::RequestId;
use headway_http::service::{Conversation, Said};

/// The conversations of a connection, and when each has something to say.
#[derive(Default)]
pub(crate) struct Talks {
    open: HashMap<RequestId, Box<dyn Conversation>>,
    dues: BTreeSet<(Instant, RequestId)>,
}

impl Talks {
    /// One begins.
    pub(crate) fn begin(&mut self, id: RequestId, conversation: Box<dyn Conversation>) {
        self.dues.extend(conversation.due().map(|at| (at, id)));
        self.open.insert(id, conversation);
    }

    /// One is over, if there is one.
    pub(crate) fn end(&mut self, id: RequestId) {
        if self.open.remove(&id).is_some() {
            self.dues.retain(|&(_, other)| other != id);
        }
    }

    /// When something is to be said.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.dues.first().map(|&(at, _)| at)
    }

    /// What is to be said next, if it is time.
    pub(crate) fn next(&mut self, now: Instant) -> Option<(RequestId, Said)> {
        while let Some(&(at, id)) = self.dues.first().filter(|(at, _)| *at <= now) {
            self.dues.remove(&(at, id));
            let Some(conversation) = self.open.get_mut(&id) else { continue };
            let said = conversation.say(now);
            self.dues.extend(conversation.due().map(|at| (at, id)));
            if said.ends {
                self.end(id);
            }
            return Some((id, said));
        }
        None
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
            Said { content: "a".into(), ends: self.left == 0 }
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
