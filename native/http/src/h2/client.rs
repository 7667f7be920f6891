use std::collections::{BTreeMap, HashMap, VecDeque};

use bytes::{Bytes, BytesMut};
use headway_wire::fields::{ContentLength, trailers};
use headway_wire::h2::{Error, ErrorCode, Frame, MAX_STREAM, Role, Scope, Settings, encode};
use headway_wire::{Dependency, Fields, Response};

use super::flow::{ReceiveWindow, StreamWindow};
use super::history::History;
use super::kept::Kept;
use super::link::{FRAME_HEADER_BYTES, Link, window_too_large};
use crate::event::{Asked, ClientEvent, Failure, Outgoing, RequestId};
use crate::side::ClientSide;

/// What a client does.
#[derive(Clone, Copy, Debug)]
pub struct ClientOptions {
    /// SETTINGS_INITIAL_WINDOW_SIZE: what a server may send on a stream without being told to go
    /// on, in bytes.
    pub stream_window_bytes: u32,
    /// The same for the connection.
    pub connection_window_bytes: u32,
    /// HPACK's dynamic table for requests, in bytes, if the server allows it; 0 is none.
    pub table_bytes: u32,
}

impl Default for ClientOptions {
    /// Large enough that TCP is what limits a transfer.
    fn default() -> Self {
        Self { stream_window_bytes: 16 << 20, connection_window_bytes: 64 << 20, table_bytes: 0 }
    }
}

struct Stream {
    id: RequestId,
    head: bool,
    /// Once the response's head has come.
    length: Option<ContentLength>,
    window: ReceiveWindow,
    /// What came of a response that is read on demand.
    kept: Option<Kept>,
    send_window: StreamWindow,
    /// What is still to be sent of the request, if it has content.
    content: Option<Outgoing>,
}

/// Content of a DATA frame, at most: what fills a TLS record with its header.
const MAX_CONTENT: usize = (16 << 10) - FRAME_HEADER_BYTES;

/// Why an extended CONNECT is not sent.
const NO_PROTOCOLS: &str = "the server takes no WebSocket over HTTP/2: it does not announce SETTINGS_ENABLE_CONNECT_PROTOCOL";

/// The client's side of a connection.
pub struct Client {
    link: Link,
    streams: BTreeMap<u32, Stream>,
    waiting: VecDeque<Asked>,
    names: HashMap<RequestId, u32>,
    next_stream: u32,
    /// The stream that sent content last: others with content go on in turn.
    turn: u32,
    history: History,
    /// The server takes no more requests.
    going_away: bool,
    /// The error that the server ends the connection for, as it said in GOAWAY.
    last_words: Option<String>,
    events: VecDeque<ClientEvent>,
}

impl Client {
    /// The start of a connection.
    #[must_use]
    pub fn new(options: ClientOptions) -> Self {
        let settings = Settings {
            enable_push: Some(false),
            initial_window_size: Some(options.stream_window_bytes.min(MAX_STREAM)),
            ..Settings::default()
        };
        Self {
            link: Link::new(
                Role::Client,
                &settings,
                options.connection_window_bytes,
                options.table_bytes,
            ),
            streams: BTreeMap::new(),
            waiting: VecDeque::new(),
            names: HashMap::new(),
            next_stream: 1,
            turn: 0,
            history: History::default(),
            going_away: false,
            last_words: None,
            events: VecDeque::new(),
        }
    }

    fn may_open(&self) -> bool {
        let Some(next) = self.waiting.front() else { return false };
        // Whether the server takes an extended CONNECT, its settings say (RFC 8441, section 3).
        let is_known = next.request.protocol.is_empty() || self.link.takes_protocols.is_some();
        is_known && !self.is_closed() && {
            self.streams.len() < self.link.max_streams as usize && self.next_stream <= MAX_STREAM
        }
    }

    fn open(&mut self, asked: Asked) {
        if !asked.request.protocol.is_empty() && self.link.takes_protocols != Some(true) {
            let failure = Failure::Connection(NO_PROTOCOLS.to_owned());
            self.events.push_back(ClientEvent::Failed { id: asked.id, failure });
            return;
        }
        let content = asked.content();
        let kept = asked.reads_on_demand.then(Kept::default);
        let Asked { id, request, importance, .. } = asked;
        let stream = self.next_stream;
        self.next_stream += 2;
        let dependency = importance.map(|importance| Dependency {
            parent: importance.parent.and_then(|p| self.names.get(&p)).map(|&s| s.into()),
            weight: importance.weight.clamp(1, 256),
            exclusive: importance.exclusive,
        });
        let ends = content.as_ref().is_none_or(|content| content.body.ends_with(0));
        self.link.queue_headers(stream, request.lines(), dependency.as_ref(), ends);
        self.names.insert(id, stream);
        let (head, window) = (request.method == "HEAD", self.link.new_receive_window());
        let send_window = StreamWindow::default();
        let content = content.filter(|_| !ends);
        self.streams
            .insert(stream, Stream { id, head, length: None, window, kept, send_window, content });
        self.events.push_back(ClientEvent::Sent { id });
    }

    fn fail(&mut self, error: &Error) {
        match error.scope {
            Scope::Stream(stream) => {
                self.link.queue_reset(stream, error.code);
                self.give_up(stream, Failure::Malformed(error.reason));
            }
            Scope::Connection => {
                self.link.fail(0, error);
                self.last_words = None;
                self.close(&format!("the server broke HTTP/2's rules: {error}"), false);
            }
        }
    }

    fn give_up(&mut self, stream: u32, failure: Failure) {
        if let Some(Stream { id, kept, .. }) = self.streams.remove(&stream) {
            self.link.read(kept.map_or(0, |kept| kept.bytes()));
            self.events.push_back(ClientEvent::Failed { id, failure });
        }
    }

    fn frame(&mut self, frame: Frame) -> Result<(), Error> {
        match frame {
            Frame::Headers { stream, block, end_stream, .. } => {
                let fields = self.link.decode_fields(block)?;
                self.check_not_idle(stream)?;
                self.fields(stream, fields, end_stream)
            }
            Frame::Data { stream, data, flow, end_stream } => {
                self.check_not_idle(stream)?;
                self.content(stream, data, flow, end_stream)
            }
            Frame::ResetStream { stream, code } => {
                self.check_not_idle(stream)?;
                self.give_up(stream, reset(code));
                self.history.ended(stream);
                Ok(())
            }
            Frame::Settings(settings) => {
                self.link.apply(&settings);
                let initial = self.link.initial_window;
                let checked = |stream: &Stream| stream.send_window.check(initial);
                let fits = self.streams.values().try_for_each(checked);
                fits.map_err(|_| window_too_large(Scope::Connection))
            }
            Frame::GoAway { last_stream, code, debug } => {
                self.go_away(last_stream, code, &debug);
                Ok(())
            }
            Frame::WindowUpdate { stream, increment } => self.widen(stream, increment),
            _ => Ok(()),
        }
    }

    fn widen(&mut self, number: u32, increment: u32) -> Result<(), Error> {
        self.check_not_idle(number)?;
        let Some(stream) = self.streams.get_mut(&number) else { return Ok(()) };
        let widened = stream.send_window.widen(increment, self.link.initial_window);
        widened.map_err(|_| window_too_large(Scope::Stream(number)))
    }

    /// The stream whose turn it is to send content, if windows allow any.
    fn sender(&self) -> Option<u32> {
        if self.link.send_window.available() == 0 || self.link.has_failed() {
            return None;
        }
        let can = |(_, stream): &(&u32, &Stream)| {
            stream.content.as_ref().is_some_and(Outgoing::is_ready)
                && stream.send_window.available(self.link.initial_window) > 0
        };
        let next = self.streams.range(self.turn + 1..).find(can);
        next.or_else(|| self.streams.iter().find(can)).map(|(&number, _)| number)
    }

    fn send_content(&mut self, number: u32, room: usize, out: &mut BytesMut) {
        let stream = self.streams.get_mut(&number).expect("it was found among them");
        let content = stream.content.as_mut().expect("it has content");
        let length = usize::try_from(content.body.remaining())
            .unwrap_or(usize::MAX)
            .min(room)
            .min(MAX_CONTENT)
            .min(self.link.max_frame_bytes)
            .min(self.link.send_window.available())
            .min(stream.send_window.available(self.link.initial_window));
        let ends = content.body.ends_with(length as u64);
        encode::data_header(number, length, ends, out);
        content.body.read(out, length).expect("content that is computed is always there");
        stream.send_window.take(length);
        self.link.send_window.take(length);
        self.turn = number;
    }

    fn fields(&mut self, number: u32, fields: Fields, end_stream: bool) -> Result<(), Error> {
        let malformed = |malformed| Error::malformed(number, malformed);
        let Some(stream) = self.streams.get_mut(&number) else { return self.history.check(number) };
        if stream.length.is_some() {
            let (id, fields) = (stream.id, trailers(fields).map_err(malformed)?);
            self.events.push_back(ClientEvent::Trailers { id, fields });
            if !end_stream {
                let reason = "trailers without end";
                return Err(Error::stream(number, ErrorCode::ProtocolError, reason));
            }
        } else {
            let response = Response::from_section(fields).map_err(malformed)?;
            if response.is_interim() {
                if end_stream {
                    let reason = "an interim response without a final one";
                    return Err(Error::stream(number, ErrorCode::ProtocolError, reason));
                }
                if response.status == 100 {
                    let id = stream.id;
                    self.events.push_back(ClientEvent::Continued { id });
                    self.proceed(id);
                }
                return Ok(());
            }
            let has_content = response.has_content(stream.head);
            let length = ContentLength::new(&response.fields, has_content).map_err(malformed)?;
            stream.length = Some(length);
            self.events.push_back(ClientEvent::Head { id: stream.id, response });
        }
        if end_stream { self.finish(number) } else { Ok(()) }
    }

    fn content(
        &mut self,
        number: u32,
        data: Bytes,
        flow: u32,
        end_stream: bool,
    ) -> Result<(), Error> {
        let Some(stream) = self.streams.get_mut(&number) else { return self.history.check(number) };
        let content_bytes = data.len();
        let fresh = match &mut stream.kept {
            Some(kept) => {
                if let Err(error) = Link::keep(number, &mut stream.window, flow) {
                    self.link.read(flow);
                    return Err(error);
                }
                // Nobody reads padding.
                self.link.read_stream(number, &mut stream.window, flow - content_bytes as u32);
                kept.push(data, end_stream);
                None
            }
            None => {
                if !end_stream {
                    self.link.count_stream_content(number, &mut stream.window, flow)?;
                }
                Some(data)
            }
        };
        let Some(length) = &mut stream.length else {
            let reason = "content before the response";
            return Err(Error::stream(number, ErrorCode::ProtocolError, reason));
        };
        length.add(content_bytes).map_err(|malformed| Error::malformed(number, malformed))?;
        let Some(data) = fresh else { return self.deliver(number) };
        if !data.is_empty() {
            self.events.push_back(ClientEvent::Data { id: stream.id, data });
        }
        if end_stream { self.finish(number) } else { Ok(()) }
    }

    /// Hands over what the program takes of a response that it reads on demand.
    fn deliver(&mut self, number: u32) -> Result<(), Error> {
        let Some(stream) = self.streams.get_mut(&number) else { return Ok(()) };
        let Some(kept) = &mut stream.kept else { return Ok(()) };
        while let Some(data) = kept.take() {
            self.link.read_stream(number, &mut stream.window, data.len() as u32);
            if !data.is_empty() {
                self.events.push_back(ClientEvent::Data { id: stream.id, data });
            }
        }
        if kept.is_over() { self.finish(number) } else { Ok(()) }
    }

    fn finish(&mut self, number: u32) -> Result<(), Error> {
        let Some(stream) = self.streams.get(&number) else { return Ok(()) };
        let Stream { id, length: Some(length), .. } = stream else { return Ok(()) };
        length.finish().map_err(|malformed| Error::malformed(number, malformed))?;
        let (id, content_bytes) = (*id, stream.content.as_ref().map_or(0, Outgoing::sent_bytes));
        self.events.push_back(ClientEvent::Finished { id, content_bytes });
        let removed = self.streams.remove(&number).and_then(|stream| stream.content);
        if removed.is_some_and(|content| !content.body.ends_with(0)) {
            // What the server answered without is not sent (RFC 9113, section 8.1).
            self.link.queue_reset(number, ErrorCode::Cancel);
        }
        self.history.ended(number);
        Ok(())
    }

    fn go_away(&mut self, last_stream: u32, code: u32, debug: &[u8]) {
        self.going_away = true;
        if code != ErrorCode::NoError.code() {
            let debug = String::from_utf8_lossy(debug);
            let words = format!("the server ended the connection: {} {debug}", code_name(code));
            self.last_words = Some(words.trim_end().to_owned());
        }
        for (_, stream) in self.streams.split_off(&last_stream.saturating_add(1)) {
            let failure = self.last_words.clone().map_or(Failure::Refused, Failure::Connection);
            self.events.push_back(ClientEvent::Failed { id: stream.id, failure });
        }
        for waiting in std::mem::take(&mut self.waiting) {
            let failed = ClientEvent::Failed { id: waiting.id, failure: Failure::Refused };
            self.events.push_back(failed);
        }
    }

    fn check_not_idle(&self, stream: u32) -> Result<(), Error> {
        if stream >= self.next_stream || stream % 2 == 0 {
            return Err(Error::connection(ErrorCode::ProtocolError, "a frame on an idle stream"));
        }
        Ok(())
    }
}

impl ClientSide for Client {
    fn is_free(&self) -> bool {
        !self.is_closed()
    }

    fn ask(&mut self, asked: Asked) {
        if self.is_closed() {
            let id = asked.id;
            self.events.push_back(ClientEvent::Failed { id, failure: Failure::Refused });
        } else {
            self.waiting.push_back(asked);
        }
    }

    fn proceed(&mut self, id: RequestId) {
        let stream = self.names.get(&id).and_then(|number| self.streams.get_mut(number));
        if let Some(content) = stream.and_then(|stream| stream.content.as_mut()) {
            content.is_held = false;
        }
    }

    fn extend(&mut self, id: RequestId, content: Bytes, ends: bool) {
        let Some(&number) = self.names.get(&id) else { return };
        let Some(stream) = self.streams.get_mut(&number) else { return };
        let Some(outgoing) = stream.content.as_mut().filter(|one| one.body.is_open()) else {
            return;
        };
        outgoing.size += content.len() as u64;
        outgoing.body.extend(content, ends);
        if outgoing.body.ends_with(0) {
            self.link.queue_end(number);
        }
    }

    fn cancel(&mut self, id: RequestId) {
        let Some(&number) = self.names.get(&id) else { return };
        if self.streams.contains_key(&number) {
            self.link.queue_reset(number, ErrorCode::Cancel);
            self.give_up(number, Failure::Cancelled);
        }
    }

    fn read(&mut self, id: RequestId, bytes: u64) {
        let Some(&number) = self.names.get(&id) else { return };
        if let Some(kept) = self.streams.get_mut(&number).and_then(|stream| stream.kept.as_mut()) {
            kept.ask(bytes);
            if let Err(error) = self.deliver(number) {
                self.fail(&error);
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.going_away || self.link.has_failed()
    }

    fn poll(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    fn receive(&mut self, mut input: Bytes) {
        while !self.link.has_failed() {
            let streams = &self.streams;
            let keeps = |id| streams.get(&id).is_some_and(|stream: &Stream| stream.kept.is_some());
            match self.link.decode(&mut input, keeps) {
                Ok(None) => break,
                Ok(Some(frame)) => {
                    if let Err(error) = self.frame(frame) {
                        self.fail(&error);
                    }
                }
                Err(error) => self.fail(&error),
            }
        }
    }

    fn close(&mut self, reason: &str, _orderly: bool) {
        self.going_away = true;
        let streams = std::mem::take(&mut self.streams);
        let waiting = std::mem::take(&mut self.waiting);
        let ids = streams.values().map(|stream| stream.id).chain(waiting.iter().map(|w| w.id));
        let failure = Failure::Connection(self.last_words.take().unwrap_or(reason.to_owned()));
        let failed = |id| ClientEvent::Failed { id, failure: failure.clone() };
        self.events.extend(ids.map(failed));
    }

    fn wants_send(&self) -> bool {
        self.link.has_queued() || self.may_open() || self.sender().is_some()
    }

    fn wants_input(&self) -> bool {
        self.link.wants_input()
    }

    fn send(&mut self, limit: usize, out: &mut BytesMut) {
        while self.may_open() {
            if let Some(waiting) = self.waiting.pop_front() {
                self.open(waiting);
            }
        }
        let start = out.len();
        self.link.send_queued(limit, out);
        // Nothing overtakes what is still queued.
        while !self.link.has_queued() {
            let Some(number) = self.sender() else { break };
            let used = out.len() - start;
            // A little room may hold the header and no content: then a frame is sent beyond it.
            let room = limit.saturating_sub(used + FRAME_HEADER_BYTES);
            match (room, used) {
                (0, 1..) => break,
                (room, _) => self.send_content(number, room.max(1), out),
            }
        }
    }
}

fn reset(code: u32) -> Failure {
    match ErrorCode::from_code(code) {
        Some(ErrorCode::RefusedStream) => Failure::Refused,
        _ => Failure::Reset(code_name(code)),
    }
}

fn code_name(code: u32) -> String {
    ErrorCode::from_code(code).map_or_else(|| format!("{code:#x}"), |code| code.name().to_owned())
}
