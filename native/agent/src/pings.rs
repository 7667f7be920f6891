//! Control pings: ICMP echoes (RFC 792, RFC 4443) before the workload, which tell what its path is like.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, ipproto, recv, send,
    socket_with,
};

use crate::clock;
use crate::failure::{Doing, Failure};
use crate::network::Network;
use crate::orders::Pings;
use crate::timer::Timer;

const IDENTIFIER: u16 = 1;
const ETHERNET_HEADER_BYTES: usize = 14;
const LARGEST_PACKET_BYTES: usize = 65535;

/// How a family says ping.
#[derive(Clone, Copy, Debug)]
struct Echo {
    request: u8,
    reply: u8,
    header_bytes: usize,
    /// Whether what is received begins with the header.
    shows_header: bool,
}

const OF_IPV4: Echo = Echo { request: 8, reply: 0, header_bytes: 20, shows_header: true };
const OF_IPV6: Echo = Echo { request: 128, reply: 129, header_bytes: 40, shows_header: false };

/// Send the requests and await their replies: round-trip times, None where no reply came.
///
/// One more interval passes after the last reply, so that no link still owes the time that a ping
/// took it.
pub(crate) fn ping(orders: &Pings, network: &Network) -> Result<Vec<Option<u64>>, Failure> {
    let address: IpAddr = orders.address.parse().doing(&orders.address)?;
    let (family, protocol, echo) = match address {
        IpAddr::V4(_) => (AddressFamily::INET, ipproto::ICMP, OF_IPV4),
        IpAddr::V6(_) => (AddressFamily::INET6, ipproto::ICMPV6, OF_IPV6),
    };
    let open = || {
        let (kind, flags) = (SocketType::RAW, SocketFlags::CLOEXEC);
        let socket = socket_with(family, kind, flags, Some(protocol))?;
        connect(&socket, &SocketAddr::new(address, 0)).map(|()| socket)
    };
    let socket = network.inside(&orders.namespace, open)?.doing("pings")?;
    let timer = Timer::new().doing("pings")?;
    let (sent_ns, took_ns) = (Vec::new(), BTreeMap::new());
    let mut replies = Replies { socket, timer, echo, sent_ns, took_ns };
    let start_ns = clock::monotonic_ns();
    for number in 0..orders.count {
        replies.receive_until(start_ns + number as u64 * orders.interval_ns, usize::MAX)?;
        replies.sent_ns.push(clock::monotonic_ns());
        let request = echo_request(echo, number as u16, orders.frame_bytes);
        send(&replies.socket, &request, SendFlags::empty()).doing("pings")?;
    }
    let last_ns = replies.sent_ns.last().copied().unwrap_or(start_ns);
    replies.receive_until(last_ns + orders.wait_ns, orders.count)?;
    thread::sleep(Duration::from_nanos(orders.interval_ns));
    Ok((0..orders.count).map(|number| replies.took_ns.get(&number).copied()).collect())
}

struct Replies {
    socket: OwnedFd,
    timer: Timer,
    echo: Echo,
    sent_ns: Vec<u64>,
    took_ns: BTreeMap<usize, u64>,
}

impl Replies {
    /// Receive replies until a time, or until so many have come.
    fn receive_until(&mut self, until_ns: u64, enough: usize) -> Result<(), Failure> {
        let mut packet = vec![0; LARGEST_PACKET_BYTES];
        while self.took_ns.len() != enough {
            if clock::monotonic_ns() >= until_ns {
                return Ok(());
            }
            if !self.timer.wait(&self.socket, Some(until_ns)).doing("pings")? {
                continue;
            }
            let (length, _) =
                recv(&self.socket, packet.as_mut_slice(), RecvFlags::empty()).doing("pings")?;
            let now_ns = clock::monotonic_ns();
            let header = if self.echo.shows_header { usize::from(packet[0] & 0x0F) * 4 } else { 0 };
            let message = packet[..length].get(header..).unwrap_or(&[]);
            let number = answered_sequence(self.echo, message);
            if let Some(sent_ns) = number.and_then(|number| self.sent_ns.get(number)) {
                let number = number.unwrap_or_default();
                self.took_ns.entry(number).or_insert(now_ns - sent_ns);
            }
        }
        Ok(())
    }
}

/// An echo request, padded with zeros to fill a frame of so many bytes.
///
/// The kernel sums up those of IPv6 itself, whose checksum is also of addresses.
fn echo_request(echo: Echo, sequence: u16, frame_bytes: usize) -> Vec<u8> {
    let total = (u32::from(echo.request) << 8) + u32::from(IDENTIFIER) + u32::from(sequence);
    let checksum = !((total & 0xFFFF) + (total >> 16)) as u16;
    let fields = [checksum, IDENTIFIER, sequence].map(u16::to_be_bytes);
    let mut message = vec![echo.request, 0];
    message.extend_from_slice(fields.as_flattened());
    let headers = ETHERNET_HEADER_BYTES + echo.header_bytes;
    message.resize(message.len().max(frame_bytes.saturating_sub(headers)), 0);
    message
}

/// Sequence number of the request that a message replies to; None if it is no such reply.
fn answered_sequence(echo: Echo, message: &[u8]) -> Option<usize> {
    let &[kind, _, _, _, high, low, first, second, ..] = message else {
        return None;
    };
    let is_ours = kind == echo.reply && u16::from_be_bytes([high, low]) == IDENTIFIER;
    is_ours.then(|| usize::from(u16::from_be_bytes([first, second])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksum of RFC 1071 over a message that has one is all ones.
    fn checksum_holds(message: &[u8]) -> bool {
        let words = message.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let sum: u32 = words.sum();
        (sum & 0xFFFF) + (sum >> 16) == 0xFFFF
    }

    #[test]
    fn requests_fill_a_frame_and_have_a_checksum() {
        for sequence in [0, 1, 0x1234, 0xFFFF] {
            let message = echo_request(OF_IPV4, sequence, 98);
            assert_eq!(message.len(), 64);
            assert_eq!(echo_request(OF_IPV6, sequence, 98).len(), 44);
            assert!(checksum_holds(&message), "{sequence}");
        }
    }

    #[test]
    fn only_replies_to_our_requests_count() {
        for echo in [OF_IPV4, OF_IPV6] {
            let mut message = echo_request(echo, 7, 98);
            assert_eq!(answered_sequence(echo, &message), None);
            message[0] = echo.reply;
            assert_eq!(answered_sequence(echo, &message), Some(7));
            message[5] = 2;
            assert_eq!(answered_sequence(echo, &message), None);
            assert_eq!(answered_sequence(echo, &message[..7]), None);
        }
    }
}
