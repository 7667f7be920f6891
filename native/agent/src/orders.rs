//! What the host asks of a lab: `orders.json`. Python's `headway.contract.orders` says what each means.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::framing::Framing;

/// All that a lab does in one boot.
#[derive(Debug, Deserialize)]
pub(crate) struct Orders {
    pub(crate) namespaces: Vec<Namespace>,
    pub(crate) ip: Vec<String>,
    pub(crate) sysctls: Pairs,
    pub(crate) files: Pairs,
    pub(crate) views: Vec<View>,
    pub(crate) programs: Vec<Program>,
    pub(crate) trace_links: Vec<TraceLink>,
    /// Not said without carriers.
    #[serde(default)]
    pub(crate) carrier_links: Vec<CarrierLink>,
    /// Not said if nothing happens to single packets.
    #[serde(default)]
    pub(crate) fault_links: Vec<FaultLink>,
    pub(crate) sampling: Option<Sampling>,
    pub(crate) captures: Vec<Capture>,
    pub(crate) counted: Vec<Counted>,
    pub(crate) watched: Vec<Watched>,
    pub(crate) pings: Option<Pings>,
    pub(crate) migration: Option<Migration>,
    pub(crate) bodies: Vec<Received>,
    pub(crate) allowed: Vec<String>,
    pub(crate) rounds: Vec<Round>,
    pub(crate) start_grid_ns: u64,
    pub(crate) limit_ns: u64,
}

/// A file of a host into which a client receives a body.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Received {
    pub(crate) namespace: String,
    pub(crate) path: String,
}

/// A host or router.
#[derive(Debug, Deserialize)]
pub(crate) struct Namespace {
    pub(crate) name: String,
    pub(crate) sysctls: Pairs,
    pub(crate) devices: Vec<String>,
    pub(crate) offload: bool,
    pub(crate) ip: Vec<String>,
    pub(crate) tc: Vec<String>,
    pub(crate) nft: String,
    /// Not said if received packets are handed up as they come.
    #[serde(default)]
    pub(crate) gro_flush_ns: Option<u64>,
}

/// A process: a service, or part of the workload.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) argv: Vec<String>,
    pub(crate) env: Pairs,
    pub(crate) service: bool,
    pub(crate) listens: Vec<String>,
    pub(crate) ready_within_ns: u64,
    pub(crate) at_ns: u64,
    /// Not said if it ends by itself.
    #[serde(default)]
    pub(crate) ends_at_ns: Option<u64>,
    pub(crate) interactive: bool,
    pub(crate) migration_signal: i32,
    pub(crate) finishes: bool,
    /// Not said unless it is.
    #[serde(default)]
    pub(crate) leaves_nothing: bool,
}

/// What a host sees of the lab's files, if it shares them with no other host.
#[derive(Debug, Deserialize)]
pub(crate) struct View {
    pub(crate) namespace: String,
    /// Empty if the host has `/tmp` and the run's directory in common with others.
    pub(crate) directory: String,
    pub(crate) files: Pairs,
    /// Not said unless its programs have another root tree than the lab's.
    #[serde(default)]
    pub(crate) root: String,
    /// Not said unless its programs begin elsewhere than in `/`.
    #[serde(default)]
    pub(crate) begins_in: String,
}

/// What is changed at a point in time: a queueing discipline, a class or a filter, or rules of nftables.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Change {
    pub(crate) at_ns: u64,
    pub(crate) namespace: String,
    pub(crate) tc: String,
    pub(crate) line: String,
    pub(crate) blackout: bool,
    /// Not said unless it is these that change.
    #[serde(default)]
    pub(crate) nft_rules: String,
    /// Carried out behind these; not said without any.
    #[serde(default)]
    pub(crate) ip_lines: Vec<String>,
}

/// A direction whose packets leave at the opportunities of a Mahimahi trace.
#[derive(Debug, Deserialize)]
pub(crate) struct TraceLink {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) device: String,
    pub(crate) opportunities_ms: Vec<u64>,
    pub(crate) limit_bytes: usize,
}

/// A direction whose packets are sent in frames, at a capacity that may be granted on demand.
#[derive(Debug, Deserialize)]
pub(crate) struct CarrierLink {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) device: String,
    pub(crate) framing: Framing,
}

/// A direction whose packets are numbered, and to some of which something happens.
#[derive(Debug, Deserialize)]
pub(crate) struct FaultLink {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) device: String,
    pub(crate) fault: Option<Fault>,
    pub(crate) kept: u64,
    pub(crate) file: String,
}

/// What happens to packets of these numbers, from 1.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) packets: Vec<u64>,
    pub(crate) span_ns: u64,
    pub(crate) behind: u64,
    /// Of each packet that is corrupted, in the order of `packets`; not said if it is a bit in the middle.
    #[serde(default)]
    pub(crate) flips: Vec<Flip>,
}

impl Fault {
    /// How a packet of a number is spoilt, if that is said.
    pub(crate) fn flip(&self, number: u64) -> Option<Flip> {
        let place = self.packets.iter().position(|&packet| packet == number)?;
        self.flips.get(place).copied()
    }
}

/// How a byte of what a datagram carries is spoilt: which one, counted around if there are fewer, and its bits that flip.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Flip(pub(crate) usize, pub(crate) u8);

/// Kinds of faults.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FaultKind {
    Lose,
    Duplicate,
    Delay,
    Corrupt,
    Mark,
    Reorder,
    Blackout,
}

/// A host's address changes when its device has received so many bytes.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Migration {
    pub(crate) namespace: String,
    pub(crate) device: String,
    pub(crate) after_bytes: u64,
    pub(crate) old_address: String,
    pub(crate) ip: Vec<String>,
    pub(crate) rate_bit_s: Option<u64>,
    /// Not said if it is after so many bytes.
    #[serde(default)]
    pub(crate) due_ns: Option<u64>,
}

/// What is read at every interval.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Sampling {
    pub(crate) interval_ns: u64,
    pub(crate) devices: Vec<(String, String)>,
    pub(crate) tcp_namespaces: Vec<String>,
    /// Namespaces whose processors' work is read; not said if there are none.
    #[serde(default)]
    pub(crate) processors: Vec<String>,
    /// Not said if it is the usual one.
    #[serde(default)]
    pub(crate) family: Family,
    /// Whether hosts have addresses of the other one, too; not said if not.
    #[serde(default)]
    pub(crate) both_families: bool,
}

/// Of which addresses are.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Family {
    #[default]
    Ipv4,
    Ipv6,
}

impl Sampling {
    /// Of which TCP sockets are.
    pub(crate) fn families(&self) -> &[Family] {
        match (self.both_families, self.family) {
            (true, _) => &[Family::Ipv4, Family::Ipv6],
            (false, Family::Ipv4) => &[Family::Ipv4],
            (false, Family::Ipv6) => &[Family::Ipv6],
        }
    }
}

/// A device whose packets are written to a file.
#[derive(Debug, Deserialize)]
pub(crate) struct Capture {
    pub(crate) namespace: String,
    pub(crate) device: String,
    pub(crate) file: String,
}

/// One direction of a link, or of a cable.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Counted {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) line: String,
    pub(crate) line_namespace: String,
    pub(crate) named_drops: String,
    pub(crate) trace: String,
    /// The device with policers; not said without any.
    #[serde(default)]
    pub(crate) policed: String,
    /// The table that decides on UDP; not said without one.
    #[serde(default)]
    pub(crate) udp_rules: String,
    #[serde(default)]
    pub(crate) ecn_rules: String,
    #[serde(default)]
    pub(crate) ecn_namespace: String,
    /// Whether packets may be too long for the link; not said if not.
    #[serde(default)]
    pub(crate) has_mtu: bool,
    /// Whether there is a NAT that maps its connections; not said if not.
    #[serde(default)]
    pub(crate) maps: bool,
    /// Whether there is one that drops what belongs to none; not said if not.
    #[serde(default)]
    pub(crate) maps_back: bool,
}

/// A device at which to count what comes, and the senders from whom it is expected.
#[derive(Debug, Deserialize)]
pub(crate) struct Watched {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) device: String,
    pub(crate) senders: Vec<IpAddr>,
    /// Not said if it is the usual one.
    #[serde(default)]
    pub(crate) family: Family,
}

/// ICMP echo requests before the workload.
#[derive(Debug, Deserialize)]
pub(crate) struct Pings {
    pub(crate) namespace: String,
    pub(crate) address: String,
    pub(crate) count: usize,
    pub(crate) interval_ns: u64,
    pub(crate) wait_ns: u64,
    pub(crate) frame_bytes: usize,
}

/// One time that the workload is carried out.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Round {
    pub(crate) directory: String,
    pub(crate) tc: BTreeMap<String, Vec<String>>,
    pub(crate) changes: Vec<Change>,
    pub(crate) start_after_ns: u64,
}

/// A JSON object of strings, in its order: that of an environment is part of what a program sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs(pub(crate) Vec<(String, String)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Pairs;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object of strings")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}
