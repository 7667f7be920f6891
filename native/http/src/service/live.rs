//! Segments of live video, whose source makes them chunk by chunk while they are sent.

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use headway_wire::Fields;

use super::{Conversation, Generated, Said};

/// Where segments of live video are: `/live/SIZE?begins=NANOSECONDS&segment=SECONDS&chunk=SECONDS`.
const LIVE: &str = "/live/";
/// A segment has no more bytes.
const MOST_BYTES: u64 = 256 << 20;
/// Nor more chunks.
const MOST_CHUNKS: u64 = 10_000;

/// A segment: its content is that of a body of its size, and each chunk of it can be sent when its source has made it.
pub(super) struct Segment {
    bytes: u64,
    content: Generated,
    /// When its source began with it.
    begins: Instant,
    chunk: Duration,
    chunks: u64,
    /// Of these, how many were said.
    said: u64,
}

impl Segment {
    /// For a request for such a path.
    ///
    /// # Arguments
    /// * `now`, `now_ns` - now, on both clocks.
    pub(super) fn parse(path: &str, now: Instant, now_ns: u64) -> Option<Self> {
        let (bytes, query) = path.strip_prefix(LIVE)?.split_once('?')?;
        let bytes = bytes.parse().ok()?;
        let (mut begins_ns, mut segment, mut chunk) = (None, None, None);
        for part in query.split('&') {
            match part.split_once('=')? {
                ("begins", value) => begins_ns = value.parse().ok(),
                ("segment", value) => segment = seconds(value),
                ("chunk", value) => chunk = seconds(value),
                _ => return None,
            }
        }
        let (begins_ns, segment, chunk): (u64, Duration, Duration) = (begins_ns?, segment?, chunk?);
        let chunks = u64::try_from(segment.as_nanos().checked_div(chunk.as_nanos())?).ok()?;
        let is_whole = segment.as_nanos() == chunk.as_nanos() * u128::from(chunks);
        if !is_whole
            || !(1..=MOST_CHUNKS).contains(&chunks)
            || !(chunks..=MOST_BYTES).contains(&bytes)
        {
            return None;
        }
        let apart = Duration::from_nanos(begins_ns.abs_diff(now_ns));
        let begins =
            if begins_ns < now_ns { now.checked_sub(apart) } else { now.checked_add(apart) };
        let content = Generated::new(bytes, 0, bytes);
        // The system may have started after the source; then all of it has been made.
        let begins = begins.unwrap_or(now.checked_sub(segment)?);
        Some(Self { bytes, content, begins, chunk, chunks, said: 0 })
    }

    /// When a chunk was made, by its number from 1.
    fn made(&self, number: u64) -> Option<Instant> {
        let after = self.chunk.checked_mul(u32::try_from(number).ok()?)?;
        self.begins.checked_add(after)
    }

    /// Bytes of so many chunks.
    fn end(&self, chunks: u64) -> u64 {
        self.bytes * chunks / self.chunks
    }
}

impl Conversation for Segment {
    fn due(&self) -> Option<Instant> {
        if self.said < self.chunks { self.made(self.said + 1) } else { None }
    }

    fn say(&mut self, now: Instant) -> Said {
        let before = self.said;
        while self.due().is_some_and(|made| made <= now) {
            self.said += 1;
        }
        let length = self.end(self.said) - self.end(before);
        let mut content = BytesMut::new();
        self.content.read(&mut content, usize::try_from(length).expect("at most MOST_BYTES"));
        let (content, ends): (Bytes, bool) = (content.freeze(), self.said == self.chunks);
        Said { content, ends, trailers: Fields::new() }
    }
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_NS: u64 = 1_700_000_000_000_000_000;

    #[test]
    fn what_was_made_is_said_at_once_and_the_rest_when_it_is_made() {
        let (now, ms) = (Instant::now(), Duration::from_millis);
        let path = format!("/live/1003?begins={}&segment=2&chunk=0.5", NOW_NS - 1_200_000_000);
        let mut segment = Segment::parse(&path, now, NOW_NS).unwrap();
        let mut said = Vec::new();
        let mut content = Vec::new();
        while let Some(due) = segment.due() {
            let at = due.max(now);
            let part = segment.say(at);
            said.push((at - now, part.content.len(), part.ends));
            content.extend(part.content);
        }
        assert_eq!(said, [(ms(0), 501, false), (ms(300), 251, false), (ms(800), 251, true)]);
        let mut whole = BytesMut::new();
        Generated::new(1003, 0, 1003).read(&mut whole, 1003);
        assert_eq!(content, whole);
    }

    #[test]
    fn a_segment_that_is_not_begun_is_waited_for() {
        let now = Instant::now();
        let path = format!("/live/9000?begins={}&segment=1&chunk=1", NOW_NS + 3_000_000_000);
        let segment = Segment::parse(&path, now, NOW_NS).unwrap();
        assert_eq!(segment.due(), Some(now + Duration::from_secs(4)));
    }

    #[test]
    fn other_paths_are_no_segments() {
        for path in [
            "/live/100",
            "/live/100?begins=1&segment=2",
            "/live/100?begins=1&segment=2&chunk=0.7",
            "/live/100?begins=1&segment=2&chunk=0",
            "/live/100?begins=-1&segment=2&chunk=1",
            "/live/1?begins=1&segment=2&chunk=1",
            "/live/999999999?begins=1&segment=2&chunk=1",
            "/live/100?begins=1&segment=2&chunk=1&x=1",
            "/events/100?begins=1&segment=2&chunk=1",
        ] {
            assert!(Segment::parse(path, Instant::now(), NOW_NS).is_none(), "{path}");
        }
    }
}
