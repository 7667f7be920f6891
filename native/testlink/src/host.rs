//! Endpoints as nodes.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use bytes::BytesMut;
use headway_quic::{
    Connection, ConnectionKey, Endpoint, Event, Incoming, Network, ReceivedDatagram, Route,
};

use crate::simulation::{Node, Time};

/// A UDP datagram on its way.
#[derive(Debug)]
pub struct Datagram {
    from: SocketAddr,
    to: SocketAddr,
    pub(crate) payload: Vec<u8>,
}

impl From<Datagram> for ReceivedDatagram {
    fn from(datagram: Datagram) -> Self {
        let payload = BytesMut::from(&datagram.payload[..]);
        Self { remote: datagram.from, local_ip: None, ecn: None, payload }
    }
}

/// What a host sends.
#[derive(Debug)]
pub struct Outbox {
    /// Where from.
    pub address: SocketAddr,
    datagrams: VecDeque<Datagram>,
}

impl Outbox {
    /// That of a host with an address.
    ///
    /// # Panics
    ///
    /// If it is no address.
    #[must_use]
    pub fn of(address: &str) -> Self {
        Self {
            address: address.parse().expect("an address and a port"),
            datagrams: VecDeque::new(),
        }
    }

    /// The next datagram.
    pub fn take(&mut self) -> Option<Datagram> {
        self.datagrams.pop_front()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.datagrams.is_empty()
    }

    /// Whether a datagram is for this host.
    #[must_use]
    pub fn is_for(&self, datagram: &Datagram) -> bool {
        datagram.to == self.address
    }
}

impl Network for Outbox {
    fn send(&mut self, route: Route, payload: &[u8]) -> io::Result<()> {
        self.datagrams.push_back(Datagram {
            from: self.address,
            to: route.destination,
            payload: payload.to_vec(),
        });
        Ok(())
    }
}

/// Takes in a client that came.
pub type Accept<'a> = dyn FnMut(Instant, &mut Endpoint, &mut Outbox, Incoming) + 'a;
/// Hears what happened on a connection, which may be gone.
pub type Tell<'a> = dyn FnMut(Instant, ConnectionKey, Option<&mut Connection>, Event) + 'a;

/// An endpoint and who uses it.
pub struct Host<'a> {
    /// When the simulation began.
    pub began: Instant,
    /// The endpoint.
    pub endpoint: &'a mut Endpoint,
    /// What it sends.
    pub outbox: &'a mut Outbox,
    /// Whether all that came is told before anything is sent.
    pub tells_first: bool,
    /// A client came.
    pub accept: Box<Accept<'a>>,
    /// Something happened on a connection, which may be gone.
    pub tell: Box<Tell<'a>>,
}

impl Host<'_> {
    /// Tells everything.
    ///
    /// # Returns
    /// Whether there was anything.
    fn tell(&mut self, now: Instant) -> bool {
        let mut any = false;
        while let Some((key, event)) = self.endpoint.poll() {
            any = true;
            (self.tell)(now, key, self.endpoint.connection(key), event);
        }
        any
    }

    fn turn(&mut self, now: Instant) {
        while let Some(incoming) = self.endpoint.next_incoming() {
            (self.accept)(now, self.endpoint, self.outbox, incoming);
        }
        if self.tells_first {
            self.tell(now);
        }
        loop {
            self.endpoint.transmit(now, self.outbox).expect("an outbox takes everything");
            if !self.tell(now) {
                return;
            }
        }
    }
}

impl Node<Datagram> for Host<'_> {
    fn receive(&mut self, now: Time, datagram: Datagram) {
        // What is still on its way to another address is lost.
        if self.outbox.is_for(&datagram) {
            let now = self.began + now;
            self.endpoint
                .receive(now, self.outbox, datagram.into())
                .expect("it is not too strange");
        }
    }

    fn send(&mut self, now: Time) -> Option<Datagram> {
        if self.outbox.is_empty() {
            self.turn(self.began + now);
        }
        self.outbox.take()
    }

    fn wake(&mut self) -> Option<Time> {
        self.endpoint.deadline().map(|at| at.saturating_duration_since(self.began))
    }
}
