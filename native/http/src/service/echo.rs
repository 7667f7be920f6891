//! Answers to messages, each as soon as it has come.

use std::time::Instant;

use headway_messages::lengths::{Reader, written};
use headway_messages::message::{LEAST_ANSWER_BYTES, Message};

use super::{Conversation, Said};

/// Where messages are answered: `/echo/SIZE`.
const ECHO: &str = "/echo/";
/// An answer has no more bytes.
const MOST_BYTES: usize = 16 << 20;

/// Answers each message of a request's content with one of a size, until the content ends.
pub(super) struct Echo {
    bytes: usize,
    reader: Reader,
    began: Instant,
    /// The same on the clock since 1970.
    began_ns: u64,
    said: Vec<u8>,
    /// When there was something to say first.
    due: Option<Instant>,
    has_heard_all: bool,
}

impl Echo {
    /// For a request for such a path.
    ///
    /// # Arguments
    /// * `began`, `began_ns` - now, on both clocks.
    pub(super) fn parse(path: &str, began: Instant, began_ns: u64) -> Option<Self> {
        let bytes = path.strip_prefix(ECHO)?.parse().ok()?;
        let has_room = (LEAST_ANSWER_BYTES..=MOST_BYTES).contains(&bytes);
        let (reader, said) = (Reader::default(), Vec::new());
        let echo = Self { bytes, reader, began, began_ns, said, due: None, has_heard_all: false };
        has_room.then_some(echo)
    }
}

impl Conversation for Echo {
    fn due(&self) -> Option<Instant> {
        self.due
    }

    fn hear(&mut self, content: &[u8], now: Instant) {
        let after_ns = u64::try_from((now - self.began).as_nanos()).unwrap_or(u64::MAX);
        let answered_ns = Some(self.began_ns.saturating_add(after_ns));
        let Self { bytes, reader, said, .. } = self;
        let read = reader.read(content, |message| {
            if let Some(message) = Message::parse(message) {
                let answer = Message { answered_ns, ..message };
                said.extend(written(&answer.written(*bytes)));
            }
        });
        // Behind what is no message, nothing can be.
        self.has_heard_all |= read.is_err();
        if !self.said.is_empty() || read.is_err() {
            self.due.get_or_insert(now);
        }
    }

    fn hear_end(&mut self, now: Instant) {
        self.has_heard_all = true;
        self.due.get_or_insert(now);
    }

    fn say(&mut self, _now: Instant) -> Said {
        self.due = None;
        Said { content: std::mem::take(&mut self.said).into(), ends: self.has_heard_all }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_message_is_answered_when_all_of_it_has_come() {
        let start = Instant::now();
        let mut echo = Echo::parse("/echo/100", start, 1000).unwrap();
        let message = |number| Message { number, made_ns: 7, answered_ns: None };
        let sent = [written(&message(1).written(80)), written(&message(2).written(80))].concat();
        let later = start + Duration::from_nanos(50);
        echo.hear(&sent[..84], start);
        assert_eq!(echo.due(), None);
        echo.hear(&sent[84..], later);
        assert_eq!(echo.due(), Some(later));
        let Said { content, ends } = echo.say(later);
        let mut answers = Vec::new();
        Reader::default().read(&content, |answer| answers.push(Message::parse(answer))).unwrap();
        let answer = |number| Some(Message { answered_ns: Some(1050), ..message(number) });
        assert_eq!((answers, ends, content.len()), (vec![answer(1), answer(2)], false, 210));
        echo.hear_end(later);
        assert_eq!(
            (echo.due(), echo.say(later)),
            (Some(later), Said { ends: true, ..Said::default() })
        );
        for path in ["/echo/", "/echo/61", "/echo/16777217", "/bytes/100"] {
            assert!(Echo::parse(path, start, 0).is_none(), "{path}");
        }
    }

    #[test]
    fn behind_what_is_no_message_it_ends() {
        let start = Instant::now();
        let mut echo = Echo::parse("/echo/100", start, 0).unwrap();
        echo.hear(&[1, 0, 0, 0, 0], start);
        assert_eq!((echo.due(), echo.say(start).ends), (Some(start), true));
    }
}
