//! Messages of a response that come over time.

use headway_messages::events::{MEDIA_TYPE, Reader};
use headway_messages::message::Message;
use headway_wire::Response;

use crate::report::MessageRow;

/// Reads messages off the content of a response.
pub(crate) struct Heard {
    reader: Reader,
    started_unix_s: f64,
    rows: Vec<MessageRow>,
}

impl Heard {
    /// # Arguments
    /// * `started_unix_s` - when the program started, in seconds since 1970.
    pub(crate) fn new(started_unix_s: f64) -> Self {
        Self { reader: Reader::default(), started_unix_s, rows: Vec::new() }
    }

    /// What is wrong with a response that was to be a stream of events.
    pub(crate) fn check(response: &Response) -> Option<String> {
        let kind = response.fields.get("content-type").map(|value| String::from_utf8_lossy(value));
        let is_stream = kind.as_ref().is_some_and(|kind| kind.starts_with(MEDIA_TYPE));
        let kind = kind.unwrap_or("without a type".into());
        (response.status == 200 && !is_stream)
            .then(|| format!("the response is no {MEDIA_TYPE}: it is {kind}"))
    }

    /// Content came.
    pub(crate) fn hear(&mut self, content: &[u8], at_s: f64) {
        let Self { reader, started_unix_s, rows } = self;
        reader.read(content, |data| {
            if let Some(Message { number, made_ns }) = Message::parse(data) {
                let made_s = made_ns as f64 / 1e9 - *started_unix_s;
                rows.push(MessageRow { number, made_s, came_s: at_s });
            }
        });
    }

    /// The messages.
    pub(crate) fn rows(self) -> Vec<MessageRow> {
        self.rows
    }
}
