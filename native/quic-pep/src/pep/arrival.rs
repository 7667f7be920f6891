//! Clients that come, and the connections to the next hop that are begun for them.

use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use headway_quic::{ConnectionKey, Incoming, Network, ReceivedDatagram};

use super::{LinkId, Pep};
use crate::hello::{ClientHello, HelloReader};
use crate::initial;
use crate::link::{Client, ClientEnd, Link};
use crate::record::Ending;
use crate::settings::Mode;
use crate::splitter::Ends;

/// A client whose ClientHello is not complete.
#[derive(Debug)]
pub(super) struct Beginner {
    pub(super) incoming: Incoming,
    pub(super) since: Instant,
    /// The Destination Connection ID of its first packet, or of the first after a Retry.
    destination: Vec<u8>,
    hello: HelloReader,
}

impl Pep {
    /// As [`Self::receive`]; the first packets of new clients are read, too.
    pub(super) fn receive_from_client(
        &mut self,
        now: Instant,
        network: &mut impl Network,
        datagram: ReceivedDatagram,
    ) -> io::Result<()> {
        let Some(destination) = initial::destination(&datagram.payload) else {
            return self.downstream.receive(now, network, datagram);
        };
        let destination = destination.to_vec();
        let (remote, payload) = (datagram.remote, datagram.payload.to_vec());
        self.downstream.receive(now, network, datagram)?;
        while let Some(incoming) = self.downstream.next_incoming() {
            if self.is_full() {
                self.downstream.refuse(network, incoming)?;
                continue;
            }
            if !incoming.is_validated() && self.is_crowded() {
                self.downstream.retry(network, incoming)?;
                continue;
            }
            let hello = HelloReader::default();
            let destination = destination.clone();
            self.beginners.push(Beginner { incoming, since: now, destination, hello });
        }
        self.accept_probing(now, network, remote);
        let is_its = |beginner: &Beginner| {
            beginner.incoming.remote_address() == remote && beginner.destination == destination
        };
        let Some(index) = self.beginners.iter().position(is_its) else { return Ok(()) };
        let hello = &mut self.beginners[index].hello;
        hello.receive(self.tls.first_packets(), &payload);
        let Some(hello) = hello.read() else { return Ok(()) };
        let incoming = self.beginners.swap_remove(index).incoming;
        match hello {
            Ok(hello) => self.welcome(now, network, incoming, hello),
            Err(_) => self.downstream.refuse(network, incoming),
        }
    }

    /// A client has said what it wants.
    fn welcome(
        &mut self,
        now: Instant,
        network: &mut impl Network,
        incoming: Incoming,
        hello: ClientHello,
    ) -> io::Result<()> {
        let (address, is_validated) = (incoming.remote_address().ip(), incoming.is_validated());
        if is_validated && !self.addresses.open(address) {
            return self.downstream.refuse(network, incoming);
        }
        let pooled = self.take_pooled(&hello);
        let Some(id) = pooled.or_else(|| self.connect_for(now, &hello)) else {
            if is_validated {
                self.addresses.close(address);
            }
            return self.downstream.refuse(network, incoming);
        };
        self.clients += 1;
        let Some(link) = self.links.get_mut(&id) else { return Ok(()) };
        link.client = Some(Client {
            number: self.clients,
            address: incoming.remote_address(),
            server_name: hello.server_name,
            arrived: now,
        });
        link.pooled = pooled.is_some();
        (link.is_half_open, link.is_counted) = (!is_validated, is_validated);
        self.looks.add(id, now, None);
        link.client_end = ClientEnd::Waiting(Box::new(incoming));
        if self.settings.mode == Mode::Default && link.protocol.is_none() {
            link.protocol = hello.protocols.into_iter().next();
        }
        if self.settings.mode == Mode::Default || link.connected.is_some() {
            self.accept_waiting(now, network, id);
        }
        Ok(())
    }

    /// Begins a connection to the next hop that offers what a client offers: in the default mode
    /// only what the client is already going to be told.
    fn connect_for(&mut self, now: Instant, hello: &ClientHello) -> Option<LinkId> {
        let offered = match self.settings.mode {
            Mode::Default => hello.protocols.iter().take(1).cloned().collect(),
            Mode::H3Capable | Mode::Probed => hello.protocols.clone(),
        };
        let name = self.settings.next_hop_name.clone().or_else(|| hello.server_name.clone())?;
        self.connect(now, &name, offered)
    }

    /// Begins a connection to the next hop; none if the name cannot be one.
    pub(super) fn connect(
        &mut self,
        now: Instant,
        name: &str,
        offered: Vec<Vec<u8>>,
    ) -> Option<LinkId> {
        let (next_hop, config) = (self.settings.next_hop, &self.settings.upstream);
        let (tls, scheduler) = (self.tls.client(offered), self.settings.scheduler.scheduler());
        let key = self.upstream.connect(now, next_hop, name, tls, config, scheduler).ok()?;
        let mut link = Link::new(now, key);
        if self.upstream.connection(key).is_some_and(|connection| connection.has_early_data()) {
            link.splitter.begin_early_data();
        }
        let id = self.next_link;
        self.next_link += 1;
        self.links.insert(id, link);
        self.by_server.insert(key, id);
        Some(id)
    }

    /// The handshake with the next hop is complete.
    pub(super) fn connected(&mut self, now: Instant, id: LinkId, early_data_accepted: bool) {
        let Some(link) = self.links.get_mut(&id) else { return };
        link.connected = Some(now);
        link.early_data = early_data_accepted;
        link.splitter.end_early_data(early_data_accepted);
        if let Some(connection) = self.upstream.connection(link.server) {
            link.protocol = connection.protocol();
        }
    }

    /// Accepts a link's client, if it waits for that.
    pub(super) fn accept_waiting(&mut self, now: Instant, network: &mut impl Network, id: LinkId) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let Some(incoming) = link.take_waiting() else { return };
        let tls = self.tls.server(link.protocol.iter().cloned().collect());
        let (config, scheduler) = (&self.settings.downstream, self.settings.scheduler.scheduler());
        match self.downstream.accept(now, network, incoming, tls, config, scheduler) {
            Ok(key) => self.accepted(now, id, key),
            Err(error) => {
                let reason = error.to_string();
                if let Some(connection) = self.upstream.connection(link.server) {
                    connection.close(now, self.settings.failure_code, &reason);
                }
                self.remove(now, id, Ending { by: None, code: None, reason });
            }
        }
    }

    /// Accepts the clients of an address that send again what was not answered, if the next hop has.
    fn accept_probing(&mut self, now: Instant, network: &mut impl Network, remote: SocketAddr) {
        if self.settings.mode != Mode::Probed {
            return;
        }
        let is_answered = |link: &Link| {
            link.connected.is_some()
                && link.client.as_ref().is_some_and(|client| client.address == remote)
                && matches!(link.client_end, ClientEnd::Waiting(_))
        };
        let probing = self.links.iter().filter(|(_, link)| is_answered(link)).map(|(id, _)| *id);
        for id in probing.collect::<Vec<_>>() {
            self.accept_waiting(now, network, id);
        }
    }

    fn accepted(&mut self, now: Instant, id: LinkId, key: ConnectionKey) {
        let Some(link) = self.links.get_mut(&id) else { return };
        link.client_end = ClientEnd::Accepted(key);
        link.accepted = Some(now);
        link.note_phase(now);
        self.looks.add(id, now, None);
        self.by_client.insert(key, id);
        let client = self.downstream.connection(key);
        let server = self.upstream.connection(link.server);
        link.splitter.open_waiting(now, &mut Ends { client, server });
    }
}
