//! Where datagrams come from and go to.

use std::io;
use std::net::{IpAddr, SocketAddr};

use bytes::BytesMut;
use headway_reactor::{Datagram, UdpSocket};
use quinn_proto::{EcnCodepoint, Transmit};

/// Where datagrams go.
pub trait Network {
    /// Sends a datagram, or loses it as networks do.
    ///
    /// # Errors
    /// Nothing can be sent any more.
    fn send(
        &mut self,
        destination: SocketAddr,
        source: Option<IpAddr>,
        ecn: Option<EcnCodepoint>,
        payload: &[u8],
    ) -> io::Result<()>;

    /// Sends datagrams of one size, of which the last may be smaller.
    ///
    /// # Arguments
    /// * `payloads` - one after the other; whoever sends them together may keep them, and leave another
    ///   buffer.
    /// * `size` - of each.
    ///
    /// # Errors
    /// As of [`Self::send`].
    fn send_run(
        &mut self,
        destination: SocketAddr,
        source: Option<IpAddr>,
        ecn: Option<EcnCodepoint>,
        payloads: &mut Vec<u8>,
        size: usize,
    ) -> io::Result<()> {
        payloads.chunks(size).try_for_each(|payload| self.send(destination, source, ecn, payload))
    }
}

impl Network for UdpSocket {
    fn send(
        &mut self,
        destination: SocketAddr,
        source: Option<IpAddr>,
        ecn: Option<EcnCodepoint>,
        payload: &[u8],
    ) -> io::Result<()> {
        self.send((destination, source, marking(ecn)), payload);
        Ok(())
    }

    fn send_run(
        &mut self,
        destination: SocketAddr,
        source: Option<IpAddr>,
        ecn: Option<EcnCodepoint>,
        payloads: &mut Vec<u8>,
        size: usize,
    ) -> io::Result<()> {
        self.send_run((destination, source, marking(ecn)), payloads, size);
        Ok(())
    }
}

fn marking(ecn: Option<EcnCodepoint>) -> Option<quinn_udp::EcnCodepoint> {
    ecn.and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8))
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
    network.send_run(transmit.destination, transmit.src_ip, transmit.ecn, payloads, size)
}

pub(super) fn send(
    network: &mut impl Network,
    transmit: &Transmit,
    buffer: &[u8],
) -> io::Result<()> {
    let payload = &buffer[..transmit.size];
    network.send(transmit.destination, transmit.src_ip, transmit.ecn, payload)
}
