use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_quic::{Connection, Dir, Event, Read, StreamId};
use headway_wire::h3::{
    ControlFrame, Error, ErrorCode, RequestFrame, RequestStream, Role, Scope, encode,
};
use headway_wire::{Priority, Request, qpack};

use super::link::{Link, close, code_name};
use crate::event::{RequestId, ServerEvent};
use crate::priority::priority;
use crate::service::{Body, Reply};

/// Largest encoded field section, and largest decoded one.
const MAX_SECTION: usize = 64 << 10;
/// PRIORITY_UPDATE frames kept for requests that have not come (RFC 9218 section 7.2).
const MAX_EARLY_PRIORITIES: usize = 100;
/// Content that waits in a stream's queue, at most and about, and in which pieces it is read.
const QUEUE_BYTES: u64 = 256 << 10;
const PIECE_BYTES: usize = 64 << 10;

/// A stream from its request to the end of its response.
struct Exchange {
    request: RequestStream,
    /// The request's header section has come.
    is_known: bool,
    priority: Priority,
    /// Once the response is under way.
    body: Option<Body>,
    sent_bytes: u64,
}

/// The server's side of a connection.
///
/// What is sent when is QUIC's affair: each response is written to its stream as long as its queue
/// is short, and the QUIC connection's scheduler picks a stream for every packet.
pub struct Server {
    link: Link,
    exchanges: BTreeMap<StreamId, Exchange>,
    early_priorities: BTreeMap<u64, Priority>,
    next_stream: u64,
    is_going_away: bool,
    events: VecDeque<ServerEvent>,
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// The start of a connection.
    #[must_use]
    pub fn new() -> Self {
        Self {
            link: Link::new(Role::Server),
            exchanges: BTreeMap::new(),
            early_priorities: BTreeMap::new(),
            next_stream: 0,
            is_going_away: false,
            events: VecDeque::new(),
        }
    }

    /// Handles what QUIC tells.
    pub fn handle(&mut self, now: Instant, connection: &mut Connection, event: Event) {
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
            Event::Writable(stream) => {
                self.fill(connection, stream);
                Ok(())
            }
            Event::Sent(stream) => {
                self.finished(stream);
                Ok(())
            }
            Event::Stopped(stream, code) => {
                self.give_up(connection, stream, &code_name(code));
                Ok(())
            }
            Event::Closed(reason) => {
                self.closed(&reason.to_string());
                Ok(())
            }
            Event::Connected { .. } | Event::Available(_) => Ok(()),
        };
        if let Err(error) = result {
            close(now, connection, &error);
        }
    }

    /// What has happened since.
    pub fn poll(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// Answers a request. One that was given up meanwhile needs no answer.
    pub fn respond(&mut self, connection: &mut Connection, id: RequestId, reply: Reply) {
        let Some((&stream, exchange)) =
            self.exchanges.iter_mut().find(|(stream, _)| u64::from(**stream) == id.0)
        else {
            return;
        };
        connection.prioritise(stream, &priority(exchange.priority, None));
        let mut head = BytesMut::new();
        encode::headers(reply.response.lines(), &mut head);
        if reply.body.remaining() > 0 {
            encode::data_header(reply.body.remaining(), &mut head);
        }
        connection.write(stream, head.freeze());
        exchange.body = Some(reply.body);
        self.fill(connection, stream);
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
        } else {
            self.next_stream = self.next_stream.max(u64::from(stream) + 4);
            let exchange = Exchange {
                request: RequestStream::new(Role::Server, MAX_SECTION),
                is_known: false,
                priority: Priority::default(),
                body: None,
                sent_bytes: 0,
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
        let mut frames = Vec::new();
        let result = self.link.read(now, connection, stream, &mut frames);
        for frame in frames {
            if let ControlFrame::PriorityUpdate { stream, value } = frame {
                self.reprioritise(connection, stream, Priority::parse(&value));
            }
        }
        result
    }

    /// RFC 9218 section 7.2.
    fn reprioritise(&mut self, connection: &mut Connection, id: u64, field: Priority) {
        let known = self.exchanges.iter_mut().find(|(stream, _)| u64::from(**stream) == id);
        match known {
            Some((&stream, exchange)) => {
                exchange.priority = field;
                if exchange.body.is_some() {
                    connection.prioritise(stream, &priority(field, None));
                }
            }
            None if id >= self.next_stream
                && self.early_priorities.len() < MAX_EARLY_PRIORITIES =>
            {
                self.early_priorities.insert(id, field);
            }
            None => {}
        }
    }

    fn read_request(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        stream: StreamId,
    ) -> Result<(), Error> {
        loop {
            let result = match connection.read(now, stream) {
                Read::Data(data) => self.data(stream, data),
                Read::Blocked => return Ok(()),
                Read::Finished => {
                    connection.forget(stream);
                    return self.end_of_request(connection, stream);
                }
                Read::Reset(code) => {
                    connection.forget(stream);
                    self.give_up(connection, stream, &code_name(code));
                    return Ok(());
                }
            };
            if let Err(error) = result {
                return self.fail(connection, stream, error);
            }
        }
    }

    fn data(&mut self, stream: StreamId, mut data: Bytes) -> Result<(), Error> {
        // What still comes of a request that was given up is of no use.
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return Ok(()) };
        while let Some(frame) = exchange.request.decode(&mut data)? {
            let RequestFrame::Headers(section) = frame else { continue };
            let fields = qpack::decode_section(section, MAX_SECTION as u64)?;
            if exchange.is_known {
                headway_wire::fields::trailers(fields)?;
                continue;
            }
            let request = Request::from_section(fields)?;
            let early = self.early_priorities.remove(&stream.into());
            exchange.is_known = true;
            exchange.priority = early.unwrap_or_else(|| Priority::from_fields(&request.fields));
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
        match self.exchanges.get(&stream).map_or(Ok(()), |exchange| exchange.request.finish()) {
            Ok(()) => Ok(()),
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
        Ok(())
    }

    /// Writes content as long as little waits on the stream.
    fn fill(&mut self, connection: &mut Connection, stream: StreamId) {
        let Some(exchange) = self.exchanges.get_mut(&stream) else { return };
        let Some(body) = &mut exchange.body else { return };
        while body.remaining() > 0 && connection.queued(stream) < QUEUE_BYTES {
            let mut piece = BytesMut::with_capacity(PIECE_BYTES);
            match body.read(&mut piece, PIECE_BYTES) {
                Ok(bytes) => exchange.sent_bytes += bytes as u64,
                Err(error) => {
                    connection.reset(stream, ErrorCode::InternalError.code());
                    return self.abort(stream, &error.to_string());
                }
            }
            connection.write(stream, piece.freeze());
        }
        if body.remaining() == 0 {
            connection.finish(stream);
        }
    }

    fn finished(&mut self, stream: StreamId) {
        if let Some(exchange) = self.exchanges.remove(&stream) {
            let id = RequestId(stream.into());
            let sent_bytes = exchange.sent_bytes;
            self.events.push_back(ServerEvent::Finished { id, sent_bytes });
        }
    }

    /// The client no longer wants the response.
    fn give_up(&mut self, connection: &mut Connection, stream: StreamId, reason: &str) {
        connection.reset(stream, ErrorCode::RequestCancelled.code());
        self.abort(stream, &format!("the client gave it up: {reason}"));
    }

    fn abort(&mut self, stream: StreamId, reason: &str) {
        if let Some(exchange) = self.exchanges.remove(&stream).filter(|e| e.is_known) {
            let (id, sent_bytes) = (RequestId(stream.into()), exchange.sent_bytes);
            self.events.push_back(ServerEvent::Aborted { id, sent_bytes, reason: reason.into() });
        }
    }

    fn closed(&mut self, reason: &str) {
        let streams: Vec<StreamId> = self.exchanges.keys().copied().collect();
        for stream in streams {
            self.abort(stream, reason);
        }
    }
}
