use std::io;
use std::net::SocketAddr;

use headway_quic::{Network, ReceivedDatagram, Route};
use headway_reactor::{CpuCost, Interest, Reactor, Token, UdpSocket};

/// A UDP socket of one side, and what its packets cost.
pub(crate) struct Port {
    socket: UdpSocket,
    cpu_cost: CpuCost,
    /// Datagrams sent since the last flush.
    sent: usize,
}

impl Port {
    /// Binds a socket and has a reactor wait for it.
    pub(crate) fn bind(
        address: SocketAddr,
        cpu_cost: CpuCost,
        reactor: &Reactor,
        token: Token,
    ) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        reactor.register(&socket, token, Interest::Read)?;
        Ok(Self { socket, cpu_cost, sent: 0 })
    }

    /// Where it is bound.
    pub(crate) fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_address()
    }

    /// What has come, up to one call's worth.
    pub(crate) fn receive(&mut self) -> io::Result<Vec<ReceivedDatagram>> {
        let mut received = Vec::new();
        self.socket.receive(|datagram| received.push(ReceivedDatagram::from(datagram)))?;
        self.cpu_cost.spend_received(received.len());
        Ok(received)
    }

    /// Sends what was gathered.
    pub(crate) fn flush(&mut self) {
        self.socket.flush();
        self.cpu_cost.spend_sent(std::mem::take(&mut self.sent));
    }
}

impl Network for Port {
    fn send(&mut self, route: Route, payload: &[u8]) -> io::Result<()> {
        self.sent += 1;
        Network::send(&mut self.socket, route, payload)
    }

    fn send_run(&mut self, route: Route, payloads: &mut Vec<u8>, size: usize) -> io::Result<()> {
        self.sent += payloads.len().div_ceil(size);
        Network::send_run(&mut self.socket, route, payloads, size)
    }
}
