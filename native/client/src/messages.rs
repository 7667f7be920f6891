//! Options of messages that requests send over time.

use std::time::Duration;

use clap::{Args, ValueEnum};
use headway_messages::framing::Framing;
use headway_messages::message::LEAST_BYTES;
use headway_messages::schedule::Schedule;
use headway_wire::Request;

use crate::values::seconds;

/// What requests say, and how.
#[derive(Debug, Args)]
pub(crate) struct TalkOptions {
    /// Sends messages as content of each request, which is a POST, and reports each answer. Each message has a size in
    /// bytes and is made at its time: SIZE?SCHEDULE, as in the path of headway-server's events
    #[arg(long, value_name = "SIZE?SCHEDULE", value_parser = messages,
          conflicts_with_all = ["range", "resume", "output", "upload", "events"])]
    pub(crate) messages: Option<Messages>,
    /// What carries them
    #[arg(long, default_value = "lengths", requires = "messages")]
    pub(crate) carrier: Carrier,
    /// Gives a request up that is not answered so many seconds after it was sent
    #[arg(long, value_name = "SECONDS", requires = "messages", value_parser = seconds)]
    pub(crate) deadline: Option<Duration>,
}

/// What carries messages, as options call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Carrier {
    /// Content, with the length of each message in front of it
    Lengths,
    /// The same as gRPC has it: with its fields, and grpc-status behind the answers
    Grpc,
    /// WebSocket: RFC 6455, 8441 or 9220, by the version of HTTP
    Websocket,
}

/// Messages that a request sends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Messages {
    /// Size of each.
    pub(crate) bytes: usize,
    /// When each is made, from when the request was sent; of WebSocket, from when it was agreed on.
    pub(crate) schedule: Schedule,
}

impl Carrier {
    /// How messages are framed.
    pub(crate) fn framing(self) -> Framing {
        match self {
            Self::Lengths | Self::Grpc => Framing::Lengths,
            Self::Websocket => Framing::WebSocket,
        }
    }

    /// A request that is to carry messages.
    pub(crate) fn request(self, plain: Request, deadline: Option<Duration>) -> Request {
        if self == Self::Websocket {
            let mut request = Request::websocket(plain.scheme, plain.authority, plain.path);
            request.fields.extend(plain.fields);
            return request;
        }
        let mut request = Request { method: "POST".to_owned(), ..plain };
        if self == Self::Lengths {
            request.fields.push("content-type", "application/octet-stream");
            return request;
        }
        request.fields.push("content-type", "application/grpc");
        request.fields.push("te", "trailers");
        if let Some(deadline) = deadline {
            request.fields.push("grpc-timeout", timeout(deadline));
        }
        request
    }
}

/// A deadline as gRPC writes it: at most eight digits, and a unit.
fn timeout(deadline: Duration) -> String {
    let microseconds = deadline.as_micros();
    if microseconds < 100_000_000 {
        format!("{microseconds}u")
    } else {
        format!("{}m", deadline.as_millis().min(99_999_999))
    }
}

fn messages(text: &str) -> Result<Messages, String> {
    let parts = text.split_once('?');
    let read = parts.and_then(|(bytes, query)| bytes.parse().ok().zip(Schedule::parse(query)));
    let read = read.filter(|(bytes, _)| (LEAST_BYTES..1 << 24).contains(bytes));
    let (bytes, schedule) = read.ok_or_else(|| {
        format!("{text} is not SIZE?SCHEDULE, as 200?interval=0.02&count=50, from {LEAST_BYTES} bytes on")
    })?;
    Ok(Messages { bytes, schedule })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grpc_has_its_fields() {
        let plain = || Request::get("https", "a.test", "/echo/100");
        let request = Carrier::Grpc.request(plain(), Some(Duration::from_millis(1500)));
        let field = |name| request.fields.get(name).map(|value| value.to_vec());
        assert_eq!(field("grpc-timeout"), Some(b"1500000u".to_vec()));
        assert_eq!(field("te"), Some(b"trailers".to_vec()));
        assert_eq!(timeout(Duration::from_secs(200)), "200000m");
        let request = Carrier::Websocket.request(plain(), None);
        assert_eq!((&request.method[..], &request.protocol[..]), ("CONNECT", "websocket"));
        assert_eq!(request.path, "/echo/100");
    }
}
