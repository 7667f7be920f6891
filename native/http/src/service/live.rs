//! Live video: segments that their source makes chunk by chunk while they are sent, and the MPD that says when it began.

use std::time::{Duration, Instant, UNIX_EPOCH};

use bytes::Bytes;
use headway_wire::{Field, Fields, Request, Response};

use super::{Body, Conversation, Generated, Reply, Said, Service};

/// Where live video is: `/live/SIZE?SOURCE`, a segment of that size that begins when the source does, or
/// `/live/SOURCE/FILE`, a file of a video whose segments are `1.m4s`, `2.m4s` and so on.
const LIVE: &str = "/live/";
/// A segment has no more bytes.
const MOST_BYTES: u64 = 256 << 20;
/// Nor more chunks.
const MOST_CHUNKS: u64 = 10_000;
/// Names of files with segments end so.
const SEGMENT_FILE: &str = ".m4s";
/// Names of MPDs end so.
const MPD_FILE: &str = ".mpd";
/// In an MPD, when its source began (ISO/IEC 23009-1, section 5.3.1.2).
const BEGAN: &str = "availabilityStartTime=\"";

/// Makes a video while it is sent: `begins=NANOSECONDS&segment=SECONDS&chunk=SECONDS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// When it began, in nanoseconds since 1970.
    begins_ns: u64,
    segment: Duration,
    chunk: Duration,
    /// Of a segment.
    chunks: u64,
}

impl Source {
    fn parse(query: &str) -> Option<Self> {
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
        let source = Self { begins_ns, segment, chunk, chunks };
        (is_whole && (1..=MOST_CHUNKS).contains(&chunks)).then_some(source)
    }

    /// When it begins with a segment, by its number from 1.
    ///
    /// # Arguments
    /// * `now`, `now_ns` - now, on both clocks.
    fn begins(&self, number: u32, now: Instant, now_ns: u64) -> Option<Instant> {
        let before = self.segment.checked_mul(number.checked_sub(1)?)?;
        let before_ns = u64::try_from(before.as_nanos()).ok()?;
        let begins_ns = self.begins_ns.checked_add(before_ns)?;
        let apart = Duration::from_nanos(begins_ns.abs_diff(now_ns));
        if begins_ns >= now_ns {
            return now.checked_add(apart);
        }
        // The system may have started after the source; then all of it has been made.
        now.checked_sub(apart).or_else(|| now.checked_sub(self.segment))
    }

    /// An MPD that says when it began.
    fn dated(&self, mpd: &str) -> Option<String> {
        let (before, rest) = mpd.split_once(BEGAN)?;
        let (_, after) = rest.split_once('"')?;
        let began = UNIX_EPOCH + Duration::from_nanos(self.begins_ns);
        Some(format!("{before}{BEGAN}{}\"{after}", humantime::format_rfc3339_millis(began)))
    }
}

/// A file of a video that a source makes.
pub(super) struct SourceFile<'a> {
    source: Source,
    /// Path of the file, with its slash in front.
    path: &'a str,
}

impl<'a> SourceFile<'a> {
    /// For a request for such a path.
    pub(super) fn parse(path: &'a str) -> Option<Self> {
        let rest = path.strip_prefix(LIVE)?;
        let slash = rest.find('/')?;
        let source = Source::parse(&rest[..slash])?;
        Some(Self { source, path: &rest[slash..] })
    }

    /// The file as a whole, from who has it: what is not a segment of the source is there from the beginning on.
    pub(super) fn respond(&self, request: &Request, files: &mut dyn Service) -> Reply {
        let reply = files.respond(&self.asks(request));
        if reply.response.status != 200 || !self.path.ends_with(MPD_FILE) {
            return reply;
        }
        self.dated(request, reply)
    }

    /// A segment, which comes over time; `None` of other files.
    ///
    /// # Arguments
    /// * `now`, `now_ns` - now, on both clocks.
    pub(super) fn segment(
        &self,
        request: &Request,
        files: &mut dyn Service,
        now: Instant,
        now_ns: u64,
    ) -> Option<Segment> {
        let (_, name) = self.path.rsplit_once('/')?;
        let number = name.strip_suffix(SEGMENT_FILE)?.parse().ok()?;
        let begins = self.source.begins(number, now, now_ns)?;
        let reply = files.respond(&self.asks(request));
        if reply.response.status != 200 {
            return None;
        }
        Segment::of(self.source, reply.body, begins)
    }

    /// The request for the whole of the file.
    fn asks(&self, request: &Request) -> Request {
        Request { path: self.path.to_owned(), fields: Fields::new(), ..request.clone() }
    }

    fn dated(&self, request: &Request, Reply { response, mut body }: Reply) -> Reply {
        let read = body.take(usize::MAX).ok().and_then(|read| String::from_utf8(read.into()).ok());
        let Some(mpd) = read.and_then(|read| self.source.dated(&read)) else {
            let response = Response { status: 500, fields: Fields::new() };
            return Reply { response, body: Body::empty() };
        };
        let length = Field::new("content-length", mpd.len().to_string());
        // What tells one state of the file from another does not tell one source from another.
        let kept = response.fields.iter().filter(|field| &field.name[..] == b"content-type");
        let fields: Vec<Field> = kept.cloned().chain([length]).collect();
        let response = Response { status: 200, fields: fields.into() };
        let is_head = request.method == "HEAD";
        Reply { response, body: if is_head { Body::empty() } else { Body::Bytes(mpd.into()) } }
    }
}

/// A segment: each chunk of it can be sent when its source has made it.
pub(super) struct Segment {
    bytes: u64,
    content: Body,
    /// When its source began with it.
    begins: Instant,
    chunk: Duration,
    chunks: u64,
    /// Of these, how many were said.
    said: u64,
}

impl Segment {
    /// For a request for the path of a segment without a file: its content is that of a body of its size.
    ///
    /// # Arguments
    /// * `now`, `now_ns` - now, on both clocks.
    pub(super) fn parse(path: &str, now: Instant, now_ns: u64) -> Option<Self> {
        let (bytes, query) = path.strip_prefix(LIVE)?.split_once('?')?;
        let (bytes, source) = (bytes.parse().ok()?, Source::parse(query)?);
        if !(1..=MOST_BYTES).contains(&bytes) {
            return None;
        }
        let content = Body::Generated(Box::new(Generated::new(bytes, 0, bytes)));
        Self::of(source, content, source.begins(1, now, now_ns)?)
    }

    fn of(Source { chunk, chunks, .. }: Source, content: Body, begins: Instant) -> Option<Self> {
        let bytes = content.remaining();
        let segment = Self { bytes, content, begins, chunk, chunks, said: 0 };
        (chunks..=MOST_BYTES).contains(&bytes).then_some(segment)
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
        let length = usize::try_from(length).expect("at most MOST_BYTES");
        // What a file has lost meanwhile is missing in the response, too.
        let content = self.content.take(length).unwrap_or_else(|_| Bytes::new());
        Said { content, ends: self.said == self.chunks, trailers: Fields::new() }
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
        let whole = Body::Generated(Box::new(Generated::new(1003, 0, 1003))).take(1003).unwrap();
        assert_eq!(content, whole);
    }

    /// Has an MPD and a segment.
    struct Film;

    impl Service for Film {
        fn respond(&mut self, request: &Request) -> Reply {
            assert!(request.fields.is_empty(), "parts of a file are not live");
            let (status, content): (_, &[u8]) = match &request.path[..] {
                "/film/a.mpd" => (200, b"<MPD availabilityStartTime=\"1970\" x=\"\"/>"),
                "/film/3.m4s" => (200, b"abcdefg"),
                "/film/b.mpd" => (200, b"<MPD/>"),
                _ => (404, b""),
            };
            let fields = vec![Field::new("content-type", "text/xml"), Field::new("etag", "x")];
            let response = Response { status, fields: fields.into() };
            Reply { response, body: Body::Bytes(Bytes::copy_from_slice(content)) }
        }
    }

    fn get(path: &str) -> Request {
        let mut fields = Fields::new();
        fields.push("range", "bytes=0-1");
        let (scheme, authority) = ("https".to_owned(), "a.test".to_owned());
        let (method, protocol) = ("GET".to_owned(), String::new());
        Request { method, protocol, scheme, authority, path: path.to_owned(), fields }
    }

    #[test]
    fn a_file_is_a_segment_that_begins_after_those_before_it() {
        let (now, ms) = (Instant::now(), Duration::from_millis);
        // The third begins 4 s after the source, which began 3.5 s ago.
        let source = format!("begins={}&segment=2&chunk=1", NOW_NS - 3_500_000_000);
        let request = get(&format!("/live/{source}/film/3.m4s"));
        let file = SourceFile::parse(&request.path).unwrap();
        let mut segment = file.segment(&request, &mut Film, now, NOW_NS).unwrap();
        let mut said = Vec::new();
        while let Some(due) = segment.due() {
            let part = segment.say(due);
            said.push((due - now, part.content, part.ends));
        }
        assert_eq!(said, [(ms(1500), "abc".into(), false), (ms(2500), "defg".into(), true)]);
        for other in ["4.m4s", "0.m4s", "a.mpd", "init.mp4"] {
            let request = get(&format!("/live/{source}/film/{other}"));
            let file = SourceFile::parse(&request.path).unwrap();
            assert!(file.segment(&request, &mut Film, now, NOW_NS).is_none(), "{other}");
        }
    }

    #[test]
    fn an_mpd_says_when_its_source_began() {
        let request = get("/live/begins=1700000000250000000&segment=2&chunk=1/film/a.mpd");
        let file = SourceFile::parse(&request.path).unwrap();
        let mut reply = file.respond(&request, &mut Film);
        let expected = b"<MPD availabilityStartTime=\"2023-11-14T22:13:20.250Z\" x=\"\"/>";
        assert_eq!(reply.body.take(1000).unwrap(), expected[..]);
        let length = expected.len().to_string();
        assert_eq!(reply.response.fields.get("content-length").unwrap(), &length[..]);
        assert_eq!(reply.response.fields.get("etag"), None);
        let request = get("/live/begins=1&segment=2&chunk=1/film/b.mpd");
        let file = SourceFile::parse(&request.path).unwrap();
        assert_eq!(file.respond(&request, &mut Film).response.status, 500);
        for other in ["/live/1?begins=1&segment=2&chunk=1", "/live/begins=1/film/a.mpd", "/film/a"]
        {
            assert!(SourceFile::parse(other).is_none(), "{other}");
        }
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
