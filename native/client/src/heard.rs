//! Messages of a response that come over time.

use headway_messages::message::Message;
use headway_messages::websocket::Heard as Framed;
use headway_messages::{events, framing};
use headway_wire::{Fields, Response};

use crate::messages::Carrier;
use crate::report::MessageRow;

/// What messages a response has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hears {
    /// Server-sent events.
    Events,
    /// Answers to messages of the request.
    Answers(Carrier),
}

/// Reads messages off the content of a response.
pub(crate) struct Heard {
    reader: Reader,
    started_unix_s: f64,
    rows: Vec<MessageRow>,
    /// What the response is to say behind its content, if that is missing.
    missing: Option<&'static str>,
    /// Words to be sent back (RFC 6455, section 5.5.2).
    pings: Vec<Vec<u8>>,
}

/// What gRPC says behind answers: how the call went.
const STATUS: &str = "grpc-status";

enum Reader {
    Events(events::Reader),
    Answers(framing::Reader),
}

impl Heard {
    /// # Arguments
    /// * `started_unix_s` - when the program started, in seconds since 1970.
    pub(crate) fn new(hears: Hears, started_unix_s: f64) -> Self {
        let reader = match hears {
            Hears::Events => Reader::Events(events::Reader::default()),
            Hears::Answers(carrier) => {
                Reader::Answers(carrier.framing().reader(framing::Sender::Server))
            }
        };
        let missing = (hears == Hears::Answers(Carrier::Grpc)).then_some(STATUS);
        Self { reader, started_unix_s, rows: Vec::new(), missing, pings: Vec::new() }
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
        let Self { reader, started_unix_s, rows, pings, .. } = self;
        let seconds = |unix_ns: u64| unix_ns as f64 / 1e9 - *started_unix_s;
        let mut message = |data: &[u8]| {
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
                let heard = |framed: Framed<'_>| match framed {
                    Framed::Message(data) => message(data),
                    Framed::Ping(words) => pings.push(words.to_vec()),
                    Framed::Close => {}
                };
                reader.read(content, heard).err().map(|wrong| wrong.to_string())
            }
        }
    }

    /// Words that are to be sent back.
    pub(crate) fn pings(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.pings)
    }

    /// Fields came behind the content.
    ///
    /// # Returns
    /// What is wrong with them.
    pub(crate) fn trailers(&mut self, fields: &Fields) -> Option<String> {
        self.missing?;
        let status = fields.get(STATUS)?;
        self.missing = None;
        (&status[..] != b"0").then(|| format!("{STATUS} {}", String::from_utf8_lossy(status)))
    }

    /// What is wrong with a response that is over.
    pub(crate) fn end(&self) -> Option<String> {
        match &self.reader {
            Reader::Answers(reader) if reader.is_open() => {
                Some("the server did not close WebSocket before its connection".to_owned())
            }
            _ => self.missing.map(|name| format!("the server sent no {name} behind its answers")),
        }
    }

    /// The messages.
    pub(crate) fn rows(self) -> Vec<MessageRow> {
        self.rows
    }
}
