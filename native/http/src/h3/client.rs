use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_quic::{Connection, Dir, Event, HeadOfLine, Read, StreamId};
use headway_wire::h3::{ControlFrame, Error, ErrorCode, Role, Scope, encode};
use headway_wire::priority::FIELD;
use headway_wire::{Dependency, Field, Fields, Priority, Request};

use super::content::Content;
use super::link::{Compression, Link, close, closing_words, code_name, data_frame};
use super::message::{Message, Part};
use super::open::Open;
use crate::counts::HeaderCounts;
use crate::event::{Asked, ClientEvent, Failure, Importance, Outgoing, RequestId};

/// What is known of a request's stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// The stream it was sent on.
    pub stream: StreamId,
    /// What waited behind gaps of the stream.
    pub head_of_line: HeadOfLine,
}

/// Why an extended CONNECT is not sent.
const NO_PROTOCOLS: &str = "the server takes no WebSocket over HTTP/3: it does not announce SETTINGS_ENABLE_CONNECT_PROTOCOL";

/// The client's side of a connection.
pub struct Client {
    link: Link,
    open: BTreeMap<StreamId, Open>,
    waiting: VecDeque<Asked>,
    exchanges: HashMap<RequestId, Exchange>,
    is_connected: bool,
    is_going_away: bool,
    is_closed: bool,
    events: VecDeque<ClientEvent>,
}

impl Default for Client {
    fn default() -> Self {
        Self::new(Compression::default())
    }
}

impl Client {
    /// The start of a connection.
    #[must_use]
    pub fn new(compression: Compression) -> Self {
        Self {
            link: Link::new(Role::Client, compression),
            open: BTreeMap::new(),
            waiting: VecDeque::new(),
            exchanges: HashMap::new(),
            is_connected: false,
            is_going_away: false,
            is_closed: false,
            events: VecDeque::new(),
        }
    }

    /// Whether the connection takes no more requests.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed || self.is_going_away
    }

    /// Memory that the server makes it keep, in bytes, beside what the QUIC connection keeps.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.link.kept() + self.open.values().map(|open| open.response.kept()).sum::<u64>()
    }

    /// Sends a request as soon as possible, as early data if the connection has keys for that, or
    /// refuses it. Without a connection it waits for the connection's end.
    pub fn ask(&mut self, connection: Option<&mut Connection>, asked: Asked) {
        self.waiting.push_back(asked);
        if let Some(connection) = connection {
            self.send_waiting(connection);
        }
    }

    /// The same of a request without content.
    pub fn request(
        &mut self,
        connection: Option<&mut Connection>,
        id: RequestId,
        request: Request,
        importance: Option<Importance>,
    ) {
        self.ask(connection, Asked::new(id, request, importance));
    }

    /// Sends content that the server was to ask for first, though it has not.
    pub fn proceed(&mut self, connection: &mut Connection, id: RequestId) {
        let Some(stream) = self.exchanges.get(&id).map(|exchange| exchange.stream) else { return };
        let Some(open) = self.open.get_mut(&stream) else { return };
        if let Some(content) = open.content.take() {
            supply(connection, stream, content, &open.sent_bytes);
        }
    }

    /// More comes of the content of a request that [talks](Asked::talks) and was sent: a DATA frame.
    ///
    /// # Arguments
    /// * `ends` - whether that is all.
    pub fn extend(
        &mut self,
        connection: &mut Connection,
        id: RequestId,
        content: Bytes,
        ends: bool,
    ) {
        let Some(stream) = self.exchanges.get(&id).map(|exchange| exchange.stream) else { return };
        let Some(open) = self.open.get_mut(&stream).filter(|open| open.asked.talks) else { return };
        // It talks no longer once that is all.
        open.asked.talks = !ends;
        open.sent_bytes.set(open.sent_bytes.get() + content.len() as u64);
        data_frame(connection, stream, content);
        if ends {
            connection.finish(stream);
        }
    }

    /// Gives up a request that was sent.
    pub fn cancel(&mut self, connection: &mut Connection, id: RequestId) {
        let Some(stream) = self.exchanges.get(&id).map(|exchange| exchange.stream) else { return };
        if self.open.contains_key(&stream) {
            connection.stop(stream, ErrorCode::RequestCancelled.code());
            connection.reset(stream, ErrorCode::RequestCancelled.code());
            self.fail(stream, Failure::Cancelled);
        }
    }

    /// The program takes so many more bytes of a response that it reads on demand
    /// ([`Asked::reads_on_demand`]).
    pub fn read(&mut self, now: Instant, connection: &mut Connection, id: RequestId, bytes: u64) {
        let Some(stream) = self.exchanges.get(&id).map(|exchange| exchange.stream) else { return };
        let Some(open) = self.open.get_mut(&stream) else { return };
        let Some(appetite) = &mut open.appetite else { return };
        *appetite = appetite.saturating_add_unsigned(bytes);
        if let Err(error) = self.read_response(now, connection, stream) {
            close(now, connection, &error);
            self.close(&format!("the server broke HTTP/3's rules: {error}"));
        }
    }

    /// The connection is over: responses under way are incomplete.
    pub fn close(&mut self, reason: &str) {
        self.is_closed = true;
        let open = std::mem::take(&mut self.open).into_values().map(|open| open.asked.id);
        let waiting = std::mem::take(&mut self.waiting).into_iter().map(|asked| asked.id);
        let failure = Failure::Connection(reason.to_owned());
        let failed = open.chain(waiting);
        self.events.extend(failed.map(|id| ClientEvent::Failed { id, failure: failure.clone() }));
    }

    /// Changes a request's priority (PRIORITY_UPDATE, RFC 9218 section 7.2).
    pub fn reprioritise(&mut self, connection: &mut Connection, id: RequestId, to: &Priority) {
        if let Some(exchange) = self.exchanges.get(&id) {
            let mut frame = BytesMut::new();
            let value = to.to_value();
            encode::priority_update(exchange.stream.into(), value.as_bytes(), &mut frame);
            self.link.send(connection, frame.freeze());
        }
    }

    /// What is known of a request that was sent. What waited is known once it is complete.
    #[must_use]
    pub fn exchange(&self, id: RequestId) -> Option<Exchange> {
        self.exchanges.get(&id).copied()
    }

    /// What header fields took.
    #[must_use]
    pub fn header_counts(&self) -> HeaderCounts {
        self.link.header_counts()
    }

    /// What has happened since.
    pub fn poll(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// Handles what QUIC tells.
    pub fn handle(&mut self, now: Instant, connection: &mut Connection, event: Event) {
        if self.is_closed {
            return;
        }
        let result = match event {
            Event::Connected { early_data_accepted } => {
                self.connected(connection, early_data_accepted);
                Ok(())
            }
            Event::Available(_) => {
                self.send_waiting(connection);
                Ok(())
            }
            Event::Opened(stream) if stream.dir() == Dir::Uni => {
                self.link.opened(stream);
                Ok(())
            }
            Event::Opened(_) => Err(Error::connection(
                ErrorCode::StreamCreationError,
                "a bidirectional stream from a server",
            )),
            Event::Readable(stream) if stream.dir() == Dir::Uni => {
                self.read_control(now, connection, stream)
            }
            Event::Readable(stream) => self.read_response(now, connection, stream),
            Event::Closed(reason) => {
                self.close(&closing_words(&reason));
                Ok(())
            }
            Event::Stopped(stream, _) => {
                let result = self.link.stopped(stream);
                if self.open.get(&stream).is_some_and(|open| open.asked.content_bytes.is_some()) {
                    // Whatever is still to come of the content, the response may come all the same.
                    connection.reset(stream, ErrorCode::RequestCancelled.code());
                }
                result
            }
            Event::Writable(_) | Event::Failed(..) | Event::Sent(_) => Ok(()),
        };
        if let Err(error) = result {
            close(now, connection, &error);
            self.close(&format!("the server broke HTTP/3's rules: {error}"));
        } else {
            self.link.acknowledge(connection);
        }
    }

    fn connected(&mut self, connection: &mut Connection, early_data_accepted: bool) {
        self.is_connected = true;
        if !early_data_accepted && self.link.has_started() {
            // The early data was rejected, and its streams are gone.
            for open in std::mem::take(&mut self.open).into_values().rev() {
                self.waiting.push_front(open.asked);
            }
            self.link.restart(connection);
        }
        self.send_waiting(connection);
    }

    fn send_waiting(&mut self, connection: &mut Connection) {
        if self.is_closed() {
            for asked in std::mem::take(&mut self.waiting) {
                let failure = Failure::Refused;
                self.events.push_back(ClientEvent::Failed { id: asked.id, failure });
            }
        }
        if !(self.is_connected || connection.has_early_data()) {
            return;
        }
        self.link.start(connection);
        while let Some(next) = self.waiting.front() {
            // Whether the server takes an extended CONNECT, its settings say (RFC 9220, section 3).
            if !next.request.protocol.is_empty() {
                match self.link.takes_protocols {
                    None => return,
                    Some(true) => {}
                    Some(false) => {
                        self.refuse_protocol();
                        continue;
                    }
                }
            }
            let Some(stream) = connection.open(Dir::Bi) else { return };
            let asked = self.waiting.pop_front().expect("there is one");
            self.send(connection, stream, asked);
        }
    }

    fn refuse_protocol(&mut self) {
        if let Some(asked) = self.waiting.pop_front() {
            let failure = Failure::Connection(NO_PROTOCOLS.to_owned());
            self.events.push_back(ClientEvent::Failed { id: asked.id, failure });
        }
    }

    fn send(&mut self, connection: &mut Connection, stream: StreamId, asked: Asked) {
        let priority = asked.importance.map(|importance| self.priority(&asked.request, importance));
        let mut head = match priority {
            Some(value) => {
                let others = asked.request.fields.iter().filter(|f| f.name != FIELD).cloned();
                let fields = others.chain([Field::new(FIELD, value)]).collect();
                let request = Request { fields, ..asked.request.clone() };
                self.link.headers(connection, stream, request.lines())
            }
            None => self.link.headers(connection, stream, asked.request.lines()),
        };
        let content = asked.content();
        let length = content.as_ref().map_or(0, |content| content.body.remaining());
        let content = content.filter(|_| length > 0);
        if length > 0 {
            encode::data_header(length, &mut head);
        }
        connection.write(stream, head.freeze());
        let exchange = Exchange { stream, head_of_line: HeadOfLine::default() };
        self.exchanges.insert(asked.id, exchange);
        self.events.push_back(ClientEvent::Sent { id: asked.id });
        let sent_bytes = Rc::default();
        let held = match content {
            None if asked.talks => None,
            None => {
                connection.finish(stream);
                None
            }
            Some(content) if content.is_held => Some(content),
            Some(content) => {
                supply(connection, stream, content, &sent_bytes);
                None
            }
        };
        let response = Message::new(Role::Client);
        let appetite = asked.reads_on_demand.then_some(0);
        let open = Open { asked, response, content: held, appetite, sent_bytes };
        self.open.insert(stream, open);
    }

    /// HTTP/3 has no dependencies: they go into the priority field, as Headway's extension of it.
    fn priority(&self, request: &Request, importance: Importance) -> String {
        let parent = importance.parent.and_then(|id| self.exchanges.get(&id));
        let dependency = Dependency {
            parent: parent.map(|exchange| exchange.stream.into()),
            weight: importance.weight.clamp(1, 256),
            exclusive: importance.exclusive,
        };
        let field = Priority::from_fields(&request.fields);
        Priority { dependency: Some(dependency), ..field }.to_value()
    }

    fn read_control(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        stream: StreamId,
    ) -> Result<(), Error> {
        while let Some(frames) = self.link.read(now, connection, stream)? {
            for frame in frames {
                if let ControlFrame::GoAway(first_rejected) = frame {
                    self.go_away(connection, first_rejected);
                }
            }
            while let Some((stream, fields)) = self.link.unblocked(now) {
                self.resume(now, connection, stream, fields)?;
            }
        }
        // What waited for the server's settings.
        self.send_waiting(connection);
        Ok(())
    }

    fn go_away(&mut self, connection: &mut Connection, first_rejected: u64) {
        self.is_going_away = true;
        let rejected: Vec<StreamId> =
            self.open.keys().copied().filter(|&s| u64::from(s) >= first_rejected).collect();
        for stream in rejected {
            connection.stop(stream, ErrorCode::RequestCancelled.code());
            self.fail(stream, Failure::Refused);
        }
        self.send_waiting(connection);
    }

    fn read_response(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        stream: StreamId,
    ) -> Result<(), Error> {
        let goes_on = |open: &Open| !open.response.is_blocked() && !open.is_sated();
        while self.open.get(&stream).is_none_or(goes_on) {
            let result = match connection.read(now, stream) {
                Read::Data(data) => {
                    if let Some(open) = self.open.get_mut(&stream) {
                        open.response.push(data);
                    }
                    self.read_parts(now, connection, stream)
                }
                Read::Blocked => return Ok(()),
                Read::Finished => {
                    self.note_head_of_line(connection, stream);
                    connection.forget(stream);
                    return self.end_of_response(connection, stream);
                }
                Read::Reset(code) => {
                    connection.forget(stream);
                    let rejected = code == ErrorCode::RequestRejected.code();
                    let reset = || Failure::Reset(code_name(code));
                    self.fail(stream, if rejected { Failure::Refused } else { reset() });
                    return Ok(());
                }
            };
            if let Err(error) = result {
                return self.stream_error(connection, stream, error);
            }
        }
        Ok(())
    }

    /// A field section that waited for the dynamic table can be read, and what came behind it.
    fn resume(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        stream: StreamId,
        fields: Result<Fields, Error>,
    ) -> Result<(), Error> {
        let Some(open) = self.open.get_mut(&stream) else { return Ok(()) };
        open.response.unblock();
        let section = fields.and_then(|fields| self.section(connection, stream, fields));
        let result = section.and_then(|()| self.read_parts(now, connection, stream));
        match result {
            Ok(()) => self.read_response(now, connection, stream),
            Err(error) => self.stream_error(connection, stream, error),
        }
    }

    fn read_parts(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        stream: StreamId,
    ) -> Result<(), Error> {
        while let Some(open) = self.open.get_mut(&stream) {
            match open.response.next(now, stream, &mut self.link)? {
                Some(Part::Section(fields)) => self.section(connection, stream, fields)?,
                Some(Part::Content(data)) => {
                    open.got(data.len());
                    self.events.push_back(ClientEvent::Data { id: open.asked.id, data });
                }
                None => break,
            }
        }
        Ok(())
    }

    fn section(
        &mut self,
        connection: &mut Connection,
        stream: StreamId,
        fields: Fields,
    ) -> Result<(), Error> {
        let Some(open) = self.open.get_mut(&stream) else { return Ok(()) };
        let id = open.asked.id;
        let Some(response) = open.section(fields)? else {
            let trailers = open.response.trailers.take();
            self.events.extend(trailers.map(|fields| ClientEvent::Trailers { id, fields }));
            return Ok(());
        };
        if !response.is_interim() {
            self.events.push_back(ClientEvent::Head { id, response });
        } else if response.status == 100 {
            self.events.push_back(ClientEvent::Continued { id });
            self.proceed(connection, id);
        }
        Ok(())
    }

    fn end_of_response(
        &mut self,
        connection: &mut Connection,
        stream: StreamId,
    ) -> Result<(), Error> {
        let Some(open) = self.open.get(&stream) else { return Ok(()) };
        match open.response.finish() {
            Ok(()) => {
                let (id, content_bytes) = (open.asked.id, open.sent_bytes.get());
                if open.asked.talks || content_bytes < open.asked.content_bytes.unwrap_or(0) {
                    // What the server answered without is not sent.
                    connection.reset(stream, ErrorCode::RequestCancelled.code());
                }
                self.open.remove(&stream);
                self.events.push_back(ClientEvent::Finished { id, content_bytes });
                Ok(())
            }
            Err(error) => self.stream_error(connection, stream, error),
        }
    }

    fn note_head_of_line(&mut self, connection: &Connection, stream: StreamId) {
        if let Some(exchange) =
            self.open.get(&stream).and_then(|open| self.exchanges.get_mut(&open.asked.id))
        {
            exchange.head_of_line = connection.head_of_line(stream);
        }
    }

    /// An error of a stream ends the stream, one of the connection is passed on.
    fn stream_error(
        &mut self,
        connection: &mut Connection,
        stream: StreamId,
        error: Error,
    ) -> Result<(), Error> {
        if error.scope == Scope::Connection {
            return Err(error);
        }
        connection.stop(stream, error.code.code());
        self.fail(stream, Failure::Malformed(error.reason));
        Ok(())
    }

    fn fail(&mut self, stream: StreamId, failure: Failure) {
        if let Some(open) = self.open.remove(&stream) {
            self.link.cancel(stream);
            self.events.push_back(ClientEvent::Failed { id: open.asked.id, failure });
        }
    }
}

/// The content of a request goes on its stream, to the stream's end, and is counted.
fn supply(
    connection: &mut Connection,
    stream: StreamId,
    content: Outgoing,
    sent_bytes: &Rc<Cell<u64>>,
) {
    let content = Content::new(content.body, Rc::clone(sent_bytes), Rc::default());
    connection.supply(stream, Box::new(content));
}
