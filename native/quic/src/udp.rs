//! An endpoint and its UDP socket.

use std::io;
use std::time::Instant;

use headway_reactor::{CpuCost, UdpSocket};

use crate::endpoint::{Endpoint, Network, ReceivedDatagram, Route};

/// An endpoint on a UDP socket, and what its packets cost.
#[derive(Debug)]
pub struct UdpEndpoint {
    /// Its connections.
    pub endpoint: Endpoint,
    socket: UdpSocket,
    cpu_cost: CpuCost,
}

impl UdpEndpoint {
    /// Puts an endpoint on a socket.
    #[must_use]
    pub fn new(endpoint: Endpoint, socket: UdpSocket, cpu_cost: CpuCost) -> Self {
        Self { endpoint, socket, cpu_cost }
    }

    /// The socket, to wait for.
    #[must_use]
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Both, for what needs both.
    pub fn parts(&mut self) -> (&mut Endpoint, &mut UdpSocket) {
        (&mut self.endpoint, &mut self.socket)
    }

    /// Goes on with another socket, and thereby from another address or port.
    ///
    /// # Arguments
    /// * `deliberate` - whether connections know (migration, RFC 9000 section 9) or find out by the
    ///   peer's reaction (a NAT that rebinds).
    ///
    /// # Returns
    /// The socket used until now.
    pub fn rebind(&mut self, now: Instant, socket: UdpSocket, deliberate: bool) -> UdpSocket {
        if deliberate {
            self.endpoint.migrate(now);
        }
        std::mem::replace(&mut self.socket, socket)
    }

    /// Receives what has come, up to one call's worth.
    ///
    /// # Errors
    /// The socket is broken.
    pub fn receive(&mut self, now: Instant) -> io::Result<()> {
        let mut received = Vec::new();
        self.socket.receive(|datagram| received.push(ReceivedDatagram::from(datagram)))?;
        let mut now = now;
        for datagram in received {
            self.cpu_cost.spend_received(1);
            now += self.cpu_cost.per_received;
            self.endpoint.receive(now, &mut self.socket, datagram)?;
        }
        Ok(())
    }

    /// Handles what time brought, and sends all that may be sent.
    ///
    /// # Errors
    /// The socket is broken.
    pub fn transmit(&mut self, now: Instant) -> io::Result<()> {
        let mut counted = Counted { socket: &mut self.socket, datagrams: 0 };
        self.endpoint.transmit(now, &mut counted)?;
        let datagrams = counted.datagrams;
        self.socket.flush();
        self.cpu_cost.spend_sent(datagrams);
        Ok(())
    }
}

struct Counted<'a> {
    socket: &'a mut UdpSocket,
    datagrams: usize,
}

impl Network for Counted<'_> {
    fn send(&mut self, route: Route, payload: &[u8]) -> io::Result<()> {
        self.datagrams += 1;
        Network::send(self.socket, route, payload)
    }

    fn send_run(&mut self, route: Route, payloads: &mut Vec<u8>, size: usize) -> io::Result<()> {
        self.datagrams += payloads.len().div_ceil(size);
        Network::send_run(self.socket, route, payloads, size)
    }
}
