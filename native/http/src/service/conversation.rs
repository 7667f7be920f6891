use std::time::Instant;

use bytes::Bytes;
use headway_wire::Fields;

/// Who says what follows the head of a response, over time.
pub trait Conversation {
    /// When there is something to say next.
    fn due(&self) -> Option<Instant>;

    /// Content of the request came.
    fn hear(&mut self, _content: &[u8], _now: Instant) {}

    /// That was all of it.
    fn hear_end(&mut self, _now: Instant) {}

    /// What it keeps of what it heard and has to say, in bytes.
    fn kept(&self) -> usize {
        0
    }

    /// What is to be said by now.
    fn say(&mut self, now: Instant) -> Said;
}

/// Part of what a conversation says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Content of the response.
    pub content: Bytes,
    /// Whether that is the last of it.
    pub ends: bool,
    /// What follows the last of it.
    pub trailers: Fields,
}
