//! Reading kernel state: queueing disciplines (rtnetlink) and TCP sockets (sock_diag).
//!
//! Layouts: linux/pkt_sched.h, linux/gen_stats.h, linux/inet_diag.h, linux/tcp.h.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rustix::io::Errno;

use crate::orders::Family;

use super::{DUMP, ECHO, ERROR, Message, Netlink, array, attribute};

const GETQDISC: u16 = 38;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const TC_H_ROOT: u32 = 0xFFFF_FFFF;
const TCMSG_BYTES: usize = 20;
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
const STATS_BASIC: u16 = 1;
const STATS_QUEUE: u16 = 3;
const STATS_APP: u16 = 4;
const INET_DIAG_BYTES: usize = 72;
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_VEGASINFO: u16 = 3;
const INET_DIAG_CONG: u16 = 4;
/// BBR answers with it if Vegas's is asked for: the request has no bit for its own.
const INET_DIAG_BBRINFO: u16 = 16;
/// Where struct tcp_bbr_info has the gains of its pacing and its window, in 1/256.
const BBR_GAINS: [usize; 2] = [12, 16];
const BBR_INFO_BYTES: usize = 20;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
/// `SYN_SENT` to `CLOSE_WAIT` and so on, without `TIME_WAIT`.
const CONNECTED_STATES: u32 = 0x7F & !(1 << 6);
const FIRST_EPHEMERAL_PORT: u16 = 1024;

/// What a `QueueReader` tells, in its order.
pub(crate) const QUEUE_FIELDS: [&str; 4] =
    ["sent_bytes", "sent_packets", "dropped", "backlog_bytes"];

const ENDS_FIELDS: [&str; 4] = ["local_address", "local_port", "peer_address", "peer_port"];

/// How many bytes a field of struct tcp_info has; `Bit` is the lowest one of a byte.
#[derive(Clone, Copy)]
enum Width {
    Bit,
    U8,
    U16,
    U32,
    U64,
}

/// Fields of struct tcp_info and where they are. Times are microseconds unless named otherwise.
const TCP_INFO: [(&str, Width, usize); 31] = [
    ("ca_state", Width::U8, 1),
    ("retransmits", Width::U8, 2),
    ("backoff", Width::U8, 4),
    ("app_limited", Width::Bit, 7),
    ("rto_us", Width::U32, 8),
    ("mss", Width::U32, 16),
    ("unacked", Width::U32, 24),
    ("sacked", Width::U32, 28),
    ("lost", Width::U32, 32),
    ("retrans", Width::U32, 36),
    ("last_sent_ms", Width::U32, 44),
    ("last_ack_ms", Width::U32, 56),
    ("rtt_us", Width::U32, 68),
    ("rttvar_us", Width::U32, 72),
    ("ssthresh", Width::U32, 76),
    ("cwnd", Width::U32, 80),
    ("rcv_space", Width::U32, 96),
    ("total_retrans", Width::U32, 100),
    ("pacing_rate", Width::U64, 104),
    ("bytes_acked", Width::U64, 120),
    ("notsent_bytes", Width::U32, 144),
    ("min_rtt_us", Width::U32, 148),
    ("data_segs_out", Width::U32, 156),
    ("delivery_rate", Width::U64, 160),
    ("busy_us", Width::U64, 168),
    ("rwnd_limited_us", Width::U64, 176),
    ("sndbuf_limited_us", Width::U64, 184),
    ("bytes_sent", Width::U64, 200),
    ("bytes_retrans", Width::U64, 208),
    ("snd_wnd", Width::U32, 228),
    ("total_rto", Width::U16, 240),
];
const TCP_INFO_BYTES: usize = 242;

/// What a `TcpReader` tells of a connection, in its order.
pub(crate) fn tcp_fields() -> impl Iterator<Item = &'static str> {
    ENDS_FIELDS.into_iter().chain(TCP_INFO.iter().map(|(name, ..)| *name))
}

/// One queueing discipline: its kind, how many packets it dropped, and what only its kind tells.
#[derive(Debug, PartialEq)]
pub(crate) struct Discipline {
    pub(crate) kind: String,
    pub(crate) dropped: u32,
    pub(crate) own: Vec<u8>,
}

impl Discipline {
    fn read(body: &[u8]) -> Self {
        let attributes = body.get(TCMSG_BYTES..).unwrap_or(&[]);
        let stats = attribute(attributes, TCA_STATS2);
        Self {
            kind: text(attribute(attributes, TCA_KIND)),
            dropped: u32::from_ne_bytes(array(attribute(stats, STATS_QUEUE), 8)),
            own: attribute(stats, STATS_APP).to_vec(),
        }
    }
}

/// Reads the counters of a device in the network namespace it was made in.
#[derive(Debug)]
pub(crate) struct QueueReader {
    netlink: Netlink,
    request: Vec<u8>,
}

impl QueueReader {
    /// For the device with an index.
    pub(crate) fn new(device: u32) -> Result<Self, Errno> {
        let words = [0, device, 0, TC_H_ROOT, 0].map(u32::to_ne_bytes);
        // Some kernels answer to a group only without the echo.
        let request = Message::new(GETQDISC, ECHO).with(words.as_flattened()).finished(0, false);
        Ok(Self { netlink: Netlink::route()?, request })
    }

    /// Counters of the root discipline, which include its children's; None without any.
    pub(crate) fn read(&mut self) -> Result<Option<[u64; QUEUE_FIELDS.len()]>, Errno> {
        let (kind, body) = self.netlink.ask_one(&self.request)?;
        Ok((kind != ERROR).then(|| counters(body)))
    }
}

fn counters(body: &[u8]) -> [u64; QUEUE_FIELDS.len()] {
    let stats = attribute(body.get(TCMSG_BYTES..).unwrap_or(&[]), TCA_STATS2);
    let (basic, queue) = (attribute(stats, STATS_BASIC), attribute(stats, STATS_QUEUE));
    let word = |data, at| u64::from(u32::from_ne_bytes(array(data, at)));
    [u64::from_ne_bytes(array(basic, 0)), word(basic, 8), word(queue, 8), word(queue, 4)]
}

/// Reads the queueing disciplines of a device, in the network namespace it was made in.
#[derive(Debug)]
pub(crate) struct DisciplineReader {
    device: u32,
    netlink: Netlink,
}

impl DisciplineReader {
    /// For the device with an index.
    pub(crate) fn new(device: u32) -> Result<Self, Errno> {
        Ok(Self { device, netlink: Netlink::route()? })
    }

    /// All of them, the root first.
    pub(crate) fn read(&mut self) -> Result<Vec<Discipline>, Errno> {
        let request = Message::new(GETQDISC, DUMP).with(&[0; TCMSG_BYTES]).finished(0, false);
        let mut found = Vec::new();
        self.netlink.ask_all(&request, |body| {
            if u32::from_ne_bytes(array(body, 4)) == self.device {
                found.push(Discipline::read(body));
            }
        })?;
        Ok(found)
    }
}

/// A connection: its ends, the fields of struct tcp_info, and what only BBR tells.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) local: (IpAddr, u16),
    pub(crate) peer: (IpAddr, u16),
    pub(crate) info: [u64; TCP_INFO.len()],
    /// Gains of BBR's pacing and window, which tell its mode.
    pub(crate) gains: Option<[u64; 2]>,
}

/// Reads the TCP sockets of the network namespace it was made in.
#[derive(Debug)]
pub(crate) struct TcpReader {
    netlink: Netlink,
    requests: Vec<Vec<u8>>,
    controls: BTreeMap<[u8; 40], String>,
}

impl TcpReader {
    /// For the connections of families in the namespace that the caller is inside of.
    pub(crate) fn new(families: &[Family]) -> Result<Self, Errno> {
        let wanted = [INET_DIAG_INFO, INET_DIAG_VEGASINFO, INET_DIAG_CONG]
            .into_iter()
            .fold(0, |bits, one| bits | 1 << (one - 1));
        let request = |family: &Family| {
            let family = match family {
                Family::Ipv4 => AF_INET,
                Family::Ipv6 => AF_INET6,
            };
            Message::new(SOCK_DIAG_BY_FAMILY, DUMP)
                .with(&[family, IPPROTO_TCP, wanted, 0])
                .with(&CONNECTED_STATES.to_ne_bytes())
                .with(&[0; 48])
                .finished(0, false)
        };
        let requests = families.iter().map(request).collect();
        Ok(Self { netlink: Netlink::sock_diag()?, requests, controls: BTreeMap::new() })
    }

    /// The congestion controls of all connections that were read, sorted.
    pub(crate) fn controls(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.controls.values().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// State of the connections that the namespace's servers have accepted.
    ///
    /// They have a server's port; the connections that a proxy itself opens have not.
    pub(crate) fn read(&mut self) -> Result<Vec<Connection>, Errno> {
        let (mut found, controls) = (Vec::new(), &mut self.controls);
        let mut take = |body: &[u8]| {
            let attributes = body.get(INET_DIAG_BYTES..).unwrap_or(&[]);
            if let Some(mut connection) = connection(body, attribute(attributes, INET_DIAG_INFO)) {
                connection.gains = gains(attribute(attributes, INET_DIAG_BBRINFO));
                found.push(connection);
                let control = || text(attribute(attributes, INET_DIAG_CONG));
                controls.entry(array(body, 4)).or_insert_with(control);
            }
        };
        for request in &self.requests {
            self.netlink.ask_all(request, &mut take)?;
        }
        Ok(found)
    }
}

/// A connection of a server from struct inet_diag_msg and struct tcp_info.
fn connection(body: &[u8], info: &[u8]) -> Option<Connection> {
    let port = |at| u16::from_be_bytes(array(body, at));
    let address = |at| match body[0] {
        AF_INET6 => IpAddr::from(Ipv6Addr::from(array::<16>(body, at))),
        _ => IpAddr::from(Ipv4Addr::from(array::<4>(body, at))),
    };
    (port(4) < FIRST_EPHEMERAL_PORT && info.len() >= TCP_INFO_BYTES).then(|| Connection {
        local: (address(8), port(4)),
        peer: (address(24), port(6)),
        info: TCP_INFO.map(|(_, width, at)| number(info, width, at)),
        gains: None,
    })
}

/// What struct tcp_bbr_info says; None of other controllers.
fn gains(info: &[u8]) -> Option<[u64; 2]> {
    (info.len() >= BBR_INFO_BYTES).then(|| BBR_GAINS.map(|at| number(info, Width::U32, at)))
}

fn number(data: &[u8], width: Width, at: usize) -> u64 {
    match width {
        Width::Bit => u64::from(data[at] & 1),
        Width::U8 => u64::from(data[at]),
        Width::U16 => u64::from(u16::from_ne_bytes(array(data, at))),
        Width::U32 => u64::from(u32::from_ne_bytes(array(data, at))),
        Width::U64 => u64::from_ne_bytes(array(data, at)),
    }
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).trim_end_matches('\0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(message: &Message) -> Vec<u8> {
        message.finished(0, false).split_off(super::super::HEADER_BYTES)
    }

    #[test]
    fn counters_of_a_queue_are_told() {
        let basic = [15140u64.to_ne_bytes(), 10u64.to_ne_bytes()].concat();
        let queue = [3u32, 4542, 2, 0, 0].map(u32::to_ne_bytes).concat();
        let message =
            Message::new(36, 0).with(&[0; 20]).string(TCA_KIND, "htb").nest(TCA_STATS2, |stats| {
                stats.attribute(STATS_BASIC, &basic).attribute(STATS_QUEUE, &queue)
            });
        assert_eq!(counters(&body(&message)), [15140, 10, 2, 4542]);
    }

    #[test]
    fn a_discipline_is_told_with_what_only_its_kind_tells() {
        let queue = [7u32, 8, 3, 9, 10].map(u32::to_ne_bytes).concat();
        let message = Message::new(36, 0)
            .with(&[0; 20])
            .string(TCA_KIND, "codel")
            .nest(TCA_STATS2, |stats| {
                stats.attribute(STATS_QUEUE, &queue).attribute(STATS_APP, b"own.")
            });
        let told = Discipline { kind: "codel".into(), dropped: 3, own: b"own.".to_vec() };
        assert_eq!(Discipline::read(&body(&message)), told);
    }

    fn diag(local: u16, info: &[u8]) -> Vec<u8> {
        let mut told = vec![0; INET_DIAG_BYTES];
        told[4..6].copy_from_slice(&local.to_be_bytes());
        told[6..8].copy_from_slice(&40000u16.to_be_bytes());
        told[8..12].copy_from_slice(&[10, 0, 1, 2]);
        told[24..28].copy_from_slice(&[10, 0, 0, 1]);
        let message = Message::new(20, 0).with(&told).attribute(8, &[1]);
        body(&message.attribute(INET_DIAG_INFO, info).string(INET_DIAG_CONG, "bbr"))
    }

    #[test]
    fn every_field_of_tcp_info_is_found() {
        let mut info = vec![0; 248];
        for (value, (_, width, at)) in (1u64..).zip(TCP_INFO) {
            let bytes = match width {
                Width::Bit => 0b111u64.to_ne_bytes(), // two other bits beside the wanted one
                _ => value.to_ne_bytes(),
            };
            let length = [1, 1, 2, 4, 8][width as usize];
            info[at..at + length].copy_from_slice(&bytes[..length]);
        }
        let answer = diag(443, &info);
        let told = attribute(&answer[INET_DIAG_BYTES..], INET_DIAG_INFO);
        let found = connection(&answer, told).expect("a connection of a server");
        assert_eq!(found.local, (Ipv4Addr::new(10, 0, 1, 2).into(), 443));
        assert_eq!(found.peer, (Ipv4Addr::new(10, 0, 0, 1).into(), 40000));
        let expected: Vec<u64> = (1..).zip(TCP_INFO).map(expected_value).collect();
        assert_eq!(found.info.to_vec(), expected);
    }

    #[test]
    fn gains_are_those_of_bbr() {
        let mut told = [0; BBR_INFO_BYTES];
        told[12..16].copy_from_slice(&739u32.to_ne_bytes());
        told[16..20].copy_from_slice(&512u32.to_ne_bytes());
        assert_eq!(gains(&told), Some([739, 512]));
        assert_eq!(gains(&[]), None);
    }

    #[test]
    fn addresses_are_of_the_family_that_is_told() {
        let (local, peer): (Ipv6Addr, Ipv6Addr) =
            ("fd00:0:0:2::2".parse().unwrap(), "fd00::1".parse().unwrap());
        let mut answer = diag(443, &[0; 248]);
        answer[0] = AF_INET6;
        answer[8..24].copy_from_slice(&local.octets());
        answer[24..40].copy_from_slice(&peer.octets());
        let found = connection(&answer, &[0; 248]).expect("a connection of a server");
        assert_eq!((found.local, found.peer), ((local.into(), 443), (peer.into(), 40000)));
    }

    fn expected_value((value, (_, width, _)): (u64, (&str, Width, usize))) -> u64 {
        if matches!(width, Width::Bit) { 1 } else { value }
    }

    #[test]
    fn only_connections_that_a_server_accepted_are_told() {
        assert!(connection(&diag(40001, &[0; 248]), &[0; 248]).is_none());
        assert!(connection(&diag(443, &[0; 100]), &[0; 100]).is_none());
    }
}
