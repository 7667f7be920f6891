//! The schedulers by name.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::groups::firefox_tree;
use crate::{DependencyTree, Rfc9218, RoundRobin, Scheduler, Sequential, WeightedRoundRobin};

/// Which scheduler. Its text is what options and studies call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// `sequential`: [`Sequential`].
    Sequential,
    /// `round-robin`: [`RoundRobin`], a packet each.
    RoundRobin,
    /// `batched-round-robin:N`: [`RoundRobin`], N packets each.
    BatchedRoundRobin(NonZeroU32),
    /// `weighted-round-robin`: [`WeightedRoundRobin`].
    WeightedRoundRobin,
    /// `dependency-tree`: [`DependencyTree`].
    DependencyTree,
    /// `firefox-tree`: [`DependencyTree`] with [`Group`](crate::Group)s in it. Only a server that places its
    /// responses in them has use for it, so no text is read as it.
    FirefoxTree,
    /// `rfc9218`: [`Rfc9218`].
    Rfc9218,
}

impl Strategy {
    /// A scheduler of this kind, without streams.
    #[must_use]
    pub fn scheduler(self) -> Box<dyn Scheduler> {
        match self {
            Self::Sequential => Box::new(Sequential::new()),
            Self::RoundRobin => Box::new(RoundRobin::new(NonZeroU32::MIN)),
            Self::BatchedRoundRobin(packets) => Box::new(RoundRobin::new(packets)),
            Self::WeightedRoundRobin => Box::new(WeightedRoundRobin::new()),
            Self::DependencyTree => Box::new(DependencyTree::new()),
            Self::FirefoxTree => Box::new(firefox_tree()),
            Self::Rfc9218 => Box::new(Rfc9218::new()),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequential => f.write_str("sequential"),
            Self::RoundRobin => f.write_str("round-robin"),
            Self::BatchedRoundRobin(packets) => write!(f, "batched-round-robin:{packets}"),
            Self::WeightedRoundRobin => f.write_str("weighted-round-robin"),
            Self::DependencyTree => f.write_str("dependency-tree"),
            Self::FirefoxTree => f.write_str("firefox-tree"),
            Self::Rfc9218 => f.write_str("rfc9218"),
        }
    }
}

/// A text that names no scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownStrategy(String);

impl fmt::Display for UnknownStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no scheduler '{}': there are sequential, round-robin, batched-round-robin:N (N packets), \
             weighted-round-robin, dependency-tree and rfc9218",
            self.0
        )
    }
}

impl std::error::Error for UnknownStrategy {}

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownStrategy(text.to_owned());
        if let Some(packets) = text.strip_prefix("batched-round-robin:") {
            return packets.parse().map(Self::BatchedRoundRobin).map_err(|_| unknown());
        }
        match text {
            "sequential" => Ok(Self::Sequential),
            "round-robin" => Ok(Self::RoundRobin),
            "weighted-round-robin" => Ok(Self::WeightedRoundRobin),
            "dependency-tree" => Ok(Self::DependencyTree),
            "rfc9218" => Ok(Self::Rfc9218),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        let names = [
            "sequential",
            "round-robin",
            "batched-round-robin:10",
            "weighted-round-robin",
            "dependency-tree",
            "rfc9218",
        ];
        for name in names {
            assert_eq!(name.parse::<Strategy>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn other_names_are_refused() {
        for name in ["", "fifo", "Sequential", "batched-round-robin", "batched-round-robin:0"] {
            let error = name.parse::<Strategy>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("no scheduler '{name}'")));
        }
    }
}
