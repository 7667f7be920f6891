use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_quic::{Connection, Dir, Event, Read, StreamId};
use headway_wire::h3::{ControlFrame, Error, ErrorCode, Role, Scope, encode};
use headway_wire::{Fields, Malformed, Priority, Response};

use super::content::Content;
use super::exchange::Exchange;
use super::link::{Compression, Link, close, closing_words, code_name, data_frame, request_stream};
use super::message::{Message, Part};
use crate::counts::HeaderCounts;
use crate::event::{RequestId, ServerEvent};
use crate::limits::{Exceeded, Limits, Meters};
use crate::priorities::Priorities;
use crate::service::{Reply, Said};

/// PRIORITY_UPDATE frames kept for requests that have not come (RFC 9218 section 7.2).
const MAX_EARLY_PRIORITIES: usize = 100;

/// What a request takes from its first byte to the end of the response, beside what the client chose: 3.4 kB,
/// measured, and something to spare.
const EXCHANGE_BYTES: u64 = 4000;

/// The server's side of a connection.
///
/// What is sent when is QUIC's affair: the QUIC connection's scheduler picks a stream for every packet,
/// and asks for as much of its response as fits.
pub struct Server {
    link: Link,
    takes_websockets: bool,
    exchanges: BTreeMap<StreamId, Exchange>,
    early_priorities: BTreeMap<u64, Priority>,
    next_stream: u64,
    priorities: Priorities,
    meters: Meters,
    /// A limit was met: the connection ends with H3_EXCESSIVE_LOAD.
    exceeded: Option<Exceeded>,
    all_bytes: Rc<Cell<u64>>,
    now: Option<Instant>,
    is_going_away: bool,
    is_closed: bool,
    events: VecDeque<ServerEvent>,
}

impl Default for Server {
    fn default() -> Self {
        Self::new(Compression::default())
    }
}

impl Server {
    /// The start of a connection.
    #[must_use]
    pub fn new(compression: Compression) -> Self {
        Self {
            link: Link::new(Role::Server, compression),
            takes_websockets: false,
            exchanges: BTreeMap::new(),
            early_priorities: BTreeMap::new(),
            next_stream: 0,
            priorities: Priorities::default(),
            meters: Meters::new(&Limits::default()),
            exceeded: None,
            all_bytes: Rc::default(),
            now: None,
            is_going_away: false,
            is_closed: false,
            events: VecDeque::new(),
        }
    }

    /// The same with other limits.
    #[must_use]
    pub fn limited(self, limits: &Limits) -> Self {
        Self { meters: Meters::new(limits), ..self }
    }

    /// The same, and whether clients may ask for WebSocket (RFC 9220).
    #[must_use]
    pub fn with_websockets(self, takes_websockets: bool) -> Self {
        let link = self.link.with_websockets(takes_websockets);
        Self { link, takes_websockets, ..self }
    }

    /// The same, and who decides how important responses are; the QUIC connection needs the scheduler that
    /// carries it out ([`Priorities::strategy`]).
    #[must_use]
    pub fn deciding(self, priorities: Priorities) -> Self {
        Self { priorities, ..self }
    }

    /// Handles what QUIC tells.
    pub fn handle(&mut self, now: Instant, connection: &mut Connection, event: Event) {
        if self.is_closed {
            return;
        }
        self.now = Some(now);
        self.link.start(connection);
        let result = match event {
            Event::Opened(stream) => {
                self.opened(connection, stream);
                Ok(())
            }
            Event::Readable(stream) if stream.dir() == Dir::Uni => {
                self.read_control(now, connection, stream)
            }
            Event::Readable(stream) => self.read_request(now, connection, stream),
            Event::Failed(stream, reason) => {
                connection.stop(stream, ErrorCode::InternalError.code());
                connection.reset(stream, ErrorCode::InternalError.code());
                self.abort(stream, &reason);
                Ok(())
            }
            Event::Sent(stream) => {
                self.finished(connection, stream);
                Ok(())
            }
            Event::Stopped(stream, code) => {
                let reason = code_name(code);
                self.link.stopped(stream).and_then(|()| {
                    self.give_up(connection, stream, ErrorCode::RequestCancelled, &reason)
                })
            }
            Event::Closed(reason) => {
                self.close(&closing_words(&reason));
                Ok(())
            }
            Event::Connected { .. } | Event::Available(_) | Event::Writable(_) => Ok(()),
        };
        if let Err(error) = result {
            close(now, connection, &error);
            self.close(&format!("the client broke HTTP/3's rules: {error}"));
        } else if let Some(exceeded) = self.exceeded.take() {
            let reason = exceeded.to_string();
            connection.close(now, ErrorCode::ExcessiveLoad.code(), &reason);
            self.close(&reason);
        } else {
            self.link.acknowledge(connection);
        }
    }

    /// The connection is over: responses under way are given up.
    pub fn close(&mut self, reason: &str) {
        self.is_closed = true;
        while let Some((&stream, _)) = self.exchanges.first_key_value() {
            self.abort(stream, reason);
        }
    }

    /// Whether the connection is over, by either side's doing.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// What header fields took.
    #[must_use]
    pub fn header_counts(&self) -> HeaderCounts {
        self.link.header_counts()
    }

    /// Memory that the client makes it keep, in bytes, beside what the QUIC connection keeps.
    #[must_use]
    pub fn kept(&self) -> u64 {
        let exchanges = self.exchanges.values().map(|one| EXCHANGE_BYTES + one.request.kept());
        self.link.kept() + exchanges.sum::<u64>()
    }

    /// Content of responses that was handed to the transport, in bytes.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.all_bytes.get()
    }

    /// What has happened since.
    pub fn poll(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// The answer to a request waits for its content: a client that asks first is told to send it.
    pub fn proceed(&mut self, connection: &mut Connection, id: RequestId) {
        let stream = request_stream(id.0);
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return };
        if std::mem::take(&mut exchange.asks) {
            let head = self.link.headers(connection, stream, Response::new(100).lines());
            connection.write(stream, head.freeze());
        }
    }

    /// An interim answer (RFC 9110, section 15.2) to a request whose answer is still to come.
    pub fn inform(&mut self, connection: &mut Connection, id: RequestId, interim: &Response) {
        let stream = request_stream(id.0);
        let Some(exchange) = self.exchanges.get(&stream) else { return };
        connection.prioritise(stream, &exchange.importance());
        let head = self.link.headers(connection, stream, interim.lines());
        connection.write(stream, head.freeze());
    }

    /// Answers a request. One that was given up meanwhile needs no answer.
    pub fn respond(&mut self, connection: &mut Connection, id: RequestId, reply: Reply) {
        let stream = request_stream(id.0);
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return };
        connection.prioritise(stream, &exchange.importance());
        let mut head = self.link.headers(connection, stream, reply.response.lines());
        exchange.is_answered = true;
        exchange.is_open = reply.body.is_open();
        if reply.body.remaining() > 0 {
            encode::data_header(reply.body.remaining(), &mut head);
        }
        connection.write(stream, head.freeze());
        if exchange.is_open {
            return;
        }
        if exchange.has_content && !exchange.is_read {
            // The answer needs no more of it (RFC 9114 section 4.1).
            connection.stop(stream, ErrorCode::NoError.code());
        }
        if reply.body.remaining() > 0 {
            let content = Content::new(
                reply.body,
                Rc::clone(&exchange.sent_bytes),
                Rc::clone(&self.all_bytes),
            );
            connection.supply(stream, Box::new(content));
        } else {
            connection.finish(stream);
        }
    }

    /// More comes of content that grows ([`Body::growing`](crate::service::Body::growing)): a DATA frame.
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
        let stream = request_stream(id.0);
        let Some(exchange) = self.exchanges.get_mut(&stream).filter(|one| one.is_open) else {
            return;
        };
        for count in [&exchange.sent_bytes, &self.all_bytes] {
            count.set(count.get() + content.len() as u64);
        }
        data_frame(connection, stream, content);
        if ends {
            exchange.is_open = false;
            connection.finish(stream);
        }
    }

    /// What a conversation says.
    pub fn say(&mut self, connection: &mut Connection, id: RequestId, said: Said) {
        let has_trailers = !said.trailers.is_empty();
        self.extend(connection, id, said.content, said.ends && !has_trailers);
        let stream = request_stream(id.0);
        let Some(exchange) = self.exchanges.get_mut(&stream).filter(|one| one.is_open) else {
            return;
        };
        if said.ends && has_trailers {
            exchange.is_open = false;
            let section = self.link.headers(connection, stream, said.trailers.lines());
            connection.write(stream, section.freeze());
            connection.finish(stream);
        }
    }

    /// Takes no more requests than those under way (GOAWAY).
    pub fn go_away(&mut self, connection: &mut Connection) {
        self.is_going_away = true;
        let mut frame = BytesMut::new();
        encode::goaway(self.next_stream, &mut frame);
        self.link.send(connection, frame.freeze());
    }

    fn opened(&mut self, connection: &mut Connection, stream: StreamId) {
        if stream.dir() == Dir::Uni {
            self.link.opened(stream);
        } else if self.is_going_away {
            connection.stop(stream, ErrorCode::RequestRejected.code());
            connection.reset(stream, ErrorCode::RequestRejected.code());
            self.link.cancel(stream);
        } else {
            self.next_stream = self.next_stream.max(u64::from(stream) + 4);
            let exchange = Exchange {
                request: Message::new(Role::Server),
                is_read: false,
                tells_content: false,
                content_bytes: 0,
                has_content: false,
                asks: false,
                priority: self.early_priorities.remove(&stream.into()),
                decided: None,
                is_answered: false,
                is_open: false,
                sent_bytes: Rc::default(),
            };
            self.exchanges.insert(stream, exchange);
        }
    }

    fn read_control(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        stream: StreamId,
    ) -> Result<(), Error> {
        while let Some(frames) = self.link.read(now, connection, stream)? {
            for frame in frames {
                if let ControlFrame::PriorityUpdate { stream, value } = frame {
                    self.reprioritise(connection, stream, Priority::parse(&value));
                }
            }
            while let Some((stream, fields)) = self.link.unblocked(now) {
                self.resume(now, connection, stream, fields)?;
            }
        }
        Ok(())
    }

    /// RFC 9218 section 7.2.
    fn reprioritise(&mut self, connection: &mut Connection, id: u64, field: Priority) {
        let early = &mut self.early_priorities;
        if id >= self.next_stream {
            if early.len() < MAX_EARLY_PRIORITIES || early.contains_key(&id) {
                early.insert(id, field);
            }
            return;
        }
        let stream = request_stream(id);
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return };
        exchange.priority = Some(field);
        if exchange.is_answered {
            connection.prioritise(stream, &exchange.importance());
        }
    }

    fn read_request(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        stream: StreamId,
    ) -> Result<(), Error> {
        while self.exchanges.get(&stream).is_none_or(|exchange| !exchange.request.is_blocked()) {
            let result = match connection.read(now, stream) {
                Read::Data(data) => {
                    // What still comes of a request that was given up is of no use.
                    if let Some(exchange) = self.exchanges.get_mut(&stream) {
                        exchange.request.push(data);
                    }
                    self.read_parts(now, stream)
                }
                Read::Blocked => return Ok(()),
                Read::Finished => {
                    connection.forget(stream);
                    return self.end_of_request(connection, stream);
                }
                Read::Reset(code) => {
                    connection.forget(stream);
                    let reason = code_name(code);
                    return self.give_up(connection, stream, ErrorCode::RequestIncomplete, &reason);
                }
            };
            if let Err(error) = result {
                return self.fail(connection, stream, error);
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
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return Ok(()) };
        exchange.request.unblock();
        let section = fields.and_then(|fields| self.section(stream, fields));
        let result = section.and_then(|()| self.read_parts(now, stream));
        match result {
            Ok(()) => self.read_request(now, connection, stream),
            Err(error) => self.fail(connection, stream, error),
        }
    }

    fn read_parts(&mut self, now: Instant, stream: StreamId) -> Result<(), Error> {
        while let Some(exchange) = self.exchanges.get_mut(&stream) {
            match exchange.request.next(now, stream, &mut self.link)? {
                Some(Part::Section(fields)) => self.section(stream, fields)?,
                Some(Part::Content(data)) => {
                    exchange.content_bytes += data.len() as u64;
                    if exchange.tells_content {
                        let id = RequestId(stream.into());
                        self.events.push_back(ServerEvent::Content { id, data });
                    }
                }
                None => break,
            }
        }
        Ok(())
    }

    fn section(&mut self, stream: StreamId, fields: Fields) -> Result<(), Error> {
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return Ok(()) };
        if let Some(request) = exchange.section(fields, self.priorities)? {
            if !(request.protocol.is_empty() || self.takes_websockets) {
                return Err(Malformed("an extended CONNECT that was not asked for").into());
            }
            exchange.asks = request.expects_continue();
            let length = request.fields.get("content-length");
            exchange.has_content = length.is_some_and(|length| &length[..] != b"0");
            let id = RequestId(stream.into());
            self.events.push_back(ServerEvent::Request { id, request });
        }
        Ok(())
    }

    fn end_of_request(
        &mut self,
        connection: &mut Connection,
        stream: StreamId,
    ) -> Result<(), Error> {
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return Ok(()) };
        exchange.is_read = true;
        match exchange.request.finish() {
            Ok(()) => {
                let (id, content_bytes) = (RequestId(stream.into()), exchange.content_bytes);
                self.events.push_back(ServerEvent::Received {
                    id,
                    content_bytes,
                    content: Bytes::new(),
                });
                Ok(())
            }
            Err(error) => self.fail(connection, stream, error),
        }
    }

    /// An error of a stream ends the stream, one of the connection is passed on.
    fn fail(
        &mut self,
        connection: &mut Connection,
        stream: StreamId,
        error: Error,
    ) -> Result<(), Error> {
        if error.scope == Scope::Connection {
            return Err(error);
        }
        connection.stop(stream, error.code.code());
        connection.reset(stream, error.code.code());
        self.abort(stream, &error.to_string());
        self.count_reset();
        Ok(())
    }

    fn finished(&mut self, connection: &mut Connection, stream: StreamId) {
        // Whatever content the request still has is not needed (RFC 9114 section 4.1).
        connection.stop(stream, ErrorCode::NoError.code());
        if let Some(exchange) = self.forget(stream) {
            let (id, sent_bytes) = (RequestId(stream.into()), exchange.sent_bytes.get());
            self.events.push_back(ServerEvent::Finished { id, sent_bytes });
        }
    }

    /// The client no longer wants the response.
    fn give_up(
        &mut self,
        connection: &mut Connection,
        stream: StreamId,
        code: ErrorCode,
        reason: &str,
    ) -> Result<(), Error> {
        if !self.exchanges.contains_key(&stream) {
            return Ok(());
        }
        connection.stop(stream, code.code());
        connection.reset(stream, code.code());
        self.abort(stream, &format!("the client gave it up: {reason}"));
        self.count_reset();
        Ok(())
    }

    fn count_reset(&mut self) {
        self.exceeded = self.exceeded.take().or(self.meters.reset(self.now).err());
    }

    fn abort(&mut self, stream: StreamId, reason: &str) {
        if let Some(exchange) = self.forget(stream).filter(|e| e.request.has_head()) {
            let (id, sent_bytes) = (RequestId(stream.into()), exchange.sent_bytes.get());
            self.events.push_back(ServerEvent::Aborted { id, sent_bytes, reason: reason.into() });
        }
    }

    /// Nothing more of the exchange is of use.
    fn forget(&mut self, stream: StreamId) -> Option<Exchange> {
        let exchange = self.exchanges.remove(&stream)?;
        if !exchange.is_read {
            self.link.cancel(stream);
        }
        Some(exchange)
    }
}
