//! What frames messages that go both ways on a request.

use crate::websocket::{Heard, Mask, Opcode};
use crate::{Wrong, lengths, websocket};

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Whose WebSocket frames are masked.
    Client,
    /// Whose are not.
    Server,
}

/// How messages are framed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Behind their lengths.
    #[default]
    Lengths,
    /// As WebSocket's.
    WebSocket,
}

impl Framing {
    /// A message in its frame.
    ///
    /// # Arguments
    /// * `mask` - of a client's WebSocket frame, new for each; none of a server's.
    #[must_use]
    pub fn written(self, message: &[u8], mask: Option<Mask>) -> Vec<u8> {
        match self {
            Self::Lengths => lengths::written(message),
            Self::WebSocket => websocket::frame(Opcode::Binary, message, mask),
        }
    }

    /// What is sent behind the last message.
    #[must_use]
    pub fn end(self, mask: Option<Mask>) -> Vec<u8> {
        match self {
            Self::Lengths => Vec::new(),
            Self::WebSocket => websocket::close(mask),
        }
    }

    /// Reads what somebody sends.
    #[must_use]
    pub fn reader(self, sender: Sender) -> Reader {
        match self {
            Self::Lengths => Reader::Lengths(lengths::Reader::default()),
            Self::WebSocket => Reader::WebSocket(websocket::Reader::new(sender == Sender::Client)),
        }
    }
}

/// Reads messages, however they are framed.
#[derive(Debug)]
pub enum Reader {
    /// Behind their lengths.
    Lengths(lengths::Reader),
    /// As WebSocket's.
    WebSocket(websocket::Reader),
}

impl Reader {
    /// Takes what came.
    ///
    /// # Arguments
    /// * `heard` - is called with what is complete.
    ///
    /// # Errors
    /// What comes is framed otherwise.
    pub fn read(&mut self, piece: &[u8], mut heard: impl FnMut(Heard<'_>)) -> Result<(), Wrong> {
        match self {
            Self::Lengths(reader) => reader.read(piece, |message| heard(Heard::Message(message))),
            Self::WebSocket(reader) => reader.read(piece, heard),
        }
    }

    /// Bytes of a message that is not whole.
    #[must_use]
    pub fn kept(&self) -> usize {
        match self {
            Self::Lengths(reader) => reader.kept(),
            Self::WebSocket(reader) => reader.kept(),
        }
    }

    /// Whether more is to come before the stream may end.
    #[must_use]
    pub fn is_open(&self) -> bool {
        match self {
            Self::Lengths(_) => false,
            Self::WebSocket(reader) => !reader.is_closed(),
        }
    }
}
