//! Applications at the ends.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use headway_quic::{Close, Connection, Dir, Event, Read, StreamId};
use headway_testlink::content;

use crate::chain::Application;

/// What was received on a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) bytes: u64,
    pub(crate) end: Option<Read>,
}

/// Sends a number of bytes on each stream that it is to open and, as an answer, on each that the
/// other opens; checks what it gets.
#[derive(Default)]
pub(crate) struct Peer {
    /// Streams to open when the connection is there, and how much to send on each.
    pub(crate) opens: Vec<(Dir, u64)>,
    /// Bytes to answer bidirectional streams with.
    pub(crate) answers: u64,
    /// Closes the connection with this code and reason when so many streams have ended.
    pub(crate) closes: Option<(usize, u64, &'static str)>,
    /// Closes the connection with this code when a stream's end was acknowledged.
    pub(crate) closes_when_sent: Option<u64>,
    /// Reads nothing.
    pub(crate) is_slow: bool,
    /// Never ends what it sends.
    pub(crate) is_endless: bool,
    pub(crate) opened: BTreeSet<StreamId>,
    pub(crate) accepted: BTreeSet<StreamId>,
    pub(crate) received: BTreeMap<StreamId, Received>,
    pub(crate) first_byte: Option<Instant>,
    /// When the last stream ended so far.
    pub(crate) ended_at: Option<Instant>,
    pub(crate) connected: Option<Instant>,
    pub(crate) early_data_accepted: Option<bool>,
    pub(crate) stopped: Vec<(StreamId, u64)>,
    pub(crate) closed: Option<Close>,
    sending: BTreeMap<StreamId, (u64, u64)>,
}

impl Peer {
    /// A client that opens streams.
    pub(crate) fn opening(opens: &[(Dir, u64)]) -> Self {
        Self { opens: opens.to_vec(), ..Self::default() }
    }

    /// A server that answers.
    pub(crate) fn answering(answers: u64) -> Self {
        Self { answers, ..Self::default() }
    }

    /// Opens as many streams as are allowed now.
    pub(crate) fn open(&mut self, connection: &mut Connection) {
        while let Some(&(dir, bytes)) = self.opens.first() {
            let Some(stream) = connection.open(dir) else { return };
            self.opens.remove(0);
            self.opened.insert(stream);
            self.sending.insert(stream, (0, bytes));
            self.send(connection, stream);
        }
    }

    pub(crate) fn ended(&self) -> usize {
        self.received.values().filter(|received| received.end.is_some()).count()
    }

    pub(crate) fn read(&mut self, now: Instant, connection: &mut Connection, stream: StreamId) {
        loop {
            let received = self.received.entry(stream).or_default();
            match connection.read(now, stream) {
                Read::Data(data) => {
                    assert_eq!(data, content(received.bytes, data.len()), "{stream}");
                    received.bytes += data.len() as u64;
                    self.first_byte.get_or_insert(now);
                }
                Read::Blocked => return,
                end => {
                    received.end = Some(end);
                    self.ended_at = Some(now);
                    connection.forget(stream);
                    if self.closes.is_some_and(|(streams, ..)| streams == self.ended()) {
                        let (_, code, reason) = self.closes.unwrap();
                        connection.close(now, code, reason);
                    }
                    return;
                }
            }
        }
    }

    fn send(&mut self, connection: &mut Connection, stream: StreamId) {
        let Some((sent, bytes)) = self.sending.get_mut(&stream) else { return };
        while *sent < *bytes && connection.queued(stream) < 256 << 10 {
            let piece = (*bytes - *sent).min(64 << 10);
            connection.write(stream, content(*sent, piece as usize));
            *sent += piece;
        }
        if sent == bytes && !self.is_endless {
            connection.finish(stream);
            self.sending.remove(&stream);
        }
    }
}

impl Application for Peer {
    fn event(&mut self, now: Instant, connection: &mut Connection, event: Event) {
        match event {
            Event::Connected { early_data_accepted } => {
                self.connected = Some(now);
                self.early_data_accepted = Some(early_data_accepted);
                self.open(connection);
            }
            Event::Available(_) => self.open(connection),
            Event::Failed(_, reason) => panic!("{reason}"),
            Event::Opened(stream) => {
                self.accepted.insert(stream);
                if stream.dir() == Dir::Bi {
                    self.sending.insert(stream, (0, self.answers));
                    self.send(connection, stream);
                }
            }
            Event::Readable(stream) if !self.is_slow => self.read(now, connection, stream),
            Event::Writable(stream) => self.send(connection, stream),
            Event::Stopped(stream, code) => {
                self.sending.remove(&stream);
                self.stopped.push((stream, code));
            }
            Event::Sent(_) => {
                if let Some(code) = self.closes_when_sent {
                    connection.close(now, code, "");
                }
            }
            Event::Readable(_) | Event::Closed(_) => {}
        }
    }

    fn closed(&mut self, close: Close) {
        self.closed = Some(close);
    }
}
