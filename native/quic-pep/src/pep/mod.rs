//! The proxy, without I/O.

mod arrival;
mod ending;
mod guests;
mod pool;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::time::Instant;

use headway_knobs::limits::Limits as _;
use headway_quic::{ConnectionKey, Endpoint, Event, Network, ReceivedDatagram, Seed};
use headway_reactor::{Addresses, Budget, Looks};

use crate::link::Link;
use crate::record::Record;
use crate::settings::{Mode, Settings};
use crate::splitter::{Ends, Peer};
use crate::tls::Tls;
use arrival::Beginner;

type LinkId = u64;

/// A proxy that splits connections: what comes from clients goes on to the next hop, on another
/// connection for each.
///
/// Datagrams come in by [`Self::receive`], leave in [`Self::transmit`], and it knows no time but
/// the one it is told.
#[derive(Debug)]
pub struct Pep {
    settings: Settings,
    tls: Tls,
    downstream: Endpoint,
    upstream: Endpoint,
    beginners: Vec<Beginner>,
    links: BTreeMap<LinkId, Link>,
    next_link: LinkId,
    by_client: BTreeMap<ConnectionKey, LinkId>,
    by_server: BTreeMap<ConnectionKey, LinkId>,
    /// Links without a client, the oldest first.
    pool: VecDeque<LinkId>,
    pool_retry: Option<Instant>,
    clients: u64,
    records: VecDeque<Record>,
    addresses: Addresses,
    looks: Looks<LinkId>,
    budget: Budget,
}

impl Pep {
    /// A proxy without clients.
    ///
    /// # Arguments
    /// * `seeds` - of its ends towards clients and towards the next hop.
    #[must_use]
    pub fn new(settings: Settings, tls: Tls, seeds: &[Seed; 2]) -> Self {
        let mut downstream = Endpoint::server(tls.first_packets().clone(), &seeds[0]);
        let limits = settings.limits;
        if limits.newcomers.half_open_percent.is_some() {
            downstream = downstream.giving_tokens();
        }
        Self {
            settings,
            tls,
            downstream,
            upstream: Endpoint::client(&seeds[1]),
            beginners: Vec::new(),
            links: BTreeMap::new(),
            next_link: 0,
            by_client: BTreeMap::new(),
            by_server: BTreeMap::new(),
            pool: VecDeque::new(),
            pool_retry: None,
            clients: 0,
            records: VecDeque::new(),
            addresses: Addresses::new(limits.newcomers.connections_per_address),
            looks: Looks::new(limits.shortest_time()),
            budget: Budget::new(limits.memory),
        }
    }

    /// How many connections there are with clients and with the next hop, those included that are
    /// closed and still answer late packets.
    #[must_use]
    pub fn connections(&self) -> (usize, usize) {
        (self.downstream.connections(), self.upstream.connections())
    }

    /// Bytes that were read from one peer and wait to be sent to the other, of all connections.
    pub fn queued(&mut self) -> u64 {
        let mut queued = 0;
        for link in self.links.values() {
            let client = link.client_key().and_then(|key| self.downstream.connection(key));
            let server = self.upstream.connection(link.server);
            queued += link.splitter.queued(&Ends { client, server });
        }
        queued
    }

    /// The next connection that is over.
    pub fn next_record(&mut self) -> Option<Record> {
        self.records.pop_front()
    }

    /// Handles a datagram from a peer.
    ///
    /// # Errors
    /// Those of the network, which may have to answer.
    pub fn receive(
        &mut self,
        now: Instant,
        peer: Peer,
        network: &mut impl Network,
        datagram: ReceivedDatagram,
    ) -> io::Result<()> {
        if peer == Peer::Server {
            return self.upstream.receive(now, network, datagram);
        }
        self.receive_from_client(now, network, datagram)
    }

    /// Handles what time brought and what came, and sends all that may be sent.
    ///
    /// # Errors
    /// Those of the networks.
    pub fn transmit(
        &mut self,
        now: Instant,
        downstream: &mut impl Network,
        upstream: &mut impl Network,
    ) -> io::Result<()> {
        loop {
            self.fill_pool(now);
            self.downstream.transmit(now, downstream)?;
            self.upstream.transmit(now, upstream)?;
            let mut quiet = true;
            while let Some((key, event)) = self.downstream.poll() {
                quiet = false;
                self.client_event(now, key, &event);
            }
            while let Some((key, event)) = self.upstream.poll() {
                quiet = false;
                self.server_event(now, downstream, key, &event)?;
            }
            quiet &= !self.expire(now, downstream)?;
            quiet &= !self.finish_closings(now);
            quiet &= !self.keep_limits(now);
            if quiet {
                return Ok(());
            }
        }
    }

    /// When [`Self::transmit`] has to be called next.
    pub fn deadline(&mut self) -> Option<Instant> {
        let timeout = self.settings.connect_timeout;
        let connecting = self.links.values().filter_map(|link| link.given_up_at(timeout));
        connecting
            .chain(self.beginners.iter().map(|beginner| beginner.since + timeout))
            .chain(self.pool_retry)
            .chain(self.looks.deadline())
            .chain(self.budget.deadline())
            .chain(self.downstream.deadline())
            .chain(self.upstream.deadline())
            .min()
    }

    fn client_event(&mut self, now: Instant, key: ConnectionKey, event: &Event) {
        let Some(&id) = self.by_client.get(&key) else { return };
        let Some(link) = self.links.get_mut(&id) else { return };
        if let Event::Connected { .. } = event {
            link.established = Some(now);
            link.note_phase(now);
            self.validated(now, id);
        }
        self.split(now, id, Peer::Client, event);
        if let Event::Closed(close) = event {
            self.closed(now, id, Peer::Client, close);
        }
    }

    fn server_event(
        &mut self,
        now: Instant,
        downstream: &mut impl Network,
        key: ConnectionKey,
        event: &Event,
    ) -> io::Result<()> {
        let Some(&id) = self.by_server.get(&key) else { return Ok(()) };
        if let Event::Connected { early_data_accepted } = *event {
            self.connected(now, id, early_data_accepted);
            if self.settings.mode != Mode::Probed {
                self.accept_waiting(now, downstream, id);
            }
        }
        self.split(now, id, Peer::Server, event);
        if let Event::Closed(close) = event {
            if !self.refuse_waiting(now, downstream, id, close)? {
                self.closed(now, id, Peer::Server, close);
            }
        }
        Ok(())
    }

    /// Hands an event to the link's streams.
    fn split(&mut self, now: Instant, id: LinkId, peer: Peer, event: &Event) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let client = link.client_key().and_then(|key| self.downstream.connection(key));
        let server = self.upstream.connection(link.server);
        link.splitter.handle(now, &mut Ends { client, server }, peer, event);
    }
}
