//! What comes: quinn-proto's events, and data of streams.

use std::time::Instant;

use quinn_proto::{Dir, ReadError, ReadableError, StreamEvent, StreamId, VarInt};

use super::{Close, Connection, Event};
use crate::stream::{HeadOfLine, Read, Receiving};

/// Unread bytes of a stream beyond which no more are taken from quinn-proto, so that flow control
/// stops the peer.
const UNREAD_LIMIT: u64 = 256 << 10;

/// The application error code with which a peer that takes too much is sent away: H3_EXCESSIVE_LOAD.
const EXCESSIVE: u64 = 0x107;

impl Connection {
    /// Reads a stream.
    pub fn read(&mut self, now: Instant, stream: StreamId) -> Read {
        let Some(receiving) = self.receiving.get_mut(&stream) else { return Read::Blocked };
        let read = receiving.read();
        if receiving.left_over && receiving.unread() < UNREAD_LIMIT {
            self.take_data(now, stream);
        }
        read
    }

    /// What waited behind gaps of a stream, until it is forgotten.
    #[must_use]
    pub fn head_of_line(&self, stream: StreamId) -> HeadOfLine {
        self.receiving.get(&stream).map(Receiving::head_of_line).unwrap_or_default()
    }

    /// The code with which the peer gave a stream up, whether that was read or not.
    #[must_use]
    pub fn reset_code(&self, stream: StreamId) -> Option<u64> {
        self.receiving.get(&stream)?.reset_code()
    }

    /// Takes from quinn-proto what came on a stream, in any order.
    fn take_data(&mut self, now: Instant, stream: StreamId) {
        let Some(receiving) = self.receiving.get_mut(&stream) else { return };
        if receiving.has_ended() {
            return;
        }
        let time = self.sender.time(now);
        let mut recv = self.inner.recv_stream(stream);
        let mut chunks = match recv.read(false) {
            Ok(chunks) => chunks,
            Err(ReadableError::ClosedStream | ReadableError::IllegalOrderedRead) => return,
        };
        let (mut news, mut taken) = (false, 0);
        let pieces = receiving.pieces();
        receiving.left_over = false;
        loop {
            // With no room left, only a reset is of interest.
            let room = if receiving.unread() < UNREAD_LIMIT { usize::MAX } else { 0 };
            match chunks.next(room) {
                Ok(Some(_)) if room == 0 => {
                    receiving.left_over = true;
                    break;
                }
                Ok(Some(chunk)) => {
                    let datagram = self.largest_datagram;
                    taken += chunk.bytes.len() as u64;
                    news |= receiving.insert(time, chunk.offset, chunk.bytes, datagram);
                }
                Ok(None) => {
                    receiving.end(Read::Finished);
                    news = true;
                    break;
                }
                Err(ReadError::Reset(code)) => {
                    receiving.end(Read::Reset(code.into()));
                    news = true;
                    break;
                }
                Err(ReadError::Blocked) => break,
            }
        }
        self.is_dirty |= chunks.finalize().should_transmit();
        self.sender.leave_over(stream.into(), receiving.left_over, taken);
        self.pieces = self.pieces + receiving.pieces() - pieces;
        if news {
            self.events.push_back(Event::Readable(stream));
        }
        let limit = self.sender.config().max_pieces();
        if self.pieces > limit && !self.inner.is_closed() {
            let pieces = self.pieces;
            self.forget_received();
            let reason =
                format!("{pieces} pieces of streams wait behind gaps; there may be {limit}");
            self.close(now, EXCESSIVE, &reason);
            self.events.push_back(Event::Closed(Close::Transport(reason)));
        }
    }

    pub(super) fn remove_received(&mut self, stream: StreamId) {
        if let Some(receiving) = self.receiving.remove(&stream) {
            self.pieces -= receiving.pieces();
            self.sender.leave_over(stream.into(), false, 0);
        }
    }

    fn forget_received(&mut self) {
        self.receiving.clear();
        self.pieces = 0;
        self.sender.leave_nothing_over();
    }

    /// Turns quinn-proto's events into this connection's.
    pub(super) fn collect(&mut self, now: Instant) {
        while let Some(event) = self.inner.poll() {
            match event {
                quinn_proto::Event::Connected => {
                    let early_data_accepted = self.inner.accepted_0rtt();
                    if self.sender.connected(early_data_accepted) {
                        self.forget_streams();
                    }
                    self.events.push_back(Event::Connected { early_data_accepted });
                }
                quinn_proto::Event::ConnectionLost { reason } => {
                    let time = self.sender.time(now);
                    let handshaking = self.inner.is_handshaking();
                    self.sender.tracer().lost_connection(time, &reason, handshaking);
                    self.events.push_back(Event::Closed(reason.into()));
                }
                quinn_proto::Event::Stream(event) => self.collect_stream_event(now, &event),
                quinn_proto::Event::HandshakeDataReady => {
                    let (time, protocol) = (self.sender.time(now), self.protocol());
                    self.sender.tracer().protocol(time, &protocol.unwrap_or_default());
                }
                quinn_proto::Event::DatagramReceived => {
                    // Nothing here reads them, and each would keep the whole packet that it came in.
                    while self.inner.datagrams().recv().is_some() {}
                }
                quinn_proto::Event::DatagramsUnblocked => {}
            }
        }
    }

    fn collect_stream_event(&mut self, now: Instant, event: &StreamEvent) {
        match *event {
            StreamEvent::Opened { dir } => {
                while let Some(stream) = self.inner.streams().accept(dir) {
                    self.accept(now, stream);
                }
            }
            StreamEvent::Readable { id } => self.take_data(now, id),
            StreamEvent::Writable { id } => {
                self.outbox.change(id.into(), |sending| sending.set_blocked(false));
            }
            StreamEvent::Finished { id } => {
                self.forget_sending(id);
                self.events.push_back(Event::Sent(id));
            }
            StreamEvent::Stopped { id, error_code } => self.stopped(id, error_code.into()),
            StreamEvent::Available { dir } => self.events.push_back(Event::Available(dir)),
        }
    }

    fn accept(&mut self, now: Instant, stream: StreamId) {
        if stream.dir() == Dir::Bi {
            self.outbox.open(stream.into());
        }
        self.receiving.insert(stream, Receiving::default());
        let raises_at = &mut self.raises_at[stream.dir() as usize];
        if raises_at.take_if(|at| stream.index() >= *at).is_some() {
            self.is_dirty = true;
            let most = VarInt::from_u32(self.sender.config().max_streams);
            self.inner.set_max_concurrent_streams(stream.dir(), most);
        }
        self.events.push_back(Event::Opened(stream));
        self.take_data(now, stream);
    }

    pub(super) fn stopped(&mut self, stream: StreamId, code: u64) {
        self.reset(stream, code);
        self.events.push_back(Event::Stopped(stream, code));
    }

    pub(super) fn forget_sending(&mut self, stream: StreamId) {
        self.outbox.close(stream.into());
        self.sender.forget_stream(stream.into());
    }

    /// Forgets all streams: those of rejected early data.
    fn forget_streams(&mut self) {
        self.outbox.clear();
        self.forget_received();
    }
}
