//! One QUIC connection.

mod early;
mod event;
mod hurry;
mod keys;
mod overdue;
mod receiving;
mod sending;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Instant;

use bytes::Bytes;
use headway_schedule::{Priority, Scheduler};
use quinn_proto::{Dir, Side, StreamId, VarInt};

use crate::outbox::Outbox;
use crate::resume::Outcome;
use crate::sender::Sender;
use crate::stream::{Receiving, Sending, Source, Tally};
use crate::trace::HttpLog;
use early::Early;
pub(crate) use early::FirstPacket;
pub use event::{Close, Event, Statistics};
use hurry::Hurry;
use keys::KeyUpdates;
use overdue::OverdueAck;
pub(crate) use sending::Outlet;

/// What a datagram has on most paths, in bytes.
const USUAL_DATAGRAM: u16 = 1500;

/// A connection, client's or server's.
///
/// Nothing is sent or received but through the [`crate::Endpoint`] that it belongs to.
pub struct Connection {
    inner: quinn_proto::Connection,
    sender: Sender,
    outbox: Outbox,
    receiving: BTreeMap<StreamId, Receiving>,
    /// Pieces of all streams that wait behind gaps.
    pieces: usize,
    /// The largest datagram that came, in bytes.
    largest_datagram: usize,
    /// Data that was handed over to be sent and is not acknowledged, in bytes.
    unacknowledged: Tally,
    /// Of each kind: once the peer has opened as many streams, it may have as many as it may ever have.
    raises_at: [Option<u64>; 2],
    events: VecDeque<Event>,
    /// Something may be there to be sent.
    pub(crate) is_dirty: bool,
    /// A timer fired that may want probes sent.
    timer_fired: bool,
    overdue_ack: OverdueAck,
    hurry: Hurry,
    key_updates: KeyUpdates,
    early: Early,
}

impl Connection {
    pub(crate) fn new(
        inner: quinn_proto::Connection,
        sender: Sender,
        scheduler: Box<dyn Scheduler>,
    ) -> Self {
        let config = sender.config();
        let key_updates = KeyUpdates::new(config.key_update);
        let raises_at = [Dir::Bi, Dir::Uni].map(|dir| {
            let first = config.first_streams(dir);
            (first < config.max_streams).then_some(u64::from(first / 2))
        });
        Self {
            inner,
            sender,
            outbox: Outbox::new(scheduler),
            receiving: BTreeMap::new(),
            pieces: 0,
            largest_datagram: 0,
            unacknowledged: Tally::default(),
            raises_at,
            events: VecDeque::new(),
            is_dirty: true,
            timer_fired: false,
            overdue_ack: OverdueAck::default(),
            hurry: Hurry::default(),
            key_updates,
            early: Early::default(),
        }
    }

    /// Which side this is.
    #[must_use]
    pub fn side(&self) -> Side {
        self.inner.side()
    }

    /// Where the peer is.
    #[must_use]
    pub fn remote_address(&self) -> SocketAddr {
        self.inner.remote_address()
    }

    /// The application protocol that both agreed upon (ALPN).
    #[must_use]
    pub fn protocol(&self) -> Option<Vec<u8>> {
        self.handshake_data()?.protocol
    }

    /// The name that the client asked for (SNI); servers only.
    #[must_use]
    pub fn server_name(&self) -> Option<String> {
        self.handshake_data()?.server_name
    }

    fn handshake_data(&self) -> Option<Box<quinn_proto::crypto::rustls::HandshakeData>> {
        self.inner.crypto_session().handshake_data()?.downcast().ok()
    }

    /// Whether the handshake is still going on.
    #[must_use]
    pub fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    /// Whether the handshake is confirmed: complete, which a client knows from the server (RFC 9001 section 4.1.2).
    fn is_confirmed(&self) -> bool {
        !self.is_handshaking()
            && (self.side().is_server() || self.inner.stats().frame_rx.handshake_done > 0)
    }

    /// Whether streams can be used before the handshake is complete.
    #[must_use]
    pub fn has_early_data(&self) -> bool {
        self.inner.has_0rtt()
    }

    /// Whether it is over, and nothing will be sent or received any longer.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.inner.is_drained()
    }

    /// It is over: what it leaves behind for later ones.
    pub(crate) fn end(&mut self) -> Outcome {
        self.sender.end()
    }

    /// Whether either side has closed it.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// Its numbers now.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let rtt = self.sender.rtt();
        let (lost_packets, spurious_losses) = self.sender.losses();
        Statistics {
            window: self.sender.window(),
            in_flight: self.sender.in_flight(),
            smoothed_rtt: rtt.smoothed,
            min_rtt: rtt.min,
            capacity: self.sender.capacity(),
            sent_packets: self.inner.stats().path.sent_packets,
            lost_packets,
            spurious_losses,
        }
    }

    /// Memory that the peer makes this side keep, in bytes: what came and was not read, and what is to be sent
    /// to it or was sent and is not acknowledged.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.kept_of_received() + self.outbox.queued() + self.unacknowledged.bytes()
    }

    /// The part of it that came and was not read.
    #[must_use]
    pub fn kept_of_received(&self) -> u64 {
        let streams: u64 = self.receiving.values().map(Receiving::kept).sum();
        streams + self.sender.left_over() + self.early.kept()
    }

    /// The next event.
    pub fn poll(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether there is one.
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Opens a stream, if the peer allows one more.
    pub fn open(&mut self, dir: Dir) -> Option<StreamId> {
        let stream = self.inner.streams().open(dir)?;
        self.outbox.open(stream.into());
        if dir == Dir::Bi {
            self.receiving.insert(stream, Receiving::default());
        }
        Some(stream)
    }

    /// Lets the scheduler decide when this stream's data is sent, by its priority. Without one, it
    /// goes before all that have one.
    pub fn prioritise(&mut self, stream: StreamId, priority: &Priority) {
        self.outbox.prioritise(stream.into(), priority);
    }

    /// Bytes that were written to a stream and not handed over yet. Writers that heed this keep
    /// memory bounded.
    #[must_use]
    pub fn queued(&self, stream: StreamId) -> u64 {
        self.outbox.get(stream.into()).map_or(0, Sending::queued)
    }

    /// Adds data to a stream. Data for a stream that is reset or stopped is thrown away.
    pub fn write(&mut self, stream: StreamId, data: Bytes) {
        self.is_dirty = true;
        self.outbox.change(stream.into(), |sending| sending.push(data));
    }

    /// What follows the data written to a stream, to its end. It is read when it may be sent.
    pub fn supply(&mut self, stream: StreamId, source: Box<dyn Source>) {
        self.is_dirty = true;
        self.outbox.change(stream.into(), |sending| sending.supply(source));
    }

    /// Ends a stream after what was written.
    pub fn finish(&mut self, stream: StreamId) {
        self.is_dirty = true;
        self.outbox.change(stream.into(), Sending::end);
    }

    /// Gives the sending side of a stream up (RESET_STREAM).
    pub fn reset(&mut self, stream: StreamId, code: u64) {
        self.is_dirty = true;
        // A stream that is closed already needs no reset.
        let _ = self.inner.send_stream(stream).reset(varint(code));
        self.forget_sending(stream);
    }

    /// Asks the peer to give its sending side of a stream up (STOP_SENDING).
    pub fn stop(&mut self, stream: StreamId, code: u64) {
        self.is_dirty = true;
        // As above.
        let _ = self.inner.recv_stream(stream).stop(varint(code));
        self.remove_received(stream);
    }

    /// Forgets a stream whose end was read.
    pub fn forget(&mut self, stream: StreamId) {
        self.remove_received(stream);
    }

    /// Sends a packet that the peer has to acknowledge, even if there is nothing to be sent (PING).
    pub fn ping(&mut self) {
        self.is_dirty = true;
        self.inner.ping();
    }

    /// Closes the connection. What was not sent yet will not be.
    pub fn close(&mut self, now: Instant, code: u64, reason: &str) {
        self.is_dirty = true;
        let time = self.sender.time(now);
        self.sender.tracer().closed(time, code, reason);
        self.inner.close(now, varint(code), Bytes::copy_from_slice(reason.as_bytes()));
    }

    /// The qlog, if there is one, for what HTTP/3 has to tell.
    pub fn http_log(&mut self, now: Instant) -> Option<HttpLog<'_>> {
        let time = self.sender.time(now);
        self.sender.tracer().http(time)
    }

    /// The local address changed on purpose: a new path (RFC 9000 section 9).
    pub(crate) fn migrate(&mut self, now: Instant) {
        self.is_dirty = true;
        self.inner.path_changed(now);
        self.inner.local_address_changed();
    }

    /// Handles a datagram whose first packet is of this kind.
    ///
    /// # Arguments
    /// * `size` - of the datagram.
    pub(crate) fn handle_datagram(
        &mut self,
        now: Instant,
        first: FirstPacket,
        size: usize,
        event: quinn_proto::ConnectionEvent,
    ) {
        self.largest_datagram = self.largest_datagram.max(size);
        let handshaking = self.inner.is_handshaking();
        match self.inner.side() {
            Side::Client if handshaking && first != FirstPacket::Initial && !self.has_keys() => {
                self.hurry.unreadable(now, self.inner.rtt());
            }
            Side::Server if handshaking && first == FirstPacket::OneRtt => {
                let usual = self.sender.config().max_udp_payload.max(USUAL_DATAGRAM);
                self.early.hold(event, size, usual.into());
                return;
            }
            _ => {}
        }
        self.handle_event(now, event);
        while !self.inner.is_handshaking() {
            let Some(event) = self.early.next() else { break };
            self.handle_event(now, event);
        }
    }

    /// Whether a client has those of Handshake packets, as far as it has got the ServerHello.
    fn has_keys(&self) -> bool {
        self.inner.stats().frame_rx.crypto > 0
    }

    pub(crate) fn handle_event(&mut self, now: Instant, event: quinn_proto::ConnectionEvent) {
        self.is_dirty = true;
        self.inner.handle_event(event);
        self.hurry(now);
        self.observe(now);
    }

    /// Notices a repeated ClientHello, which is answered before the probe timeout.
    fn hurry(&mut self, now: Instant) {
        let frames = self.inner.stats();
        let crypto = (frames.frame_rx.crypto, frames.frame_tx.crypto);
        let handshaking = self.inner.side().is_server() && self.inner.is_handshaking();
        self.hurry.look(now, handshaking, crypto, self.inner.rtt());
    }

    fn observe(&mut self, now: Instant) {
        let path = self.inner.stats().path;
        let lost = (path.lost_packets, path.lost_plpmtud_probes);
        self.sender.observe(now, self.inner.remote_address(), lost);
        let patience = self.inner.rtt() + self.sender.peer_max_ack_delay();
        self.overdue_ack.look(now, self.sender.owes_first_ack(), patience);
        self.collect(now);
    }

    pub(crate) fn poll_endpoint_event(&mut self) -> Option<quinn_proto::EndpointEvent> {
        self.inner.poll_endpoint_events()
    }

    /// When it has to be driven next.
    pub(crate) fn deadline(&mut self) -> Option<Instant> {
        let timer = self.inner.poll_timeout();
        [timer, self.sender.release(), self.overdue_ack.due()].into_iter().flatten().min()
    }

    /// Handles what time brought.
    pub(crate) fn handle_time(&mut self, now: Instant) {
        if self.sender.release().is_some_and(|at| at <= now) {
            self.is_dirty = true;
        }
        if self.overdue_ack.take(now) {
            self.ping();
            self.observe(now);
        }
        if self.inner.poll_timeout().is_some_and(|at| at <= now) {
            self.is_dirty = true;
            self.timer_fired = true;
            self.inner.handle_timeout(now);
            self.observe(now);
        }
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("side", &self.side())
            .field("remote", &self.remote_address())
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}

/// Codes of applications are chosen by programs, never larger than a variable-length integer.
fn varint(code: u64) -> VarInt {
    VarInt::from_u64(code).unwrap_or(VarInt::MAX)
}
