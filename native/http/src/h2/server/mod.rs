//! The server's side of a connection: responses, and what is sent when.

mod frames;

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_schedule::{Priority, Strategy};
use headway_wire::fields::ContentLength;
use headway_wire::h2::{
    DEFAULT_WINDOW, Error, ErrorCode, MAX_STREAM, Role, Scope, Settings, encode,
};
use headway_wire::{Fields, Response};

use super::flow::{ReceiveWindow, StreamWindow};
use super::history::History;
use super::link::{FRAME_HEADER_BYTES, Link};
use super::turns::Turns;
use crate::counts::HeaderCounts;
use crate::event::{RequestId, ServerEvent};
use crate::limits::{Limits, Meters};
use crate::priorities::Priorities;
use crate::service::{Body, Reply};
use crate::side::{Awaits, Fault, ServerSide};

/// What a request takes from its head to the end of the response, beside what the client chose: 1.3 kB, measured,
/// and something to spare.
const STREAM_BYTES: u64 = 2000;

/// What a server does.
#[derive(Clone, Copy, Debug)]
pub struct ServerOptions {
    /// In which order content is sent, by what clients say.
    pub strategy: Strategy,
    /// Who decides how important responses are; if it is the server, the order is its own, too.
    pub priorities: Priorities,
    /// Content of a DATA frame, at most, in bytes: what the scheduler decides on.
    ///
    /// The default of 1400 makes a frame about what a TCP segment on Ethernet carries (1448 bytes
    /// less the frame's header and its share of TLS), so that streams alternate as they do in QUIC,
    /// packet by packet. Larger frames cost less and alternate more coarsely.
    pub frame_bytes: usize,
    /// The same of a response that is the only one, since nothing waits for the end of its frames.
    pub lone_frame_bytes: usize,
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    pub max_streams: u32,
    /// What a client may do how often, before the connection ends with ENHANCE_YOUR_CALM.
    pub limits: Limits,
    /// HPACK's dynamic table for responses, in bytes, if the client allows it; 0 is none.
    pub table_bytes: u32,
    /// SETTINGS_INITIAL_WINDOW_SIZE: what a client may send on a stream without being told to go on,
    /// in bytes.
    pub stream_window_bytes: u32,
    /// The same for the connection.
    pub connection_window_bytes: u32,
    /// Clients may ask for WebSocket (RFC 8441): SETTINGS_ENABLE_CONNECT_PROTOCOL.
    pub takes_websockets: bool,
    /// How much of a request's content is kept for the program, in bytes; the rest is thrown away.
    pub kept_content_bytes: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            strategy: Strategy::Rfc9218,
            priorities: Priorities::Browser,
            frame_bytes: 1400,
            lone_frame_bytes: 16 << 10,
            max_streams: 1000,
            limits: Limits::default(),
            table_bytes: 0,
            stream_window_bytes: DEFAULT_WINDOW,
            connection_window_bytes: DEFAULT_WINDOW,
            takes_websockets: false,
            kept_content_bytes: 0,
        }
    }
}

/// A stream from its request to the end of both its halves.
struct Stream {
    /// The request's content may still come.
    remote_open: bool,
    /// The client asks before it sends the content.
    asks: bool,
    content_bytes: u64,
    /// The first of it, as much as is kept.
    content: BytesMut,
    /// The program is told content piece by piece.
    tells_content: bool,
    length: ContentLength,
    receive_window: ReceiveWindow,
    send_window: StreamWindow,
    priority: Priority,
    /// Once the response is under way.
    body: Option<Body>,
    /// What follows content that grows, once that is complete.
    trailers: Option<Fields>,
    sent_bytes: u64,
}

/// The server's side of a connection.
///
/// DATA frames are made one at a time, when [`Server::send`] is called, each for the stream that
/// the scheduler picks at that moment. All other frames go before them.
pub struct Server {
    link: Link,
    options: ServerOptions,
    turns: Turns,
    streams: BTreeMap<u32, Stream>,
    /// No stream's is above.
    highest_window: StreamWindow,
    meters: Meters,
    now: Option<Instant>,
    last_stream: u32,
    history: History,
    early_priorities: BTreeMap<u32, Priority>,
    going_away: bool,
    events: VecDeque<ServerEvent>,
}

impl Server {
    /// The start of a connection.
    #[must_use]
    pub fn new(options: ServerOptions) -> Self {
        let strategy = options.priorities.strategy(options.strategy);
        let looks_at_them =
            options.priorities == Priorities::Browser && strategy != Strategy::Rfc9218;
        let settings = Settings {
            max_concurrent_streams: Some(options.max_streams),
            // RFC 9218, section 2.1: the client need not send what is not looked at.
            no_rfc7540_priorities: (!looks_at_them).then_some(true),
            initial_window_size: Some(options.stream_window_bytes.min(MAX_STREAM))
                .filter(|&bytes| bytes != DEFAULT_WINDOW),
            enable_connect_protocol: options.takes_websockets.then_some(true),
            ..Settings::default()
        };
        Self {
            link: Link::new(
                Role::Server,
                &settings,
                options.connection_window_bytes,
                options.table_bytes,
            ),
            options,
            turns: Turns::new(strategy.scheduler()),
            highest_window: StreamWindow::default(),
            meters: Meters::new(&options.limits),
            now: None,
            streams: BTreeMap::new(),
            last_stream: 0,
            history: History::default(),
            early_priorities: BTreeMap::new(),
            going_away: false,
            events: VecDeque::new(),
        }
    }

    /// The stream whose turn it is, if the connection's window allows content.
    fn pick(&mut self) -> Option<u32> {
        if self.link.has_failed() || self.link.send_window.available() == 0 {
            return None;
        }
        let streams = &self.streams;
        let window = |id| streams.get(&id).map(|stream: &Stream| stream.send_window);
        self.turns.next(self.link.initial_window, window)
    }

    /// How much content the stream's next frame has, of which the header takes some of the room.
    fn frame_length(&self, stream: &Stream, room: usize) -> usize {
        let least = self.options.frame_bytes;
        let most = match self.streams.len() {
            1 => self.options.lone_frame_bytes.min(room.saturating_sub(FRAME_HEADER_BYTES)),
            _ => least,
        };
        let remaining = stream.body.as_ref().map_or(0, Body::remaining);
        usize::try_from(remaining)
            .unwrap_or(usize::MAX)
            .min(most.max(least))
            .min(self.link.max_frame_bytes)
            .min(self.link.send_window.available())
            .min(stream.send_window.available(self.link.initial_window))
    }

    fn send_content(&mut self, id: u32, length: usize, out: &mut BytesMut) {
        // Whatever the client does to streams meanwhile: `pick` names those that are there, with a window,
        // which streams without a response never get from `turns`.
        let stream = self.streams.get_mut(&id).expect("the scheduler knows open streams only");
        let body = stream.body.as_mut().expect("a stream is scheduled once it has a response");
        let ends = body.ends_with(length as u64);
        let start = out.len();
        encode::data_header(id, length, ends, out);
        if let Err(error) = body.read(out, length) {
            out.truncate(start);
            return self.abort(id, ErrorCode::InternalError, &error.to_string());
        }
        stream.sent_bytes += length as u64;
        stream.send_window.take(length);
        self.link.send_window.take(length);
        if ends {
            self.turns.ended(id, length);
            self.finish(id);
        } else if body.remaining() == 0 {
            self.turns.drained(id, length);
            self.send_trailers(id);
        } else {
            self.turns.sent(id, length, stream.send_window, self.link.initial_window);
        }
    }

    /// A response whose content was sent is complete with its trailers, if it is to have any.
    fn send_trailers(&mut self, id: u32) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if let Some(trailers) = stream.trailers.take() {
            self.turns.close(id, stream.send_window);
            self.link.queue_headers(id, trailers.lines(), None, true);
            self.finish(id);
        }
    }

    /// The response is complete. The rest of a request that still comes is of no use
    /// (RFC 9113, section 8.1).
    fn finish(&mut self, id: u32) {
        let Some(stream) = self.streams.remove(&id) else { return };
        if stream.remote_open {
            self.link.queue_reset(id, ErrorCode::NoError);
        } else {
            self.history.ended(id);
        }
        let id = RequestId(id.into());
        self.events.push_back(ServerEvent::Finished { id, sent_bytes: stream.sent_bytes });
    }

    fn abort(&mut self, id: u32, code: ErrorCode, reason: &str) {
        self.link.queue_reset(id, code);
        self.forget(id, reason);
    }

    fn forget(&mut self, id: u32, reason: &str) {
        if let Some(stream) = self.streams.remove(&id) {
            if !stream.remote_open {
                self.history.ended(id);
            }
            self.turns.close(id, stream.send_window);
            self.events.push_back(aborted(id, stream.sent_bytes, reason));
        }
    }

    fn fail(&mut self, error: &Error) {
        match error.scope {
            Scope::Stream(id) => {
                self.abort(id, error.code, &error.to_string());
                self.count(Meters::reset);
            }
            Scope::Connection => {
                self.link.fail(self.last_stream, error);
                self.close(&error.to_string());
            }
        }
    }
}

impl ServerSide for Server {
    fn set_now(&mut self, now: Instant) {
        self.now = Some(now);
    }

    fn receive(&mut self, mut input: Bytes) {
        self.receive_some(&mut input, usize::MAX);
    }

    fn receive_some(&mut self, input: &mut Bytes, events: usize) {
        let mut more = true;
        while more && !self.link.has_failed() && self.events.len() < events {
            match self.link.decode(input, |_| false) {
                Ok(None) => more = false,
                Ok(Some(frame)) => {
                    if let Err(error) = self.frame(frame) {
                        self.fail(&error);
                    }
                }
                Err(error) => self.fail(&error),
            }
            for _ in 0..std::mem::take(&mut self.link.pings) {
                self.count(Meters::ping);
            }
        }
        if self.link.has_failed() {
            input.clear();
        }
    }

    fn close(&mut self, reason: &str) {
        for (id, stream) in std::mem::take(&mut self.streams) {
            self.turns.close(id, stream.send_window);
            self.events.push_back(aborted(id, stream.sent_bytes, reason));
        }
    }

    fn go_away(&mut self) {
        if !self.going_away {
            self.going_away = true;
            self.link.queue_goaway(self.last_stream);
        }
    }

    fn kept(&self) -> u64 {
        let streams = self.streams.values().map(|stream| {
            let waiting = stream.body.as_ref().map_or(0, Body::waiting);
            STREAM_BYTES + stream.content.capacity() as u64 + waiting
        });
        self.link.kept() as u64 + streams.sum::<u64>()
    }

    fn awaits(&self) -> Awaits {
        if self.streams.is_empty() { Awaits::Request } else { Awaits::Nothing }
    }

    fn expire(&mut self, fault: Fault, reason: &str) {
        let code = match fault {
            Fault::Slow => ErrorCode::NoError,
            Fault::Greedy => ErrorCode::EnhanceYourCalm,
        };
        self.link.end(self.last_stream, code, reason);
        self.close(reason);
    }

    fn poll(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    fn proceed(&mut self, id: RequestId) {
        let Ok(id) = u32::try_from(id.0) else { return };
        let asks = self.streams.get_mut(&id).is_some_and(|stream| std::mem::take(&mut stream.asks));
        if asks {
            self.link.queue_headers(id, Response::new(100).lines(), None, false);
        }
    }

    fn inform(&mut self, id: RequestId, interim: &Response) {
        let Ok(id) = u32::try_from(id.0) else { return };
        if self.streams.contains_key(&id) {
            self.link.queue_headers(id, interim.lines(), None, false);
        }
    }

    fn respond(&mut self, id: RequestId, reply: Reply) {
        let Ok(id) = u32::try_from(id.0) else { return };
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let empty = reply.body.ends_with(0);
        self.link.queue_headers(id, reply.response.lines(), None, empty);
        stream.body = Some(reply.body);
        if empty {
            return self.finish(id);
        }
        let (window, initial) = (stream.send_window, self.link.initial_window);
        self.turns.open(id, &stream.priority, window, initial);
        if stream.body.as_ref().is_some_and(Body::is_open) {
            self.turns.drained(id, 0);
        }
    }

    fn extend(&mut self, id: RequestId, content: Bytes, ends: bool) {
        let Ok(id) = u32::try_from(id.0) else { return };
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let Some(body) = stream.body.as_mut().filter(|body| body.is_open()) else { return };
        let was_drained = body.remaining() == 0;
        body.extend(content, ends);
        if body.ends_with(0) {
            self.turns.close(id, stream.send_window);
            self.link.queue_end(id);
            self.finish(id);
        } else if was_drained && body.remaining() > 0 {
            self.turns.filled(id, stream.send_window, self.link.initial_window);
        }
    }

    fn trail(&mut self, id: RequestId, trailers: Fields) {
        let Ok(id) = u32::try_from(id.0) else { return };
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let Some(body) = stream.body.as_ref().filter(|body| body.is_open()) else { return };
        let is_sent = body.remaining() == 0;
        stream.trailers = Some(trailers);
        if is_sent {
            self.send_trailers(id);
        }
    }

    fn header_counts(&self) -> HeaderCounts {
        self.link.header_counts
    }

    fn wants_send(&mut self) -> bool {
        self.link.has_queued() || self.pick().is_some()
    }

    fn wants_input(&self) -> bool {
        self.link.wants_input()
    }

    fn is_finished(&self) -> bool {
        let over = self.link.has_failed() || (self.going_away && self.streams.is_empty());
        over && !self.link.has_queued()
    }

    fn send(&mut self, limit: usize, out: &mut BytesMut) {
        let end = out.len() + limit;
        self.link.send_queued(limit, out);
        // Nothing overtakes what is still queued.
        while !self.link.has_queued() {
            let Some(id) = self.pick() else { break };
            let stream = &self.streams[&id];
            let length = self.frame_length(stream, end.saturating_sub(out.len()));
            let fits = out.len() + FRAME_HEADER_BYTES + length <= end;
            if !fits && out.len() + limit > end {
                break;
            }
            self.send_content(id, length, out);
        }
    }
}

fn aborted(id: u32, sent_bytes: u64, reason: &str) -> ServerEvent {
    ServerEvent::Aborted { id: RequestId(id.into()), sent_bytes, reason: reason.to_owned() }
}
