//! Answers to messages, each as soon as it has come.

use std::time::Instant;

use headway_messages::framing::{Framing, Reader, Sender};
use headway_messages::message::{LEAST_ANSWER_BYTES, Message};
use headway_messages::websocket::{Heard, Opcode, frame};
use headway_wire::Fields;

use super::{Conversation, Said};

/// Where messages are answered: `/echo/SIZE`.
const ECHO: &str = "/echo/";
/// An answer has no more bytes.
const MOST_BYTES: usize = 16 << 20;
/// Answers that wait to be sent have no more bytes, or the conversation ends.
const MOST_WAITING_BYTES: usize = 64 << 20;

/// Answers each message of a request's content with one of a size, until the content ends.
pub(super) struct Echo {
    bytes: usize,
    framing: Framing,
    reader: Reader,
    /// What follows the last answer.
    trailers: Fields,
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
    pub(super) fn parse(
        path: &str,
        framing: Framing,
        began: Instant,
        began_ns: u64,
    ) -> Option<Self> {
        let bytes = path.strip_prefix(ECHO)?.parse().ok()?;
        let has_room = (LEAST_ANSWER_BYTES..=MOST_BYTES).contains(&bytes);
        has_room.then(|| Self {
            bytes,
            framing,
            reader: framing.reader(Sender::Client),
            trailers: Fields::new(),
            began,
            began_ns,
            said: Vec::new(),
            due: None,
            has_heard_all: false,
        })
    }

    /// The same, and these fields follow the last answer.
    pub(super) fn with_trailers(self, trailers: Fields) -> Self {
        Self { trailers, ..self }
    }

    /// That was all, and is answered with what ends the answers.
    fn end(&mut self, now: Instant) {
        if !std::mem::replace(&mut self.has_heard_all, true) {
            self.said.extend(self.framing.end(None));
            self.due.get_or_insert(now);
        }
    }
}

impl Conversation for Echo {
    fn due(&self) -> Option<Instant> {
        self.due
    }

    fn hear(&mut self, content: &[u8], now: Instant) {
        let after_ns = u64::try_from((now - self.began).as_nanos()).unwrap_or(u64::MAX);
        let answered_ns = Some(self.began_ns.saturating_add(after_ns));
        let Self { bytes, framing, reader, said, .. } = self;
        let mut is_over = false;
        let read = reader.read(content, |heard| match heard {
            Heard::Message(message) => {
                if said.len() > MOST_WAITING_BYTES {
                    // Nobody can have asked for so much in a good cause.
                } else if let Some(message) = Message::parse(message) {
                    let answer = Message { answered_ns, ..message };
                    said.extend(framing.written(&answer.written(*bytes), None));
                }
            }
            Heard::Ping(words) => said.extend(frame(Opcode::Pong, words, None)),
            Heard::Close => is_over = true,
        });
        if self.said.len() > MOST_WAITING_BYTES {
            self.said.clear();
            is_over = true;
        }
        if !self.said.is_empty() {
            self.due.get_or_insert(now);
        }
        // Behind what is no message, nothing can be.
        if is_over || read.is_err() {
            self.end(now);
        }
    }

    fn kept(&self) -> usize {
        self.said.len() + self.reader.kept()
    }

    fn hear_end(&mut self, now: Instant) {
        self.end(now);
    }

    fn say(&mut self, _now: Instant) -> Said {
        self.due = None;
        let ends = self.has_heard_all;
        let trailers = if ends { std::mem::take(&mut self.trailers) } else { Fields::new() };
        Said { content: std::mem::take(&mut self.said).into(), ends, trailers }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MASK: Option<[u8; 4]> = Some([1, 2, 3, 4]);

    fn message(number: u64) -> Message {
        Message { number, made_ns: 7, answered_ns: None }
    }

    #[test]
    fn each_message_is_answered_when_all_of_it_has_come() {
        for framing in [Framing::Lengths, Framing::WebSocket] {
            let start = Instant::now();
            let echo = Echo::parse("/echo/100", framing, start, 1000).unwrap();
            let mut trailers = Fields::new();
            trailers.push("grpc-status", "0");
            let mut echo = echo.with_trailers(trailers.clone());
            let sent = [1, 2].map(|number| framing.written(&message(number).written(80), MASK));
            let sent = sent.concat();
            let later = start + Duration::from_nanos(50);
            echo.hear(&sent[..80], start);
            assert_eq!(echo.due(), None);
            echo.hear(&sent[80..], later);
            assert_eq!(echo.due(), Some(later));
            let said = echo.say(later);
            let mut answers = Vec::new();
            let hear = |heard: Heard<'_>| {
                if let Heard::Message(text) = heard {
                    answers.push(Message::parse(text));
                }
            };
            framing.reader(Sender::Server).read(&said.content, hear).unwrap();
            let answer = |number| Some(Message { answered_ns: Some(1050), ..message(number) });
            assert_eq!((answers, said.ends), (vec![answer(1), answer(2)], false));
            assert!(said.trailers.is_empty());
            echo.hear(&framing.end(MASK), later);
            echo.hear_end(later);
            let last = Said { content: framing.end(None).into(), ends: true, trailers };
            assert_eq!((echo.due(), echo.say(later)), (Some(later), last));
            assert_eq!(echo.due(), None);
        }
        for path in ["/echo/", "/echo/61", "/echo/16777217", "/bytes/100"] {
            let none = Echo::parse(path, Framing::Lengths, Instant::now(), 0);
            assert!(none.is_none(), "{path}");
        }
    }

    #[test]
    fn behind_what_is_no_message_it_ends() {
        for (framing, wrong) in
            [(Framing::Lengths, [1, 0, 0, 0, 0]), (Framing::WebSocket, [0x82, 0, 0, 0, 0])]
        {
            let start = Instant::now();
            let mut echo = Echo::parse("/echo/100", framing, start, 0).unwrap();
            echo.hear(&wrong, start);
            assert_eq!((echo.due(), echo.say(start).ends), (Some(start), true));
        }
    }

    #[test]
    fn a_ping_is_answered() {
        let start = Instant::now();
        let mut echo = Echo::parse("/echo/100", Framing::WebSocket, start, 0).unwrap();
        echo.hear(&frame(Opcode::Ping, b"here?", MASK), start);
        assert_eq!(echo.say(start).content, frame(Opcode::Pong, b"here?", None));
    }
}
