//! Counting packets that come to devices from whom something is expected there, by transport.
//!
//! A packet socket sees every packet before anything else of its host does, which then goes on as if nobody had
//! looked. Filters are of the classic kind (linux/filter.h): to load others, the kernel reads clocks, and in
//! virtual time that would move what runs beside.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};

use libc::sock_filter;
use serde::Serialize;

use crate::failure::{Doing, Failure};
use crate::network::{Network, index_of};
use crate::orders::{Family, Orders, Watched};
use crate::sys;

const TCP: u32 = 6;
const UDP: u32 = 17;
/// Where an IP header has its payload's protocol, and the sender's address.
const PLACES_OF_IPV4: (u32, u32) = (9, 12);
const PLACES_OF_IPV6: (u32, u32) = (6, 8);

/// Packets that came, by transport.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Arrived {
    tcp_packets: u32,
    udp_packets: u32,
}

/// Counts at one device.
#[derive(Debug)]
struct Watcher {
    tcp: OwnedFd,
    udp: OwnedFd,
}

/// Counts at all devices that are watched.
#[derive(Debug)]
pub(crate) struct Arrivals(BTreeMap<String, Watcher>);

impl Arrivals {
    /// From now on.
    pub(crate) fn new(orders: &Orders, network: &Network) -> Result<Self, Failure> {
        let watch = |one: &Watched| {
            let watcher = network.inside(&one.namespace, || Watcher::new(one))??;
            Ok((one.name.clone(), watcher))
        };
        orders.watched.iter().map(watch).collect::<Result<_, _>>().map(Self)
    }

    /// What came to each since this was asked before.
    pub(crate) fn since(&self) -> Result<BTreeMap<String, Arrived>, Failure> {
        self.0.iter().map(|(name, one)| Ok((name.clone(), one.since().doing(name)?))).collect()
    }
}

impl Watcher {
    /// At a device of the namespace that the caller is inside of.
    fn new(watched: &Watched) -> Result<Self, Failure> {
        let device = index_of(&watched.device)?;
        let counting = |transport| {
            let mut filter = packets_of(transport, &watched.senders, watched.family);
            sys::counting_socket(device, &mut filter).doing(&watched.device)
        };
        Ok(Self { tcp: counting(TCP)?, udp: counting(UDP)? })
    }

    fn since(&self) -> Result<Arrived, rustix::io::Errno> {
        Ok(Arrived {
            tcp_packets: sys::counted_packets(self.tcp.as_fd())?,
            udp_packets: sys::counted_packets(self.udp.as_fd())?,
        })
    }
}

const LOAD_WORD: u16 = 0x20;
const LOAD_BYTE: u16 = 0x30;
const JUMP_IF_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;
/// What is returned: how many bytes of a packet are kept.
const IGNORED: u32 = 0;
const COUNTED: u32 = 1;

/// A filter that takes packets of a transport from any of some addresses.
fn packets_of(transport: u32, senders: &[IpAddr], family: Family) -> Vec<sock_filter> {
    let (protocol, source) = match family {
        Family::Ipv4 => PLACES_OF_IPV4,
        Family::Ipv6 => PLACES_OF_IPV6,
    };
    let mut filter = vec![
        one(LOAD_BYTE, 0, protocol),
        one(JUMP_IF_EQUAL, 1, transport),
        one(RETURN, 0, IGNORED),
    ];
    for sender in senders {
        let octets = match sender {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        let words: Vec<u32> = octets.chunks_exact(4).map(word).collect();
        for (number, word) in words.iter().enumerate() {
            // Over what compares the other words, and what takes the packet.
            let skipped = 2 * (words.len() - 1 - number) as u8 + 1;
            filter.push(one(LOAD_WORD, 0, source + 4 * number as u32));
            filter.push(sock_filter { code: JUMP_IF_EQUAL, jt: 0, jf: skipped, k: *word });
        }
        filter.push(one(RETURN, 0, COUNTED));
    }
    filter.push(one(RETURN, 0, IGNORED));
    filter
}

fn word(octets: &[u8]) -> u32 {
    octets.iter().fold(0, |word, octet| (word << 8) | u32::from(*octet))
}

/// An instruction that skips so many further ones if it is a jump that is taken.
fn one(code: u16, skipped: u8, value: u32) -> sock_filter {
    sock_filter { code, jt: skipped, jf: 0, k: value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a filter makes of a packet. Only what filters have is understood.
    fn returned(filter: &[sock_filter], packet: &[u8]) -> u32 {
        let (mut accumulator, mut at) = (0, 0);
        loop {
            let instruction = filter[at];
            let place = instruction.k as usize;
            at += 1;
            match instruction.code {
                LOAD_BYTE => accumulator = packet[place].into(),
                LOAD_WORD => accumulator = word(&packet[place..place + 4]),
                JUMP_IF_EQUAL if accumulator == instruction.k => at += usize::from(instruction.jt),
                JUMP_IF_EQUAL => at += usize::from(instruction.jf),
                RETURN => return instruction.k,
                code => panic!("an unknown instruction: {code:#x}"),
            }
        }
    }

    fn packet(protocol: u32, source: IpAddr) -> Vec<u8> {
        let ((place, at), octets) = match source {
            IpAddr::V4(address) => (PLACES_OF_IPV4, address.octets().to_vec()),
            IpAddr::V6(address) => (PLACES_OF_IPV6, address.octets().to_vec()),
        };
        let (place, at) = (place as usize, at as usize);
        let mut bytes = vec![0; 40];
        bytes[place] = protocol as u8;
        bytes[at..at + octets.len()].copy_from_slice(&octets);
        bytes
    }

    #[test]
    fn packets_are_told_apart_by_transport_and_sender() {
        for (family, asked, others) in [
            (Family::Ipv4, ["10.0.2.2", "203.0.113.9"], ["10.0.2.3", "9.0.2.2"]),
            (
                Family::Ipv6,
                ["fd00:0:0:2::2", "fd00:ffff::9"],
                ["fd00:0:0:2::3", "fd00:ffff:0:2::2"],
            ),
        ] {
            let parsed = |text: &str| text.parse::<IpAddr>().expect("an address");
            let (asked, others) = (asked.map(parsed), others.map(parsed));
            let filter = packets_of(UDP, &asked, family);
            for sender in asked {
                assert_eq!(returned(&filter, &packet(UDP, sender)), COUNTED, "{sender}");
                assert_eq!(returned(&filter, &packet(TCP, sender)), IGNORED, "{sender}");
            }
            for sender in others {
                assert_eq!(returned(&filter, &packet(UDP, sender)), IGNORED, "{sender}");
            }
        }
    }
}
