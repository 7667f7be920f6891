//! What hosts count of what comes: datagrams that no buffer had room for, segments behind a gap.

use std::collections::BTreeMap;
use std::fs;

use serde::Serialize;

use crate::failure::{Doing, Failure};
use crate::network::Network;
use crate::orders::Orders;

/// Lines of names, each with one of values below.
const UDP: Field = Field { table: "/proc/self/net/snmp", row: "Udp:", name: "RcvbufErrors" };
const OUT_OF_ORDER: Field =
    Field { table: "/proc/self/net/netstat", row: "TcpExt:", name: "TCPOFOQueue" };
const TOO_LONG: Field = Field { table: "/proc/self/net/snmp", row: "Ip:", name: "FragFails" };
const FRAGMENTED: Field = Field { table: "/proc/self/net/snmp", row: "Ip:", name: "FragOKs" };
/// A line for each name; TCP over IPv6 counts with that over IPv4, UDP does not.
const TABLE_OF_IPV6: &str = "/proc/self/net/snmp6";
const FIELD_OF_IPV6: &str = "Udp6RcvbufErrors";
const TOO_LONG_OF_IPV6: &str = "Ip6FragFails";

/// Where a count stands.
struct Field {
    table: &'static str,
    row: &'static str,
    name: &'static str,
}

/// What a host has counted.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct HostCounts {
    /// Datagrams for which a socket's buffer had no room.
    udp_buffer_drops: u64,
    /// TCP segments that came while an earlier one was missing, and waited for it.
    out_of_order_segments: u64,
}

impl HostCounts {
    fn since(self, before: Self) -> Self {
        Self {
            udp_buffer_drops: self.udp_buffer_drops - before.udp_buffer_drops,
            out_of_order_segments: self.out_of_order_segments - before.out_of_order_segments,
        }
    }
}

/// Counts, at all hosts that have programs.
#[derive(Debug)]
pub(crate) struct HostCounters {
    before: BTreeMap<String, HostCounts>,
}

impl HostCounters {
    /// From the lab's beginning.
    pub(crate) fn new(orders: &Orders) -> Self {
        let hosts = orders.programs.iter().map(|program| program.namespace.clone());
        Self { before: hosts.map(|host| (host, HostCounts::default())).collect() }
    }

    /// What each host has counted since this was asked before.
    pub(crate) fn since(
        &mut self,
        network: &Network,
    ) -> Result<BTreeMap<String, HostCounts>, Failure> {
        let mut since = BTreeMap::new();
        for (host, before) in &mut self.before {
            let now = network.inside(host, so_far)??;
            since.insert(host.clone(), now.since(*before));
            *before = now;
        }
        Ok(since)
    }
}

/// What the host that this is inside of has counted.
fn so_far() -> Result<HostCounts, Failure> {
    let of_ipv6 = value_in_rows(&read(TABLE_OF_IPV6)?, FIELD_OF_IPV6).unwrap_or_default();
    Ok(HostCounts {
        udp_buffer_drops: UDP.read()? + of_ipv6,
        out_of_order_segments: OUT_OF_ORDER.read()?,
    })
}

/// Packets that were longer than the MTU of a device by which the host that this is inside of routed them: those that
/// it dropped, and those that it sent in fragments.
pub(crate) fn beyond_mtu() -> Result<(u64, u64), Failure> {
    let of_ipv6 = value_in_rows(&read(TABLE_OF_IPV6)?, TOO_LONG_OF_IPV6).unwrap_or_default();
    Ok((TOO_LONG.read()? + of_ipv6, FRAGMENTED.read()?))
}

impl Field {
    fn read(&self) -> Result<u64, Failure> {
        let missing = || Failure(format!("{} has no {}", self.table, self.name));
        self.value(&read(self.table)?).ok_or_else(missing)
    }

    fn value(&self, table: &str) -> Option<u64> {
        let mut lines = table.lines().filter(|line| line.starts_with(self.row));
        let mut fields =
            lines.next()?.split_ascii_whitespace().zip(lines.next()?.split_ascii_whitespace());
        fields.find(|(name, _)| *name == self.name)?.1.parse().ok()
    }
}

/// The count in a table that has a line for each name. Where IPv6 is off, there is none.
fn value_in_rows(table: &str, wanted: &str) -> Option<u64> {
    let mut rows = table.lines().map(str::split_ascii_whitespace);
    rows.find_map(|mut row| (row.next() == Some(wanted)).then(|| row.next()?.parse().ok())?)
}

fn read(table: &str) -> Result<String, Failure> {
    fs::read_to_string(table).doing(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_stands_below_its_name() {
        let table = "Tcp: A B\nTcp: 1 2\nUdp: InDatagrams RcvbufErrors\nUdp: 5 7\nUdpLite: A\n";
        assert_eq!(UDP.value(table), Some(7));
        assert_eq!(UDP.value("Udp: InDatagrams\nUdp: 5\n"), None);
        let table = "TcpExt: SyncookiesSent TCPOFOQueue\nTcpExt: 0 12\nIpExt: A\nIpExt: 3\n";
        assert_eq!(OUT_OF_ORDER.value(table), Some(12));
    }

    #[test]
    fn or_beside_it() {
        let table = "Udp6InDatagrams   5\nUdp6RcvbufErrors  3\n";
        assert_eq!(value_in_rows(table, FIELD_OF_IPV6), Some(3));
        assert_eq!(value_in_rows("Ip6InReceives 4\n", FIELD_OF_IPV6), None);
    }
}
