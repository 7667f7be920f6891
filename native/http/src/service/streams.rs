//! Responses whose content is made over time.

use std::time::{Duration, Instant};

use headway_messages::events::{LEAST_EVENT_BYTES, MEDIA_TYPE, written};
use headway_messages::framing::Framing;
use headway_messages::message::{Message, unix_ns};
use headway_messages::schedule::Schedule;
use headway_wire::fields::WEBSOCKET;
use headway_wire::{Fields, Request, Response};

use super::deadline::{TIMEOUT, Timely, parse_timeout};
use super::echo::Echo;
use super::live::{Segment, SourceFile};
use super::{Conversation, Reply, Said, Service};

/// Where streams of events are: `/events/SIZE?SCHEDULE`.
const EVENTS: &str = "/events/";
/// An event has no more bytes.
const MOST_EVENT_BYTES: usize = 16 << 20;

/// Of content that is messages behind their lengths.
const MESSAGES: &str = "application/octet-stream";

/// Of segments of video (ISO/IEC 23000-19).
const SEGMENTS: &str = "video/mp4";

/// Of what gRPC sends.
const GRPC: &str = "application/grpc";

/// Answers GET of `/events/SIZE?SCHEDULE` with server-sent events of that size, each made at its time
/// ([`Schedule`]), and of `/live/SIZE?...` and `/live/.../FILE` with live video ([`Segment`], [`SourceFile`]).
///
/// Answers POST to `/echo/SIZE`, whose content is messages, with a message of that size for each: as gRPC does if they
/// are of its type, with its trailers, and until the request's deadline. The same path answers messages of WebSocket.
/// Other requests are another service's.
pub struct Streams {
    others: Box<dyn Service>,
}

impl Streams {
    /// Before a service that answers other requests.
    #[must_use]
    pub fn before(others: Box<dyn Service>) -> Self {
        Self { others }
    }
}

impl Service for Streams {
    fn respond(&mut self, request: &Request) -> Reply {
        match SourceFile::parse(&request.path) {
            Some(file) => file.respond(request, &mut *self.others),
            None => self.others.respond(request),
        }
    }

    fn converse(
        &mut self,
        request: &Request,
        now: Instant,
    ) -> Option<(Response, Box<dyn Conversation>)> {
        let (kind, conversation): (_, Box<dyn Conversation>) = match &request.method[..] {
            "GET" => match SourceFile::parse(&request.path) {
                Some(file) => {
                    let segment = file.segment(request, &mut *self.others, now, unix_ns())?;
                    (SEGMENTS, Box::new(segment))
                }
                None => made_over_time(&request.path, now)?,
            },
            "POST" => messages(request, now)?,
            "CONNECT" if request.protocol == WEBSOCKET => {
                let echo = Echo::parse(&request.path, Framing::WebSocket, now, unix_ns())?;
                return Some((Response::new(200), Box::new(echo)));
            }
            _ => return self.others.converse(request, now),
        };
        let mut response = Response::new(200);
        response.fields.push("content-type", kind);
        response.fields.push("cache-control", "no-store");
        Some((response, conversation))
    }

    fn awaits_content(&self, request: &Request) -> bool {
        self.others.awaits_content(request)
    }

    fn acknowledge(&mut self, request: &Request, content_bytes: u64) -> Reply {
        self.others.acknowledge(request, content_bytes)
    }
}

/// What is made at its own times, and of what type it is.
fn made_over_time(path: &str, now: Instant) -> Option<(&'static str, Box<dyn Conversation>)> {
    if let Some(segment) = Segment::parse(path, now, unix_ns()) {
        return Some((SEGMENTS, Box::new(segment)));
    }
    Some((MEDIA_TYPE, Box::new(Events::parse(path, now, unix_ns())?)))
}

/// Who answers messages behind their lengths, and of what type the answers are.
fn messages(request: &Request, now: Instant) -> Option<(&'static str, Box<dyn Conversation>)> {
    let echo = Echo::parse(&request.path, Framing::Lengths, now, unix_ns())?;
    let is_grpc =
        request.fields.get("content-type").is_some_and(|kind| kind.starts_with(GRPC.as_bytes()));
    if !is_grpc {
        return Some((MESSAGES, Box::new(echo)));
    }
    let mut trailers = Fields::new();
    trailers.push("grpc-status", "0");
    let talk = Box::new(echo.with_trailers(trailers));
    let timeout = request.fields.get(TIMEOUT).and_then(|value| parse_timeout(value));
    match timeout.and_then(|timeout| now.checked_add(timeout)) {
        Some(until) => Some((GRPC, Box::new(Timely { talk, until }))),
        None => Some((GRPC, talk)),
    }
}

/// A stream of events.
struct Events {
    bytes: usize,
    schedule: Schedule,
    began: Instant,
    /// The same on the clock since 1970.
    began_ns: u64,
    /// Of the next event, from 1.
    number: u64,
}

impl Events {
    fn parse(path: &str, began: Instant, began_ns: u64) -> Option<Self> {
        let (bytes, query) = path.strip_prefix(EVENTS)?.split_once('?')?;
        let bytes = bytes.parse().ok()?;
        let has_room = (LEAST_EVENT_BYTES..=MOST_EVENT_BYTES).contains(&bytes);
        let schedule = Schedule::parse(query).filter(|_| has_room)?;
        Some(Self { bytes, schedule, began, began_ns, number: 1 })
    }

    fn event(&self, after: Duration) -> Vec<u8> {
        let after_ns = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        let made_ns = self.began_ns.saturating_add(after_ns);
        written(&Message { number: self.number, made_ns, answered_ns: None }, self.bytes)
    }
}

impl Conversation for Events {
    fn due(&self) -> Option<Instant> {
        // One that is beyond all moments never comes.
        self.schedule.at(self.number).and_then(|after| self.began.checked_add(after))
    }

    fn say(&mut self, now: Instant) -> Said {
        let mut content = Vec::new();
        while let Some(after) = self.schedule.at(self.number) {
            if self.began + after > now {
                break;
            }
            content.extend(self.event(after));
            self.number += 1;
        }
        let ends = self.number > self.schedule.count();
        Said { content: content.into(), ends, trailers: Fields::new() }
    }
}

#[cfg(test)]
mod tests {
    use headway_messages::events::Reader;

    use super::*;

    #[test]
    fn events_are_made_at_their_times() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let mut events = Events::parse("/events/100?at=0,0.5,0.5,2", start, 1000).unwrap();
        let mut said = Vec::new();
        while let Some(due) = events.due() {
            let Said { content, ends, .. } = events.say(due);
            Reader::default().read(&content, |data| {
                let message = Message::parse(data).unwrap();
                said.push((due - start, message.number, message.made_ns, ends));
            });
            assert_eq!(content.len() % 100, 0);
        }
        let at = |after, number, ends| (ms(after), number, 1000 + after * 1_000_000, ends);
        let expected = [at(0, 1, false), at(500, 2, false), at(500, 3, false), at(2000, 4, true)];
        assert_eq!(said, expected);
    }

    #[test]
    fn other_paths_are_no_streams() {
        for path in [
            "/bytes/100",
            "/events/100",
            "/events/10?count=1",
            "/events/100?x",
            "/events/99999999?",
        ] {
            assert!(Events::parse(path, Instant::now(), 0).is_none(), "{path}");
        }
    }
}
