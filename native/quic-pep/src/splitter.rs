//! Streams of one connection carried over to another, under the same identifiers.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use bytes::Bytes;
use headway_quic::{Connection, Dir, Event, Read, Side, StreamId};
use headway_schedule::Priority;

/// Bytes of a stream that wait to be sent to one end, beyond which no more of them are read from
/// the other. It is above the level at which a connection asks for more.
pub const QUEUE_LIMIT: u64 = 256 << 10;

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Peer {
    /// The client, or the proxy before this one.
    Client,
    /// The server, or the proxy behind this one.
    Server,
}

impl Peer {
    /// The one at the end of the other connection.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// The two connections, as far as they are there.
pub(crate) struct Ends<'a> {
    pub(crate) client: Option<&'a mut Connection>,
    pub(crate) server: Option<&'a mut Connection>,
}

impl Ends<'_> {
    pub(crate) fn of(&mut self, peer: Peer) -> Option<&mut Connection> {
        match peer {
            Peer::Client => self.client.as_deref_mut(),
            Peer::Server => self.server.as_deref_mut(),
        }
    }

    /// The connection that data comes from and the one that it goes to.
    fn towards(&mut self, peer: Peer) -> Option<(&mut Connection, &mut Connection)> {
        let (client, server) = (self.client.as_deref_mut()?, self.server.as_deref_mut()?);
        Some(match peer {
            Peer::Client => (server, client),
            Peer::Server => (client, server),
        })
    }
}

/// One direction of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// More may come.
    Open,
    /// Its end was passed on and is not acknowledged yet.
    Finished,
    /// It was given up, with this code.
    Reset(u64),
    /// All of it was acknowledged, or the stream has no such direction.
    Over,
}

impl Flow {
    fn is_done(self) -> bool {
        matches!(self, Self::Reset(_) | Self::Over)
    }
}

/// A stream.
#[derive(Debug)]
struct Relay {
    to_client: Flow,
    to_server: Flow,
    /// Whether the far connection has it, too.
    is_open: bool,
    /// Whoever opened it wants no more of the other's data, with this code.
    stop: Option<u64>,
    /// What was passed on to the server as early data, in case that it is rejected.
    early: Vec<Bytes>,
}

impl Relay {
    fn new(stream: StreamId) -> Self {
        let sends = |peer| match (stream.dir(), opener(stream) == peer) {
            (Dir::Bi, _) | (Dir::Uni, true) => Flow::Open,
            (Dir::Uni, false) => Flow::Over,
        };
        Self {
            to_client: sends(Peer::Server),
            to_server: sends(Peer::Client),
            is_open: false,
            stop: None,
            early: Vec::new(),
        }
    }

    fn flow(&mut self, towards: Peer) -> &mut Flow {
        match towards {
            Peer::Client => &mut self.to_client,
            Peer::Server => &mut self.to_server,
        }
    }

    fn is_over(&self) -> bool {
        self.to_client.is_done() && self.to_server.is_done()
    }
}

/// What was carried in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Bytes of streams.
    pub bytes: u64,
    /// When the first of them came.
    pub first: Option<Instant>,
}

/// Carries the streams of one client's connection and of the server's.
///
/// A stream that one peer opened is opened towards the other as soon as that allows it, in the
/// order in which they were opened; so both have the same identifier (RFC 9000 section 2.1 has the
/// identifiers of each kind used in order).
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    relays: BTreeMap<StreamId, Relay>,
    /// Streams that the far connection does not allow yet, by the two bits that name their kind.
    waiting: [VecDeque<StreamId>; 4],
    to_client: Carried,
    to_server: Carried,
    streams: u64,
    /// What is sent to the server may have to be sent again.
    is_early: bool,
}

impl Splitter {
    /// What was carried towards one of them.
    pub(crate) fn carried(&mut self, towards: Peer) -> &mut Carried {
        match towards {
            Peer::Client => &mut self.to_client,
            Peer::Server => &mut self.to_server,
        }
    }

    /// Streams seen so far.
    pub(crate) fn streams(&self) -> u64 {
        self.streams
    }

    /// Streams seen and bytes carried so far.
    pub(crate) fn advanced(&self) -> u64 {
        self.streams + self.to_client.bytes + self.to_server.bytes
    }

    /// Early data will be sent to the server, until it says whether it accepts them.
    pub(crate) fn begin_early_data(&mut self) {
        self.is_early = true;
    }

    /// The server has said whether it accepts early data.
    pub(crate) fn end_early_data(&mut self, accepted: bool) {
        if !std::mem::take(&mut self.is_early) {
            return;
        }
        if !accepted {
            self.reopen();
        }
        for relay in self.relays.values_mut().filter(|relay| relay.is_open) {
            relay.early.clear();
        }
        self.relays.retain(|_, relay| !(relay.is_open && relay.is_over()));
    }

    /// The streams that the client opened are gone on the server's connection.
    fn reopen(&mut self) {
        let of_client = |stream: &StreamId| opener(*stream) == Peer::Client;
        for kind in [kind(Dir::Bi), kind(Dir::Uni)] {
            self.waiting[kind].clear();
        }
        for (stream, relay) in self.relays.iter_mut().filter(|(stream, _)| of_client(stream)) {
            relay.is_open = false;
            self.waiting[kind(stream.dir())].push_back(*stream);
        }
    }

    /// Something happened on the connection of a peer.
    pub(crate) fn handle(&mut self, now: Instant, ends: &mut Ends<'_>, peer: Peer, event: &Event) {
        match *event {
            Event::Opened(stream) => self.opened(now, ends, peer, stream),
            Event::Readable(stream) => self.carry(now, ends, stream, peer.other()),
            Event::Writable(stream) => self.carry(now, ends, stream, peer),
            Event::Sent(stream) => self.end(stream, peer, Flow::Over),
            Event::Stopped(stream, code) => self.stopped(ends, stream, peer, code),
            Event::Connected { .. } | Event::Available(_) => self.open_waiting(now, ends),
            // What it relays is data, of no source.
            Event::Closed(_) | Event::Failed(..) => {}
        }
    }

    /// Opens all streams that wait and that the far connection allows.
    pub(crate) fn open_waiting(&mut self, now: Instant, ends: &mut Ends<'_>) {
        for kind in 0..self.waiting.len() {
            while let Some(&stream) = self.waiting[kind].front() {
                let far = opener(stream).other();
                let Some(opened) = ends.of(far).and_then(|far| far.open(stream.dir())) else {
                    break;
                };
                // No peer's choice: streams wait in the order of their identifiers, of which none is left
                // out, and none is forgotten while early data may have to be opened again.
                assert_eq!(opened, stream, "streams are opened in the order of their identifiers");
                self.waiting[kind].pop_front();
                self.begin(now, ends, stream, far);
            }
        }
    }

    /// Passes on all that a peer sent before it closed its connection, whatever has to wait.
    pub(crate) fn drain(&mut self, now: Instant, ends: &mut Ends<'_>, towards: Peer) {
        let streams: Vec<StreamId> = self.relays.keys().copied().collect();
        for stream in streams {
            self.carry_within(now, ends, stream, towards, u64::MAX);
        }
    }

    /// Bytes that wait to be sent to either of them.
    pub(crate) fn queued(&self, ends: &Ends<'_>) -> u64 {
        let ends = [ends.client.as_deref(), ends.server.as_deref()];
        ends.into_iter()
            .flatten()
            .map(|connection| {
                self.relays.keys().map(|stream| connection.queued(*stream)).sum::<u64>()
            })
            .sum()
    }

    /// What it keeps itself, in bytes: early data that may have to be sent again.
    pub(crate) fn kept(&self) -> u64 {
        let early = self.relays.values().flat_map(|relay| &relay.early);
        early.map(|data| data.len() as u64).sum()
    }

    /// Whether a peer has acknowledged the end of all streams that have one, and nothing waits to
    /// be sent to it.
    pub(crate) fn is_delivered(&self, towards: Peer, connection: &Connection) -> bool {
        self.relays.iter().all(|(stream, relay)| {
            let flow = match towards {
                Peer::Client => relay.to_client,
                Peer::Server => relay.to_server,
            };
            !relay.is_open || (flow != Flow::Finished && connection.queued(*stream) == 0)
        })
    }

    fn opened(&mut self, now: Instant, ends: &mut Ends<'_>, peer: Peer, stream: StreamId) {
        self.streams += 1;
        self.relays.insert(stream, Relay::new(stream));
        self.waiting[index(stream)].push_back(stream);
        if let Some(near) = ends.of(peer) {
            near.prioritise(stream, &Priority::default());
        }
        self.open_waiting(now, ends);
    }

    /// The far connection has the stream now: it gets what it should have got before.
    fn begin(&mut self, now: Instant, ends: &mut Ends<'_>, stream: StreamId, far: Peer) {
        let (Some(relay), Some(connection)) = (self.relays.get_mut(&stream), ends.of(far)) else {
            return;
        };
        relay.is_open = true;
        connection.prioritise(stream, &Priority::default());
        for data in relay.early.drain(..) {
            connection.write(stream, data);
        }
        match *relay.flow(far) {
            Flow::Finished => connection.finish(stream),
            Flow::Reset(code) => connection.reset(stream, code),
            Flow::Open | Flow::Over => {}
        }
        if let Some(code) = relay.stop {
            connection.stop(stream, code);
        }
        self.carry(now, ends, stream, far);
    }

    fn carry(&mut self, now: Instant, ends: &mut Ends<'_>, stream: StreamId, towards: Peer) {
        self.carry_within(now, ends, stream, towards, QUEUE_LIMIT);
    }

    /// Reads a stream from one connection and writes it to the other, until nothing is left or too
    /// much waits.
    fn carry_within(
        &mut self,
        now: Instant,
        ends: &mut Ends<'_>,
        stream: StreamId,
        towards: Peer,
        limit: u64,
    ) {
        let Some(relay) = self.relays.get_mut(&stream).filter(|relay| relay.is_open) else {
            return;
        };
        let Some((from, to)) = ends.towards(towards) else { return };
        while *relay.flow(towards) == Flow::Open {
            if to.queued(stream) >= limit && from.reset_code(stream).is_none() {
                return;
            }
            match from.read(now, stream) {
                Read::Data(data) => {
                    if self.is_early && towards == Peer::Server {
                        relay.early.push(data.clone());
                    }
                    let carried = match towards {
                        Peer::Client => &mut self.to_client,
                        Peer::Server => &mut self.to_server,
                    };
                    carried.bytes += data.len() as u64;
                    carried.first.get_or_insert(now);
                    to.write(stream, data);
                }
                Read::Finished => {
                    to.finish(stream);
                    *relay.flow(towards) = Flow::Finished;
                }
                Read::Reset(code) => {
                    to.reset(stream, code);
                    *relay.flow(towards) = Flow::Reset(code);
                }
                Read::Blocked => return,
            }
        }
        from.forget(stream);
        self.retire(stream);
    }

    /// A peer wants no more of a stream: whoever sends it is told.
    fn stopped(&mut self, ends: &mut Ends<'_>, stream: StreamId, peer: Peer, code: u64) {
        let Some(relay) = self.relays.get_mut(&stream) else { return };
        if peer == opener(stream) {
            relay.stop = Some(code);
        }
        if relay.is_open {
            if let Some(sender) = ends.of(peer.other()) {
                sender.stop(stream, code);
            }
        }
        self.end(stream, peer, Flow::Reset(code));
    }

    fn end(&mut self, stream: StreamId, towards: Peer, flow: Flow) {
        if let Some(relay) = self.relays.get_mut(&stream) {
            *relay.flow(towards) = flow;
            self.retire(stream);
        }
    }

    /// Forgets a stream that is over in both directions.
    fn retire(&mut self, stream: StreamId) {
        if !self.is_early && self.relays.get(&stream).is_some_and(Relay::is_over) {
            self.relays.remove(&stream);
        }
    }
}

/// Who opened a stream.
fn opener(stream: StreamId) -> Peer {
    match stream.initiator() {
        Side::Client => Peer::Client,
        Side::Server => Peer::Server,
    }
}

/// The two bits that name a stream's kind (RFC 9000 section 2.1).
fn index(stream: StreamId) -> usize {
    (u64::from(stream) & 3) as usize
}

/// The same bits of streams that clients open.
fn kind(dir: Dir) -> usize {
    index(StreamId::new(Side::Client, dir, 0))
}
