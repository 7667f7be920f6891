//! Connection migration: a host's address changes in the middle of the workload.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::commands::run;
use crate::failure::{Doing, Failure};
use crate::network::Network;
use crate::orders::Migration;

const POLL_NS: u64 = 100_000;
const FRAME_BYTES: u64 = 1514;
const TABLE_BYTES: usize = 1 << 16;

/// An address that is going to change.
#[derive(Debug)]
pub(crate) struct Migrator {
    migration: Migration,
    /// Counters of the namespace's devices: the file shows those where it was opened.
    counters: File,
}

impl Migrator {
    /// For a host that has its old address.
    pub(crate) fn new(migration: &Migration, network: &Network) -> Result<Self, Failure> {
        let open = || File::open("/proc/self/net/dev");
        let counters = network.inside(&migration.namespace, open)?.doing("devices")?;
        Ok(Self { migration: migration.clone(), counters })
    }

    /// How long to wait before looking again, in nanoseconds; 0 if the address changes now.
    ///
    /// A link with a rate cannot deliver what is missing any sooner, so a look is rarely in vain; but
    /// a frame is counted as a whole at its end, and may have begun long ago.
    pub(crate) fn time_left_ns(&self, now_ns: u64) -> Result<u64, Failure> {
        if let Some(due_ns) = self.migration.due_ns {
            return Ok(due_ns.saturating_sub(now_ns));
        }
        let mut table = vec![0; TABLE_BYTES];
        let length = self.counters.read_at(&mut table, 0).doing("devices")?;
        let table = String::from_utf8_lossy(&table[..length]);
        let device = &self.migration.device;
        let missing = || Failure(format!("no device {device}"));
        let received = received_bytes(&table, device).ok_or_else(missing)?;
        Ok(time_left_ns(self.migration.after_bytes, received, self.migration.rate_bit_s))
    }

    /// Give the host its new address, and end the TCP connections of the old one; nothing if it keeps that.
    pub(crate) fn migrate(&self, network: &Network) -> Result<(), Failure> {
        if self.migration.old_address.is_empty() {
            return Ok(());
        }
        let argv = ["ss", "--tcp", "--kill", "src", &self.migration.old_address];
        let done = network.inside(&self.migration.namespace, || {
            network.carry_out("ip", &self.migration.ip)?;
            run(&argv, "")
        })??;
        if done.status.success() && done.stderr.is_empty() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        let said: Vec<&str> = said.split_whitespace().collect();
        Err(Failure(format!("{}: {}", argv.join(" "), said.join(" "))))
    }
}

fn time_left_ns(after_bytes: u64, received: u64, rate_bit_s: Option<u64>) -> u64 {
    let missing = after_bytes.saturating_sub(received);
    match rate_bit_s {
        _ if missing == 0 => 0,
        None => POLL_NS,
        Some(rate) => {
            let bits = u128::from(missing.saturating_sub(FRAME_BYTES)) * 8;
            let soonest_ns = bits * 1_000_000_000 / u128::from(rate);
            POLL_NS.max(u64::try_from(soonest_ns).unwrap_or(u64::MAX))
        }
    }
}

/// What a device received, from a table as /proc/net/dev.
fn received_bytes(table: &str, device: &str) -> Option<u64> {
    let rows = table.lines().filter_map(|line| line.split_once(':'));
    let (_, counters) = rows.into_iter().find(|(name, _)| name.trim() == device)?;
    counters.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_device_received_is_its_first_counter() {
        let table = "Inter-|   Receive\n face |bytes    packets\n    lo:       0       0\n\
                     client0:   12345      10 0 0";
        assert_eq!(received_bytes(table, "client0"), Some(12345));
        assert_eq!(received_bytes(table, "client1"), None);
    }

    #[test]
    fn the_next_look_is_when_the_link_could_have_delivered_what_is_missing() {
        assert_eq!(time_left_ns(1000, 1000, None), 0);
        assert_eq!(time_left_ns(1000, 2000, Some(8)), 0);
        assert_eq!(time_left_ns(1000, 999, None), POLL_NS);
        assert_eq!(time_left_ns(1_001_514, 0, Some(8_000_000)), 1_000_000_000);
        assert_eq!(time_left_ns(1_001_514, 1_000_000, Some(8_000_000)), POLL_NS);
    }
}
