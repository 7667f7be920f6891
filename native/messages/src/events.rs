//! Server-sent events: `text/event-stream` (WHATWG HTML, section 9.2).

use crate::message::{LEAST_BYTES, Message};

/// Their media type.
pub const MEDIA_TYPE: &str = "text/event-stream";
const BEFORE: &[u8] = b"data: ";
const BEHIND: &[u8] = b"\n\n";
/// Bytes that any event takes.
pub const LEAST_EVENT_BYTES: usize = BEFORE.len() + LEAST_BYTES + BEHIND.len();
/// Bytes of an event that are kept, at most; what is beyond does not say which message it is.
const MOST_KEPT: usize = 64 << 10;

/// An event with a message, of so many bytes altogether.
#[must_use]
pub fn written(message: &Message, bytes: usize) -> Vec<u8> {
    let inner = bytes.saturating_sub(BEFORE.len() + BEHIND.len());
    [BEFORE, &message.written(inner)[..], BEHIND].concat()
}

/// Reads a stream of events.
#[derive(Debug, Default)]
pub struct Reader {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
}

impl Reader {
    /// Takes what came.
    ///
    /// # Arguments
    /// * `event` - is called with the data of each event that is complete.
    pub fn read(&mut self, piece: &[u8], mut event: impl FnMut(&[u8])) {
        for &byte in piece {
            // Lines end with LF, CR, or both.
            let is_second = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if is_second => {}
                b'\n' | b'\r' => self.line(&mut event),
                _ if self.line.len() < MOST_KEPT => self.line.push(byte),
                _ => {}
            }
        }
    }

    fn line(&mut self, event: &mut impl FnMut(&[u8])) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                event(&self.data);
            }
            self.data.clear();
            return;
        }
        let mut parts = line.splitn(2, |&byte| byte == b':');
        let (name, value) = (parts.next(), parts.next().unwrap_or_default());
        if name == Some(b"data") {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.has_data = true;
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let (mut reader, mut events) = (Reader::default(), Vec::new());
        for piece in pieces {
            reader.read(piece, |data| events.push(String::from_utf8_lossy(data).into_owned()));
        }
        events
    }

    #[test]
    fn events_as_the_standard_has_them() {
        let stream = b": a comment\n\ndata: one\ndata:two\r\nid: 7\n\r\nevent: x\n\ndata\r\rdata:  kept\n\nda";
        assert_eq!(events(&[stream]), ["one\ntwo", "", " kept"]);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(bytes in LEAST_EVENT_BYTES..300, count in 1u64..6, cut in 1usize..80) {
            let made_ns = |number| 1_700_000_000_000_000_000 + number;
            let made = |number| Message { number, made_ns: made_ns(number), answered_ns: None };
            let stream: Vec<u8> = (1..=count).flat_map(|n| written(&made(n), bytes)).collect();
            prop_assert_eq!(stream.len() as u64, count * bytes as u64);
            let pieces: Vec<&[u8]> = stream.chunks(cut).collect();
            let read: Vec<_> = events(&pieces).iter().map(|data| Message::parse(data.as_bytes())).collect();
            let expected: Vec<_> = (1..=count).map(|number| Some(made(number))).collect();
            prop_assert_eq!(read, expected);
        }
    }
}
