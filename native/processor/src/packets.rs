//! Datagrams over the loopback interface: alone, of several sizes, and many cut from one buffer.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use quinn_udp::{Transmit, UdpSocketState};
use serde::Serialize;

use crate::timing::each_ns;

const TIMES: u32 = 4_000;
const SMALL: usize = 1;
const LARGE: usize = 8_000;
const SEGMENT: usize = 1_200;
const SEGMENTS: usize = 10;

/// Nanoseconds; the names are the study file's keys, below `sent` and `received` alike.
#[derive(Debug, Serialize)]
pub(crate) struct PacketCosts {
    buffer: f64,
    packet: f64,
    kilobyte: f64,
}

impl PacketCosts {
    pub(crate) fn measured() -> io::Result<Self> {
        let link = Loopback::new()?;
        let (small, large) = (link.datagram_ns(SMALL)?, link.datagram_ns(LARGE)?);
        let kilobyte = (large - small).max(0.0) / ((LARGE - SMALL) as f64 / 1e3);
        let (single, cut) = (link.datagram_ns(SEGMENT)?, link.cut_ns()?);
        // Ten packets of one buffer cost one buffer, ten alone cost ten.
        let packet = (cut - single).max(0.0) / (SEGMENTS - 1) as f64;
        let bytes = kilobyte * SEGMENT as f64 / 1e3;
        let packet = (packet - bytes).max(0.0);
        let buffer = (small - packet).max(0.0);
        Ok(Self { buffer: buffer / 2.0, packet: packet / 2.0, kilobyte: kilobyte / 2.0 })
    }
}

struct Loopback {
    near: UdpSocket,
    far: UdpSocket,
    to: SocketAddr,
    state: UdpSocketState,
}

impl Loopback {
    fn new() -> io::Result<Self> {
        let bound = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0));
        let (near, far) = (bound()?, bound()?);
        let state = UdpSocketState::new((&near).into())?;
        // The state's constructor makes the socket one that does not wait.
        near.set_nonblocking(false)?;
        let to = far.local_addr()?;
        Ok(Self { near, far, to, state })
    }

    /// A datagram, sent and received.
    fn datagram_ns(&self, size: usize) -> io::Result<f64> {
        let (sent, mut received) = (vec![0; size], vec![0; LARGE]);
        each_ns(TIMES, || {
            self.near.send_to(&sent, self.to)?;
            self.far.recv(&mut received)?;
            Ok(())
        })
    }

    /// Datagrams cut from one buffer: sent by one call, received one by one.
    fn cut_ns(&self) -> io::Result<f64> {
        let (sent, mut received) = (vec![0; SEGMENT * SEGMENTS], vec![0; LARGE]);
        let transmit = Transmit {
            destination: self.to,
            ecn: None,
            contents: &sent,
            segment_size: Some(SEGMENT),
            src_ip: None,
        };
        each_ns(TIMES / 4, || {
            self.state.try_send((&self.near).into(), &transmit)?;
            for _ in 0..SEGMENTS {
                self.far.recv(&mut received)?;
            }
            Ok(())
        })
    }
}
