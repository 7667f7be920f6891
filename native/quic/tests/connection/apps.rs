//! A client that fetches streams, and a server that answers with as much as it is told.

use std::time::Instant;

use bytes::Bytes;
use headway_quic::{Close, Connection, ConnectionKey, Dir, Event, Read, StreamId};
use headway_schedule::Priority;

use crate::link::Side;

/// The content of every stream: byte i is i mod 251.
pub(crate) fn content(offset: u64, length: usize) -> Bytes {
    const PERIOD: u64 = 251;
    let pattern: Vec<u8> = (0..length as u64 + PERIOD).map(|i| (i % PERIOD) as u8).collect();
    let from = (offset % PERIOD) as usize;
    Bytes::from(pattern).slice(from..from + length)
}

/// A stream and how much was written to or read from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub(crate) key: ConnectionKey,
    pub(crate) stream: StreamId,
    pub(crate) bytes: u64,
    /// Of what is to be written.
    of: u64,
}

/// Fetches streams on each connection and checks what comes.
#[derive(Default)]
pub(crate) struct Fetch {
    pub(crate) streams: usize,
    pub(crate) opened: Vec<Progress>,
    pub(crate) finished: Vec<(ConnectionKey, StreamId, Instant)>,
    /// When bytes came, of which stream and how many.
    pub(crate) came: Vec<(Instant, u64, usize)>,
    /// It does not read.
    pub(crate) is_slow: bool,
    /// It asks as soon as it may: with 0-RTT data.
    pub(crate) is_early: bool,
    /// It does not close when it has everything.
    pub(crate) stays: bool,
    pub(crate) early_data_accepted: Option<bool>,
    pub(crate) closed: Option<Close>,
    pub(crate) request_bytes: usize,
    /// Bytes of one more stream, on which no answer is expected.
    pub(crate) upload_bytes: usize,
}

impl Fetch {
    pub(crate) fn of(streams: usize) -> Self {
        Self { streams, request_bytes: 100, ..Self::default() }
    }

    /// Opens the streams.
    pub(crate) fn ask(&mut self, key: ConnectionKey, connection: &mut Connection) {
        for _ in 0..self.streams {
            let stream = connection.open(Dir::Bi).unwrap();
            connection.write(stream, content(0, self.request_bytes));
            connection.finish(stream);
            self.opened.push(Progress { key, stream, bytes: 0, of: 0 });
        }
        if self.upload_bytes > 0 {
            let stream = connection.open(Dir::Uni).unwrap();
            connection.write(stream, content(0, self.upload_bytes));
            connection.finish(stream);
        }
    }

    /// Bytes of a connection.
    pub(crate) fn bytes_of(&self, key: ConnectionKey) -> u64 {
        self.opened.iter().filter(|p| p.key == key).map(|p| p.bytes).sum()
    }

    fn read(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        connection: &mut Connection,
        id: StreamId,
    ) {
        loop {
            match connection.read(now, id) {
                Read::Data(data) => {
                    let of_it = |p: &&mut Progress| p.stream == id && p.key == key;
                    let progress = self.opened.iter_mut().find(of_it).unwrap();
                    assert_eq!(data, content(progress.bytes, data.len()), "{id}");
                    progress.bytes += data.len() as u64;
                    self.came.push((now, id.into(), data.len()));
                }
                Read::Finished => {
                    connection.forget(id);
                    self.finished.push((key, id, now));
                    let mine = self.finished.iter().filter(|(other, ..)| *other == key);
                    if mine.count() == self.streams && !self.stays {
                        connection.close(now, 0, "done");
                    }
                    return;
                }
                Read::Blocked => return,
                Read::Reset(code) => panic!("reset with {code}"),
            }
        }
    }
}

impl Side for Fetch {
    fn event(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        connection: &mut Connection,
        event: Event,
    ) {
        match event {
            Event::Connected { early_data_accepted } => {
                self.early_data_accepted = Some(early_data_accepted);
                if self.is_early && !early_data_accepted {
                    self.opened.clear();
                }
                if !(self.is_early && early_data_accepted) {
                    self.ask(key, connection);
                }
            }
            Event::Readable(stream) if !self.is_slow => self.read(now, key, connection, stream),
            event => self.last_word(event),
        }
    }

    fn last_word(&mut self, event: Event) {
        if let Event::Closed(close) = event {
            self.closed = Some(close);
        }
    }
}

/// Answers each stream with so many bytes.
pub(crate) struct Serve {
    /// How many, and with which priority, for the n-th stream.
    answer: Box<dyn Fn(u64) -> (u64, Priority)>,
    written: Vec<Progress>,
    pub(crate) most_queued: u64,
    pub(crate) closed: Option<Close>,
    /// Answers wait until there are so many.
    pub(crate) answers_together: usize,
}

impl Serve {
    pub(crate) fn of(bytes: u64) -> Self {
        Self::with(move |_| (bytes, Priority::default()))
    }

    pub(crate) fn with(answer: impl Fn(u64) -> (u64, Priority) + 'static) -> Self {
        Self {
            answer: Box::new(answer),
            written: Vec::new(),
            most_queued: 0,
            closed: None,
            answers_together: 0,
        }
    }

    fn fill(&mut self, key: ConnectionKey, connection: &mut Connection, stream: StreamId) {
        let of_it = |p: &Progress| p.stream == stream && p.key == key;
        let Some(index) = self.written.iter().position(of_it) else { return };
        let progress = &mut self.written[index];
        while connection.queued(stream) < 256 << 10 && progress.bytes < progress.of {
            let piece = (progress.of - progress.bytes).min(64 << 10);
            connection.write(stream, content(progress.bytes, piece as usize));
            progress.bytes += piece;
        }
        self.most_queued = self.most_queued.max(connection.queued(stream));
        if progress.bytes == progress.of {
            connection.finish(stream);
        }
    }

    fn answer(&mut self, key: ConnectionKey, connection: &mut Connection, stream: StreamId) {
        let (of, priority) = (self.answer)(stream.index());
        connection.prioritise(stream, &priority);
        self.written.push(Progress { key, stream, bytes: 0, of });
        if self.written.len() < self.answers_together {
            return;
        }
        let waiting: Vec<StreamId> = self
            .written
            .iter()
            .filter(|p| p.key == key && p.bytes == 0)
            .map(|p| p.stream)
            .collect();
        for stream in waiting {
            self.fill(key, connection, stream);
        }
    }
}

impl Side for Serve {
    fn event(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        connection: &mut Connection,
        event: Event,
    ) {
        match event {
            Event::Readable(stream) => loop {
                match connection.read(now, stream) {
                    Read::Data(_) => {}
                    Read::Finished => {
                        connection.forget(stream);
                        if stream.dir() == Dir::Bi {
                            self.answer(key, connection, stream);
                        }
                        return;
                    }
                    _ => return,
                }
            },
            Event::Writable(stream) => self.fill(key, connection, stream),
            Event::Closed(close) => self.closed = Some(close),
            _ => {}
        }
    }
}
