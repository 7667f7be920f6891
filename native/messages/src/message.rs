//! A message, as it is written into whatever frames it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes that any message takes, before what fills it up: two numbers of 64 bits and a space.
pub const LEAST_BYTES: usize = 20 + 1 + 20;
/// The same of an answer.
pub const LEAST_ANSWER_BYTES: usize = LEAST_BYTES + 1 + 20;

/// What a message says: which one it is, and when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its place in its series, from 1.
    pub number: u64,
    /// When it was made, in nanoseconds since 1970 on the clock of who made it.
    pub made_ns: u64,
    /// Of an answer, when the message was heard and answered, on the clock of who did.
    pub answered_ns: Option<u64>,
}

impl Message {
    /// As text: its numbers, and full stops up to a size.
    ///
    /// # Arguments
    /// * `bytes` - the size; without room for the numbers the message is longer.
    #[must_use]
    pub fn written(&self, bytes: usize) -> Vec<u8> {
        let answered = self.answered_ns.map(|ns| format!(" {ns}")).unwrap_or_default();
        let mut text = format!("{} {}{answered}", self.number, self.made_ns).into_bytes();
        if text.len() < bytes {
            text.push(b' ');
            text.resize(bytes, b'.');
        }
        text
    }

    /// What a text says; `None` if it is no message.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut words = text.split(|&byte| byte == b' ');
        let mut number = || std::str::from_utf8(words.next()?).ok()?.parse().ok();
        Some(Self { number: number()?, made_ns: number()?, answered_ns: number() })
    }
}

/// Now, in nanoseconds since 1970.
#[must_use]
pub fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_size_and_is_read_back() {
        for number in [1, 99_999, u64::MAX] {
            let message = Message { number, made_ns: u64::MAX - number, answered_ns: None };
            let answer = Message { answered_ns: Some(u64::MAX), ..message };
            assert_eq!(Message::parse(&answer.written(LEAST_ANSWER_BYTES)), Some(answer));
            assert_eq!(answer.written(LEAST_ANSWER_BYTES).len(), LEAST_ANSWER_BYTES);
            for bytes in [LEAST_BYTES, LEAST_BYTES + 1, LEAST_BYTES + 2, 5000] {
                let text = message.written(bytes);
                assert_eq!((text.len(), Message::parse(&text)), (bytes, Some(message)));
            }
            assert_eq!(Message::parse(&message.written(0)), Some(message));
        }
    }

    #[test]
    fn what_is_no_message() {
        for text in ["", "1", "1 ", " 1 2", "1  2", "a 2", "-1 2", "1 18446744073709551616"] {
            assert_eq!(Message::parse(text.as_bytes()), None, "{text}");
        }
    }
}
