//! Busy waits: what programs waited for without sleeping, as the lab kernel counts.
//!
//! In virtual time, whatever would wait for ever is made to take time: calls beyond 100,000 in an
//! instant, and computing for seconds of the host's processor without a call (kernel patch 0009).

use std::fs;

use crate::failure::{Doing, Failure};
use crate::outcome::Spins;

impl Spins {
    /// The counts since the lab was booted.
    pub(crate) fn so_far() -> Result<Self, Failure> {
        Ok(Self { charged_calls: read("charged-calls")?, forced_ticks: read("forced-ticks")? })
    }

    /// The counts since others.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            charged_calls: self.charged_calls - before.charged_calls,
            forced_ticks: self.forced_ticks - before.forced_ticks,
        }
    }

    /// As the end of a sentence that tells why a run did not end well; empty without busy waits.
    pub(crate) fn in_words(self) -> String {
        let counts =
            [(self.forced_ticks, "forced ticks"), (self.charged_calls, "calls that took time")];
        let told: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if told.is_empty() { String::new() } else { format!("; spins: {}", told.join(" and ")) }
    }
}

fn read(name: &str) -> Result<u64, Failure> {
    let file = format!("/proc/sys/kernel/time-travel-{name}");
    let text = fs::read_to_string(&file).doing(&file)?;
    text.trim().parse().doing(&file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_busy_waits_that_were_are_told() {
        let spins = |charged_calls, forced_ticks| Spins { charged_calls, forced_ticks };
        assert_eq!(spins(0, 0).in_words(), "");
        assert_eq!(spins(0, 3).in_words(), "; spins: 3 forced ticks");
        let both = "; spins: 3 forced ticks and 2 calls that took time";
        assert_eq!(spins(5, 4).since(spins(3, 1)).in_words(), both);
    }
}
