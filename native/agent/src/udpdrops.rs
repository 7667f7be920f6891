//! Datagrams that hosts dropped because a socket's buffer had no room for them.

use std::collections::BTreeMap;
use std::fs;

use crate::failure::{Doing, Failure};
use crate::network::Network;
use crate::orders::Orders;

const TABLE: &str = "/proc/self/net/snmp";
const FIELD: &str = "RcvbufErrors";
const TABLE_OF_IPV6: &str = "/proc/self/net/snmp6";
const FIELD_OF_IPV6: &str = "Udp6RcvbufErrors";

/// Counts them, at all hosts that have programs.
#[derive(Debug)]
pub(crate) struct UdpDrops {
    before: BTreeMap<String, u64>,
}

impl UdpDrops {
    /// From the lab's beginning.
    pub(crate) fn new(orders: &Orders) -> Self {
        let hosts = orders.programs.iter().map(|program| (program.namespace.clone(), 0));
        Self { before: hosts.collect() }
    }

    /// How many there were at each host since this was asked before.
    pub(crate) fn since(&mut self, network: &Network) -> Result<BTreeMap<String, u64>, Failure> {
        let mut since = BTreeMap::new();
        for (host, before) in &mut self.before {
            let read = |table| network.inside(host, || fs::read_to_string(table))?.doing(table);
            let missing = || Failure(format!("{TABLE} has no {FIELD}"));
            let of_ipv6 = so_far_over_ipv6(&read(TABLE_OF_IPV6)?).unwrap_or_default();
            let now = so_far(&read(TABLE)?).ok_or_else(missing)? + of_ipv6;
            since.insert(host.clone(), now - *before);
            *before = now;
        }
        Ok(since)
    }
}

/// The count in a table as /proc/net/snmp: a line of names, and one of values.
fn so_far(table: &str) -> Option<u64> {
    let mut lines = table.lines().filter(|line| line.starts_with("Udp:"));
    let mut fields =
        lines.next()?.split_ascii_whitespace().zip(lines.next()?.split_ascii_whitespace());
    fields.find(|(name, _)| *name == FIELD)?.1.parse().ok()
}

/// The count in a table as /proc/net/snmp6: a line for each name. Where IPv6 is off, there is none.
fn so_far_over_ipv6(table: &str) -> Option<u64> {
    let mut rows = table.lines().map(str::split_ascii_whitespace);
    rows.find_map(|mut row| {
        (row.next() == Some(FIELD_OF_IPV6)).then(|| row.next()?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_stands_below_its_name() {
        let table = "Tcp: A B\nTcp: 1 2\nUdp: InDatagrams RcvbufErrors\nUdp: 5 7\nUdpLite: A\n";
        assert_eq!(so_far(table), Some(7));
        assert_eq!(so_far("Udp: InDatagrams\nUdp: 5\n"), None);
        let table = "Udp6InDatagrams   5\nUdp6RcvbufErrors  3\n";
        assert_eq!(so_far_over_ipv6(table), Some(3));
        assert_eq!(so_far_over_ipv6("Ip6InReceives 4\n"), None);
    }
}
