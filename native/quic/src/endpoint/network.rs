//! Where datagrams come from and go to.

use std::io;
use std::net::{IpAddr, SocketAddr};

use bytes::BytesMut;
use headway_reactor::{Datagram, UdpSocket};
use quinn_proto::{EcnCodepoint, Transmit};

/// How a datagram goes.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Who is to have it.
    pub destination: SocketAddr,
    /// Which of this host's addresses it is sent from, if that matters.
    pub source: Option<IpAddr>,
    /// Its congestion marking.
    pub ecn: Option<EcnCodepoint>,
}

impl Route {
    fn of(transmit: &Transmit) -> Self {
        Self { destination: transmit.destination, source: transmit.src_ip, ecn: transmit.ecn }
    }

    fn over_udp(self) -> headway_reactor::Route {
        let ecn = self.ecn.and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8));
        (self.destination, self.source, ecn)
    }
}

/// Where datagrams go.
pub trait Network {
    /// Sends a datagram, or loses it as networks do.
    ///
    /// # Errors
    /// Nothing can be sent any more.
    fn send(&mut self, route: Route, payload: &[u8]) -> io::Result<()>;

    /// Sends datagrams of one size, of which the last may be smaller.
    ///
    /// # Arguments
    /// * `payloads` - one after the other; whoever sends them together may keep them, and leave another
    ///   buffer.
    /// * `size` - of each.
    ///
    /// # Errors
    /// As of [`Self::send`].
    fn send_run(&mut self, route: Route, payloads: &mut Vec<u8>, size: usize) -> io::Result<()> {
        payloads.chunks(size).try_for_each(|payload| self.send(route, payload))
    }
}

impl Network for UdpSocket {
    fn send(&mut self, route: Route, payload: &[u8]) -> io::Result<()> {
        self.send(route.over_udp(), payload);
        Ok(())
    }

    fn send_run(&mut self, route: Route, payloads: &mut Vec<u8>, size: usize) -> io::Result<()> {
        self.send_run(route.over_udp(), payloads, size);
        Ok(())
    }
}

/// A received datagram, which the endpoint decrypts in place.
#[derive(Debug)]
pub struct ReceivedDatagram {
    /// Who sent it.
    pub remote: SocketAddr,
    /// Which of this host's addresses it was sent to.
    pub local_ip: Option<IpAddr>,
    /// Its congestion marking.
    pub ecn: Option<EcnCodepoint>,
    /// Its payload.
    pub payload: BytesMut,
}

impl From<Datagram<'_>> for ReceivedDatagram {
    fn from(datagram: Datagram<'_>) -> Self {
        Self {
            remote: datagram.remote,
            local_ip: datagram.local_ip,
            ecn: datagram.ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8)),
            payload: BytesMut::from(datagram.payload),
        }
    }
}

pub(super) fn send_run(
    network: &mut impl Network,
    transmit: &Transmit,
    payloads: &mut Vec<u8>,
) -> io::Result<()> {
    let size = transmit.segment_size.unwrap_or(transmit.size);
    network.send_run(Route::of(transmit), payloads, size)
}

pub(super) fn send(
    network: &mut impl Network,
    transmit: &Transmit,
    buffer: &[u8],
) -> io::Result<()> {
    network.send(Route::of(transmit), &buffer[..transmit.size])
}
