//! What a lab answers: `outcome.json`. Python's `headway.contract.outcome` says what each means.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::arrivals::Arrived;
use crate::hostcounts::HostCounts;

/// How the workload ended: `ok`, `failed` or `timeout`, and why.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome<'a> {
    pub(crate) status: &'a str,
    pub(crate) reason: Option<String>,
    pub(crate) duration_ns: u64,
    /// How late the latest of what was due at a moment was done.
    pub(crate) late_ns: u64,
    pub(crate) kernel: String,
    pub(crate) ended: &'a [Ended],
    pub(crate) migrated_ns: Option<u64>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) pings_ns: &'a [Option<u64>],
    pub(crate) counts: BTreeMap<String, Counts>,
    pub(crate) spins: Spins,
    pub(crate) host_counts: BTreeMap<String, HostCounts>,
    pub(crate) passed: BTreeMap<String, Passed>,
    pub(crate) arrived: BTreeMap<String, Arrived>,
}

/// How many packets came to a direction with faults, and how many met one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Passed {
    pub(crate) packets: u64,
    pub(crate) met: u64,
}

/// How a process of a host ended; the exit status is negative for a signal.
#[derive(Debug, Serialize)]
pub(crate) struct Ended {
    pub(crate) name: String,
    pub(crate) exit_status: i32,
    pub(crate) at_ns: u64,
    pub(crate) namespace: String,
    pub(crate) as_ordered: bool,
}

/// A file that a host received: its size in bytes and its SHA-256 in hexadecimal.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Body {
    pub(crate) namespace: String,
    pub(crate) path: String,
    pub(crate) size: u64,
    pub(crate) sha256: String,
}

/// What became of packets.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Counts {
    pub(crate) lost: u64,
    pub(crate) blacked_out: u64,
    pub(crate) dropped_by_number: u64,
    pub(crate) queue_dropped: u64,
    pub(crate) reordered: u64,
    pub(crate) duplicated: u64,
    pub(crate) corrupted: u64,
    pub(crate) marked: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) policed: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) udp_stopped: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) too_long: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) fragmented: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) mapped: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) remapped: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) unmapped: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) ecn_changed: u64,
    /// Of the marks, those because a packet was in DualPI2's low-latency queue for too long.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) step_marked: u64,
    /// Packets by how long they were in DualPI2's classic queue, and in its low-latency queue.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sojourns_c: Vec<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sojourns_l: Vec<u64>,
}

// What serde asks for.
#[expect(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Busy waits: calls that took time, and forced ticks.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Spins {
    pub(crate) charged_calls: u64,
    pub(crate) forced_ticks: u64,
}
