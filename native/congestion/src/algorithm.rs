//! Which congestion control algorithms there are, by their names.

use crate::words::words;

/// A congestion control algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// RFC 9002, section 7.
    NewReno,
    /// RFC 9438.
    Cubic,
    /// BBR version 1, draft-cardwell-iccrg-bbr-congestion-control-00.
    Bbr,
    /// BBR version 3, draft-ietf-ccwg-bbr-06.
    Bbr3,
    /// TCP Hybla (Caini and Firrincieli, 2004).
    Hybla,
    /// Reno as the lab's kernel computes it.
    LinuxReno,
    /// CUBIC as the lab's kernel computes it.
    LinuxCubic,
    /// Prague, draft-briscoe-iccrg-prague-congestion-control-04.
    Prague,
    /// One of your own, by its name.
    Own(&'static str),
}

const BUILT_IN: &[(&str, Algorithm)] = &[
    ("newreno", Algorithm::NewReno),
    ("cubic", Algorithm::Cubic),
    ("bbr", Algorithm::Bbr),
    ("bbr3", Algorithm::Bbr3),
    ("hybla", Algorithm::Hybla),
    ("linux-reno", Algorithm::LinuxReno),
    ("linux-cubic", Algorithm::LinuxCubic),
    ("prague", Algorithm::Prague),
];

/// Names of your own, which the build script finds.
const OWN: &[&str] = include!(concat!(env!("OUT_DIR"), "/own_names.rs"));

impl Algorithm {
    /// All that there are, by their names.
    #[must_use]
    pub fn all() -> Vec<(&'static str, Self)> {
        let own = OWN.iter().map(|&name| (name, Self::Own(name)));
        BUILT_IN.iter().copied().chain(own).collect()
    }

    /// Whether it is scalable, so that its packets may be ECT(1) (RFC 9331, section 4).
    #[must_use]
    pub const fn is_scalable(self) -> bool {
        matches!(self, Self::Prague)
    }
}

words!(Algorithm, "congestion control", Algorithm::all());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for (name, algorithm) in Algorithm::all() {
            assert_eq!(name.parse(), Ok(algorithm));
            assert_eq!(algorithm.to_string(), name);
        }
    }

    #[test]
    fn unknown_names_are_told_the_choices() {
        let error = "no such".parse::<Algorithm>().expect_err("not one of ours");
        let names: Vec<_> = Algorithm::all().iter().map(|(name, _)| *name).collect();
        let choices = names.join(", ");
        assert_eq!(
            error.to_string(),
            format!("unknown congestion control \"no such\": choose from {choices}")
        );
    }
}
