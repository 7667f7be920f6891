//! Messages of a response that come over time.

use headway_messages::message::Message;
use headway_messages::{events, lengths};
use headway_wire::Response;

use crate::report::MessageRow;

/// What messages a response has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hears {
    /// Server-sent events.
    Events,
    /// Answers to messages of the request.
    Answers,
}

/// Reads messages off the content of a response.
pub(crate) struct Heard {
    reader: Reader,
    started_unix_s: f64,
    rows: Vec<MessageRow>,
}

enum Reader {
    Events(events::Reader),
    Answers(lengths::Reader),
}

impl Heard {
    /// # Arguments
    /// * `started_unix_s` - when the program started, in seconds since 1970.
    pub(crate) fn new(hears: Hears, started_unix_s: f64) -> Self {
        let reader = match hears {
            Hears::Events => Reader::Events(events::Reader::default()),
            Hears::Answers => Reader::Answers(lengths::Reader::default()),
        };
        Self { reader, started_unix_s, rows: Vec::new() }
    }

    /// What is wrong with a response that was to have such messages.
    pub(crate) fn check(&self, response: &Response) -> Option<String> {
        let Reader::Events(_) = self.reader else { return None };
        let kind = response.fields.get("content-type").map(|value| String::from_utf8_lossy(value));
        let is_stream = kind.as_ref().is_some_and(|kind| kind.starts_with(events::MEDIA_TYPE));
        let kind = kind.unwrap_or("without a type".into());
        (response.status == 200 && !is_stream)
            .then(|| format!("the response is no {}: it is {kind}", events::MEDIA_TYPE))
    }

    /// Content came.
    ///
    /// # Returns
    /// What is wrong with it.
    pub(crate) fn hear(&mut self, content: &[u8], at_s: f64) -> Option<String> {
        let Self { reader, started_unix_s, rows } = self;
        let seconds = |unix_ns: u64| unix_ns as f64 / 1e9 - *started_unix_s;
        let message = |data: &[u8]| {
            if let Some(Message { number, made_ns, answered_ns }) = Message::parse(data) {
                let answered_s = answered_ns.map(seconds);
                rows.push(MessageRow {
                    number,
                    made_s: seconds(made_ns),
                    answered_s,
                    came_s: at_s,
                });
            }
        };
        match reader {
            Reader::Events(reader) => {
                reader.read(content, message);
                None
            }
            Reader::Answers(reader) => {
                reader.read(content, message).err().map(|wrong| format!("no message: {wrong:?}"))
            }
        }
    }

    /// The messages.
    pub(crate) fn rows(self) -> Vec<MessageRow> {
        self.rows
    }
}
