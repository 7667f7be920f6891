//! A peer that writes on its streams what it was told, and notes what comes.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_quic::{Close, Connection, ConnectionKey, Dir, Event, Read, Side, StreamId};
use headway_wire::h3::{Settings, StreamType, encode};
use headway_wire::{Request, Response, varint};

use crate::pair::Application;

/// Bytes to be written on a stream, and whether it ends with them.
type Writing = (u64, Vec<u8>, bool);

/// Client or server.
#[derive(Default)]
pub(crate) struct Raw {
    side: Option<Side>,
    writings: VecDeque<Writing>,
    /// A server writes when so many requests have come.
    requests: usize,
    opened: usize,
    /// Whether nothing is read.
    pub(crate) is_slow: bool,
    /// Streams that are stopped as soon as they are opened, with this code.
    pub(crate) stops: Option<u64>,
    /// The connection is closed with this code after something was written.
    pub(crate) closes: Option<u64>,
    /// Streams to be reset, with this code, after what was written on them has gone.
    pub(crate) resets: Vec<(u64, u64)>,
    pub(crate) received: BTreeMap<u64, BytesMut>,
    pub(crate) finished: Vec<u64>,
    /// Codes that streams were reset with by the peer.
    pub(crate) was_reset: BTreeMap<u64, u64>,
    /// Codes that the peer asked to stop streams with.
    pub(crate) was_stopped: BTreeMap<u64, u64>,
    pub(crate) closed: Option<Close>,
}

impl Raw {
    /// A client, which writes once it is connected.
    pub(crate) fn client(writings: impl IntoIterator<Item = Writing>) -> Self {
        let writings = writings.into_iter().collect();
        Self { side: Some(Side::Client), writings, ..Self::default() }
    }

    /// A server, which writes once so many requests have come.
    pub(crate) fn server(requests: usize, writings: impl IntoIterator<Item = Writing>) -> Self {
        let writings = writings.into_iter().collect();
        Self { side: Some(Side::Server), writings, requests, ..Self::default() }
    }

    /// Writes on a stream, which is opened if it has to be and can be.
    ///
    /// # Returns
    /// Whether it is open.
    pub(crate) fn write(
        &mut self,
        connection: &mut Connection,
        stream: u64,
        bytes: &[u8],
        ends: bool,
    ) -> bool {
        let id = stream_id(stream);
        if Some(id.initiator()) == self.side && !self.open_up_to(connection, id) {
            return false;
        }
        connection.write(id, Bytes::copy_from_slice(bytes));
        if ends {
            connection.finish(id);
        }
        true
    }

    fn open_up_to(&mut self, connection: &mut Connection, id: StreamId) -> bool {
        while !self.received.contains_key(&id.into()) {
            let Some(opened) = connection.open(id.dir()) else { return false };
            self.received.insert(opened.into(), BytesMut::new());
        }
        true
    }

    /// Writes what was told, as far as streams can be opened.
    fn begin(&mut self, connection: &mut Connection) {
        while let Some((stream, bytes, ends)) = self.writings.pop_front() {
            if !self.write(connection, stream, &bytes, ends) {
                return self.writings.push_front((stream, bytes, ends));
            }
        }
    }

    fn read(&mut self, now: Instant, connection: &mut Connection, id: StreamId) {
        let stream = id.into();
        loop {
            match connection.read(now, id) {
                Read::Data(data) => {
                    self.received.entry(stream).or_default().extend_from_slice(&data);
                }
                Read::Blocked => return,
                Read::Finished => {
                    connection.forget(id);
                    return self.finished.push(stream);
                }
                Read::Reset(code) => {
                    connection.forget(id);
                    self.was_reset.insert(stream, code);
                    return;
                }
            }
        }
    }

    /// What waits to be read is read.
    pub(crate) fn catch_up(&mut self, now: Instant, connection: &mut Connection, stream: u64) {
        self.is_slow = false;
        self.read(now, connection, stream_id(stream));
    }
}

impl Application for Raw {
    fn handle(
        &mut self,
        now: Instant,
        _key: ConnectionKey,
        connection: Option<&mut Connection>,
        event: Event,
    ) {
        let Some(connection) = connection else { return };
        match event {
            Event::Connected { .. } | Event::Available(_) if self.requests == 0 => {
                self.begin(connection);
            }
            Event::Opened(id) => {
                if let Some(code) = self.stops {
                    connection.stop(id, code);
                }
                self.opened += usize::from(id.dir() == Dir::Bi);
                if self.requests > 0 && self.opened == self.requests {
                    self.begin(connection);
                }
            }
            Event::Readable(id) if !self.is_slow => self.read(now, connection, id),
            Event::Writable(id) => {
                let stream = u64::from(id);
                if let Some(&(_, code)) = self.resets.iter().find(|(other, _)| *other == stream) {
                    connection.reset(id, code);
                }
                if let Some(code) = self.closes {
                    connection.close(now, code, "");
                }
            }
            Event::Stopped(id, code) => {
                self.was_stopped.insert(id.into(), code);
            }
            Event::Closed(close) => self.closed = Some(close),
            _ => {}
        }
    }
}

/// The stream of a number (RFC 9000 section 2.1).
pub(crate) fn stream_id(id: u64) -> StreamId {
    let initiator = if id & 1 == 0 { Side::Client } else { Side::Server };
    let dir = if id & 2 == 0 { Dir::Bi } else { Dir::Uni };
    StreamId::new(initiator, dir, id >> 2)
}

/// A control stream: its type, SETTINGS, and then these bytes.
pub(crate) fn control(then: &[u8]) -> Vec<u8> {
    let mut bytes = BytesMut::new();
    encode::stream_type(StreamType::Control, &mut bytes);
    encode::settings(&Settings::default(), &mut bytes);
    [&bytes, then].concat()
}

/// A request's stream.
pub(crate) fn request(request: &Request) -> Vec<u8> {
    let mut bytes = BytesMut::new();
    encode::headers(request.lines(), &mut bytes);
    bytes.to_vec()
}

/// HEADERS of a response.
pub(crate) fn response(status: u16, fields: &[(&'static str, &'static str)]) -> Vec<u8> {
    let mut response = Response::new(status);
    for &(name, value) in fields {
        response.fields.push(name, value);
    }
    let mut bytes = BytesMut::new();
    encode::headers(response.lines(), &mut bytes);
    bytes.to_vec()
}

/// Any frame.
pub(crate) fn frame(frame_type: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = BytesMut::new();
    encode::frame(frame_type, payload, &mut bytes);
    bytes.to_vec()
}

/// Variable-length integers.
pub(crate) fn varints(values: &[u64]) -> Vec<u8> {
    let mut bytes = BytesMut::new();
    for &value in values {
        varint::encode(value, &mut bytes);
    }
    bytes.to_vec()
}
