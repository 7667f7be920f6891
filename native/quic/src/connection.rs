//! One QUIC connection.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use headway_schedule::{Priority, Scheduler};
use quinn_proto::{
    ConnectionError, Dir, ReadError, ReadableError, Side, StreamEvent, StreamId, Transmit, VarInt,
    WriteError,
};

use crate::outbox::Outbox;
use crate::packetsize::{piece, varint_size};
use crate::resume::Outcome;
use crate::sender::{Permission, Sender};
use crate::stream::{HeadOfLine, Read, Receiving, Sending, Source};
use crate::trace::HttpLog;

/// Unread bytes of a stream beyond which no more are taken from quinn-proto, so that flow control
/// stops the peer.
const UNREAD_LIMIT: u64 = 256 << 10;
/// The application error code with which a peer that takes too much is sent away: H3_EXCESSIVE_LOAD.
const EXCESSIVE: u64 = 0x107;
/// Datagrams that are made together, in bytes: what one call of the kernel takes.
const MAX_RUN_BYTES: usize = 65_000;
/// A packet's room in bytes that is not worth another stream's frame.
const SMALL_ROOM: usize = 64;

/// Something happened on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Connected {
        /// Whether the server took 0-RTT data; if a client sent some and it was not taken, its
        /// streams are gone and have to be opened again.
        early_data_accepted: bool,
    },
    /// The peer opened a stream.
    Opened(StreamId),
    /// `read` has news.
    Readable(StreamId),
    /// Little is left to send on a stream: it can take more.
    Writable(StreamId),
    /// All of a finished stream was acknowledged.
    Sent(StreamId),
    /// The peer wants no more of a stream, with this code. The stream was reset with it.
    Stopped(StreamId, u64),
    /// A stream's [`Source`] has failed, in words; nothing more is sent on the stream, which is to be
    /// reset.
    Failed(StreamId, String),
    /// More streams of a kind can be opened.
    Available(Dir),
    /// The connection is over.
    Closed(Close),
}

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Close {
    /// This side closed it.
    Local,
    /// The peer's application closed it, with this code.
    Application {
        /// The application protocol's error code.
        code: u64,
        /// In words.
        reason: String,
    },
    /// Nothing came for as long as the idle timeout.
    TimedOut,
    /// An error of the transport, of either side, or of TLS.
    Transport(String),
}

impl std::fmt::Display for Close {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Local => f.write_str("closed"),
            Self::Application { code, reason } if reason.is_empty() => {
                write!(f, "closed by the peer with code {code:#x}")
            }
            Self::Application { code, reason } => {
                write!(f, "closed by the peer with code {code:#x}: {reason}")
            }
            Self::TimedOut => f.write_str("nothing came until the idle timeout"),
            Self::Transport(reason) => f.write_str(reason),
        }
    }
}

/// Numbers of a connection at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// The congestion window in bytes.
    pub window: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// The smoothed round-trip time; zero before the first sample.
    pub smoothed_rtt: Duration,
    /// The least round-trip time.
    pub min_rtt: Duration,
    /// Bytes that the path took in a least round-trip time lately, for Careful Resume; none before a
    /// whole round trip.
    pub capacity: Option<u64>,
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Of these, packets that were acknowledged after all.
    pub spurious_losses: u64,
}

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
    /// Of each kind: once the peer has opened as many streams, it may have as many as it may ever have.
    raises_at: [Option<u64>; 2],
    events: VecDeque<Event>,
    /// Something may be there to be sent.
    pub(crate) is_dirty: bool,
    /// A timer fired that may want probes sent.
    timer_fired: bool,
}

/// Where datagrams leave: runs of one size, of which the last may be smaller.
pub(crate) struct Outlet<'a> {
    /// They are made here.
    pub(crate) buffer: &'a mut Vec<u8>,
    /// Sends what is in the buffer.
    pub(crate) send: &'a mut dyn FnMut(&Transmit, &mut Vec<u8>) -> io::Result<()>,
}

impl Connection {
    pub(crate) fn new(
        inner: quinn_proto::Connection,
        sender: Sender,
        scheduler: Box<dyn Scheduler>,
    ) -> Self {
        let config = sender.config();
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
            raises_at,
            events: VecDeque::new(),
            is_dirty: true,
            timer_fired: false,
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

    pub(crate) fn handle_event(&mut self, now: Instant, event: quinn_proto::ConnectionEvent) {
        self.is_dirty = true;
        self.inner.handle_event(event);
        self.observe(now);
    }

    fn observe(&mut self, now: Instant) {
        let path = self.inner.stats().path;
        let lost = (path.lost_packets, path.lost_plpmtud_probes);
        self.sender.observe(now, self.inner.remote_address(), lost);
        self.collect(now);
    }

    pub(crate) fn poll_endpoint_event(&mut self) -> Option<quinn_proto::EndpointEvent> {
        self.inner.poll_endpoint_events()
    }

    /// When it has to be driven next.
    pub(crate) fn deadline(&mut self) -> Option<Instant> {
        let timer = self.inner.poll_timeout();
        [timer, self.sender.release()].into_iter().flatten().min()
    }

    /// Handles what time brought.
    pub(crate) fn handle_time(&mut self, now: Instant) {
        if self.sender.release().is_some_and(|at| at <= now) {
            self.is_dirty = true;
        }
        if self.inner.poll_timeout().is_some_and(|at| at <= now) {
            self.is_dirty = true;
            self.timer_fired = true;
            self.inner.handle_timeout(now);
            self.observe(now);
        }
    }

    /// Sends all that may be sent.
    pub(crate) fn drive(&mut self, now: Instant, outlet: &mut Outlet<'_>) -> io::Result<()> {
        self.is_dirty = false;
        if std::mem::take(&mut self.timer_fired) {
            self.send_probes(now, outlet)?;
        }
        // A packet is for the stream that the scheduler names, and for nothing else: all else goes
        // before.
        let mut rest_is_sent = false;
        loop {
            let permission = self.sender.permission(now);
            let is_granted = permission == Permission::Granted;
            self.sender.gate().set_open(is_granted);
            let is_exact = self.outbox.is_scheduled() && !rest_is_sent;
            let run = if is_granted && !is_exact { self.hand_over() } else { 1 };
            if self.transmit(now, run, outlet)?.is_some() {
                continue;
            }
            if !(is_granted && is_exact) {
                self.tell_why_idle(now, permission);
                break;
            }
            rest_is_sent = true;
        }
        self.collect(now);
        Ok(())
    }

    /// With the gate closed, nothing that elicits acknowledgments passes but probes.
    fn send_probes(&mut self, now: Instant, outlet: &mut Outlet<'_>) -> io::Result<()> {
        self.sender.gate().set_open(false);
        let mut probed = false;
        while let Some(elicits) = self.transmit(now, 1, outlet)? {
            probed |= elicits;
        }
        if probed {
            self.sender.probe(now);
        }
        Ok(())
    }

    /// Sends datagrams of one size.
    ///
    /// # Arguments
    /// * `run` - how many may leave.
    ///
    /// # Returns
    /// Whether one elicits an acknowledgment, and is no probe of the path's MTU; `None` if there was
    /// none to send.
    fn transmit(
        &mut self,
        now: Instant,
        run: usize,
        outlet: &mut Outlet<'_>,
    ) -> io::Result<Option<bool>> {
        outlet.buffer.clear();
        let mtu = usize::from(self.inner.current_mtu());
        let run = run.min(MAX_RUN_BYTES / mtu).max(1);
        let Some(transmit) = self.inner.poll_transmit(now, run, outlet.buffer) else {
            return Ok(None);
        };
        let off_path = transmit.destination != self.inner.remote_address();
        let is_mtu_probe = transmit.segment_size.is_none() && transmit.size > mtu;
        let elicits = self.sender.observe_sent(now, off_path, is_mtu_probe);
        (outlet.send)(&transmit, outlet.buffer)?;
        Ok(Some(elicits && !is_mtu_probe))
    }

    fn tell_why_idle(&mut self, now: Instant, permission: Permission) {
        let waits = self.sender.has_unsent() || self.outbox.next().is_some();
        match permission {
            Permission::Granted => self.sender.run_dry(now),
            _ if waits => self.sender.hold_back(),
            _ => {}
        }
    }

    /// Hands one packet's worth of stream data over to quinn-proto; if there is but one stream, that
    /// of all packets which are about to leave. quinn-proto seeks what it sends among all pieces
    /// that it was given and that are not acknowledged: the fewer, the better.
    ///
    /// # Returns
    /// How many packets may leave before it is asked again which stream is next.
    fn hand_over(&mut self) -> usize {
        let size = self.inner.current_mtu();
        let run = if self.outbox.is_for_one() { self.sender.run(size) } else { 1 };
        let mut room = self.sender.room(size);
        while room >= SMALL_ROOM {
            let Some(stream) = self.outbox.next() else { break };
            let header = self.sender.stream_header(stream);
            let mut data = room - header;
            if self.outbox.is_for_one() {
                data += self.sender.room_after_next(size, run, stream, data);
            }
            let available = self.outbox.get(stream).map_or(0, Sending::available);
            let piece = piece(available, data);
            let used = self.hand_over_piece(stream, piece);
            // If another frame follows, this one says how long it is.
            let length = varint_size(used as u64);
            room = room.saturating_sub(header + length + used);
        }
        run
    }

    fn hand_over_piece(&mut self, stream: u64, room: usize) -> usize {
        let id = stream_id(stream);
        let inner = &mut self.inner;
        let mut stopped = None;
        let handed = self.outbox.hand_over(stream, room, |pieces, ends| {
            let mut writer = inner.send_stream(id);
            let mut written = 0;
            // Until all is taken or refused: quinn-proto tells when flow control lets a stream go
            // on only if it refused something, not if it took a part.
            while pieces.iter().any(|piece| !piece.is_empty()) {
                match writer.write_chunks(pieces) {
                    Ok(taken) => written += taken.bytes as u64,
                    Err(WriteError::Stopped(code)) => {
                        stopped = Some(code);
                        break;
                    }
                    Err(WriteError::Blocked | WriteError::ClosedStream) => break,
                }
            }
            if ends && pieces.iter().all(Bytes::is_empty) {
                // It cannot have been finished or reset before: then nothing would be handed over.
                let _ = writer.finish();
            }
            written
        });
        self.sender.handed_over(stream, handed.bytes);
        if let Some(code) = stopped {
            self.stopped(id, code.into());
        } else if let Some(error) = handed.failure {
            self.sender.forget_stream(stream);
            self.events.push_back(Event::Failed(id, error.to_string()));
        } else if handed.is_low {
            self.events.push_back(Event::Writable(id));
        }
        usize::try_from(handed.bytes).unwrap_or(usize::MAX)
    }

    /// Turns quinn-proto's events into this connection's.
    fn collect(&mut self, now: Instant) {
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
                    self.events.push_back(Event::Closed(close(reason)));
                }
                quinn_proto::Event::Stream(event) => self.collect_stream_event(now, &event),
                quinn_proto::Event::HandshakeDataReady => {
                    let (time, protocol) = (self.sender.time(now), self.protocol());
                    self.sender.tracer().protocol(time, &protocol.unwrap_or_default());
                }
                quinn_proto::Event::DatagramReceived | quinn_proto::Event::DatagramsUnblocked => {}
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

    fn stopped(&mut self, stream: StreamId, code: u64) {
        self.reset(stream, code);
        self.events.push_back(Event::Stopped(stream, code));
    }

    fn forget_sending(&mut self, stream: StreamId) {
        self.outbox.close(stream.into());
        self.sender.forget_stream(stream.into());
    }

    /// Forgets all streams: those of rejected early data.
    fn forget_streams(&mut self) {
        self.outbox.clear();
        self.forget_received();
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
        let mut news = false;
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
                Ok(Some(chunk)) => news |= receiving.insert(time, chunk.offset, chunk.bytes),
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

    fn remove_received(&mut self, stream: StreamId) {
        if let Some(receiving) = self.receiving.remove(&stream) {
            self.pieces -= receiving.pieces();
        }
    }

    fn forget_received(&mut self) {
        self.receiving.clear();
        self.pieces = 0;
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

fn close(error: ConnectionError) -> Close {
    match error {
        ConnectionError::LocallyClosed => Close::Local,
        ConnectionError::TimedOut => Close::TimedOut,
        ConnectionError::ApplicationClosed(close) => Close::Application {
            code: close.error_code.into(),
            reason: String::from_utf8_lossy(&close.reason).into_owned(),
        },
        other => Close::Transport(other.to_string()),
    }
}

/// Codes of applications are chosen by programs, never larger than a variable-length integer.
fn varint(code: u64) -> VarInt {
    VarInt::from_u64(code).unwrap_or(VarInt::MAX)
}

fn stream_id(id: u64) -> StreamId {
    VarInt::from_u64(id).expect("it was a stream's identifier before").into()
}
