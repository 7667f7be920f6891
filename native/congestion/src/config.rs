//! Which controller, with which knobs.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::algorithm::Algorithm;
use crate::careful_resume::{CarefulResume, Resumable};
use crate::controller::Controller;
use crate::cubic::CubicVersion;
use crate::hybla;
use crate::linux::LinuxPart;
use crate::loss_based::{LossBased, WindowLaw};
use crate::phase::Saved;
use crate::settings::{PacingGains, Settings};
use crate::slow_start::{self, HyStart, HyStartPlusPlus};
use crate::words::words;

/// How a loss-based controller starts, and when it stops doubling its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlowStart {
    /// Until a loss.
    Classic,
    /// HyStart (Ha and Rhee, 2011) as in Linux: until ACK trains or delays say that the pipe is full.
    HyStart,
    /// HyStart++ (RFC 9406): until delays rise, and stay up during a conservative slow start.
    HyStartPlusPlus,
}

const SLOW_STARTS: [(&str, SlowStart); 3] = [
    ("classic", SlowStart::Classic),
    ("hystart", SlowStart::HyStart),
    ("hystart++", SlowStart::HyStartPlusPlus),
];

const CUBIC_VERSIONS: [(&str, CubicVersion); 2] =
    [("rfc9438", CubicVersion::Rfc9438), ("rfc8312", CubicVersion::Rfc8312)];

const LINUX_PARTS: [(&str, LinuxPart); 5] = [
    ("rounding", LinuxPart::Rounding),
    ("ticks", LinuxPart::Ticks),
    ("gaps", LinuxPart::Gaps),
    ("reduction", LinuxPart::Reduction),
    ("recovery", LinuxPart::Recovery),
];

words!(SlowStart, "slow start", SLOW_STARTS);
words!(CubicVersion, "version of CUBIC", CUBIC_VERSIONS);
words!(LinuxPart, "part of Linux's controllers", LINUX_PARTS);

/// A window's size, `10` for packets or `14720B` for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowSize {
    /// So many full-sized datagrams.
    Packets(u32),
    /// So many bytes.
    Bytes(u64),
}

impl WindowSize {
    /// Its bytes, if a full-sized datagram has `max_datagram`.
    #[must_use]
    pub fn bytes(self, max_datagram: u64) -> u64 {
        match self {
            Self::Packets(packets) => u64::from(packets).saturating_mul(max_datagram),
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl FromStr for WindowSize {
    type Err = NoWindowSize;

    fn from_str(word: &str) -> Result<Self, NoWindowSize> {
        let size = match word.strip_suffix('B') {
            Some(bytes) => bytes.parse().ok().map(Self::Bytes),
            None => word.parse().ok().map(Self::Packets),
        };
        size.ok_or_else(|| NoWindowSize(word.to_owned()))
    }
}

impl fmt::Display for WindowSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets}"),
            Self::Bytes(bytes) => write!(f, "{bytes}B"),
        }
    }
}

/// A word that is no window size.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no window: write packets as 10, or bytes as 14720B")]
pub struct NoWindowSize(String);

/// A congestion controller to be built.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// How it starts, if that is stated: by default with HyStart++, or as Linux does.
    pub slow_start: Option<SlowStart>,
    /// The window at the beginning.
    pub initial_window: WindowSize,
    /// The largest window; none for no limit.
    pub max_window: Option<WindowSize>,
    /// The slow start threshold at the beginning (RFC 5681, section 3.1); none for no limit. BBR has none.
    pub initial_ssthresh: Option<WindowSize>,
    /// How many connections to be as aggressive as, for NewReno and CUBIC.
    pub connections: NonZeroU32,
    /// Which RFC's growth CUBIC has.
    pub cubic_version: CubicVersion,
    /// Hybla's reference round-trip time, `RTT0`.
    pub hybla_rtt0: Duration,
    /// A part that those of Linux do without.
    pub linux_without: Option<LinuxPart>,
    /// Bytes of a full-sized datagram.
    pub max_datagram: u64,
    /// How loss-based controllers pace; none to send as the window allows. BBR always paces.
    pub pacing: Option<PacingGains>,
    /// What Careful Resume (RFC 9959) goes on from, if there is anything.
    pub saved: Option<Saved>,
    /// Where BBR's first gain cycle begins, and how long BBR version 3 waits between probes.
    pub seed: u64,
}

impl Default for Config {
    /// CUBIC with HyStart++, ten packets of 1200 bytes (RFC 9002, section 7.2), paced.
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Cubic,
            slow_start: None,
            initial_window: WindowSize::Packets(10),
            max_window: None,
            initial_ssthresh: None,
            connections: NonZeroU32::MIN,
            cubic_version: CubicVersion::Rfc9438,
            hybla_rtt0: hybla::REFERENCE_RTT,
            linux_without: None,
            max_datagram: 1200,
            pacing: Some(PacingGains::default()),
            saved: None,
            seed: 0,
        }
    }
}

/// A combination of knobs that no controller has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unsupported {
    /// Several connections with an algorithm that cannot emulate them.
    #[error("{0} does not emulate several connections: only newreno and cubic do")]
    Connections(Algorithm),
    /// A way to start with an algorithm that has another one.
    #[error("{0} does not start with {1}: {2}")]
    SlowStart(Algorithm, SlowStart, &'static str),
    /// A slow start threshold with an algorithm that knows none.
    #[error("{0} has no slow start threshold: it leaves its startup by what it measures")]
    InitialSsthresh(Algorithm),
    /// A version of CUBIC with another algorithm.
    #[error("{0} has no version of CUBIC: only cubic has")]
    CubicVersion(Algorithm),
    /// Hybla's reference with another algorithm.
    #[error("{0} has no reference round trip: only hybla has")]
    HyblaRtt0(Algorithm),
    /// Something of Linux's left out of an algorithm that is not Linux's.
    #[error("{0} has nothing of Linux's to do without: only linux-reno and linux-cubic have")]
    LinuxPart(Algorithm),
    /// Something to resume from with an algorithm that does not.
    #[error("{0} does not resume a path: {1}")]
    Resume(Algorithm, &'static str),
}

impl Config {
    /// Whether the algorithm knows all knobs that are set.
    ///
    /// # Errors
    ///
    /// A knob that the algorithm does not have.
    pub fn check(&self) -> Result<(), Unsupported> {
        let emulates = matches!(self.algorithm, Algorithm::NewReno | Algorithm::Cubic);
        if self.connections > NonZeroU32::MIN && !emulates {
            return Err(Unsupported::Connections(self.algorithm));
        }
        if let Some((slow_start, why)) = self.slow_start.zip(self.lacks_slow_start()) {
            return Err(Unsupported::SlowStart(self.algorithm, slow_start, why));
        }
        if self.initial_ssthresh.is_some() && self.is_bbr() {
            return Err(Unsupported::InitialSsthresh(self.algorithm));
        }
        if self.cubic_version != CubicVersion::Rfc9438 && self.algorithm != Algorithm::Cubic {
            return Err(Unsupported::CubicVersion(self.algorithm));
        }
        if self.hybla_rtt0 != hybla::REFERENCE_RTT && self.algorithm != Algorithm::Hybla {
            return Err(Unsupported::HyblaRtt0(self.algorithm));
        }
        if self.linux_without.is_some() && !self.is_linux() {
            return Err(Unsupported::LinuxPart(self.algorithm));
        }
        Ok(())
    }

    /// Why the algorithm does not start as is stated, if it does not.
    fn lacks_slow_start(&self) -> Option<&'static str> {
        match (self.algorithm, self.slow_start?) {
            (Algorithm::Bbr | Algorithm::Bbr3, _) => {
                Some("it leaves its startup by what it measures")
            }
            (Algorithm::Prague, SlowStart::HyStart | SlowStart::HyStartPlusPlus) => {
                Some("it has classic alone, which the first mark ends")
            }
            (Algorithm::LinuxReno, SlowStart::HyStart | SlowStart::HyStartPlusPlus) => {
                Some("Linux's Reno has classic alone")
            }
            (Algorithm::LinuxCubic, SlowStart::HyStartPlusPlus) => {
                Some("Linux's CUBIC has hystart and classic")
            }
            _ => None,
        }
    }

    fn is_bbr(&self) -> bool {
        matches!(self.algorithm, Algorithm::Bbr | Algorithm::Bbr3)
    }

    fn is_linux(&self) -> bool {
        matches!(self.algorithm, Algorithm::LinuxReno | Algorithm::LinuxCubic)
    }

    /// Whether the algorithm can go on from a saved path.
    ///
    /// # Errors
    ///
    /// It cannot.
    pub fn check_resuming(&self) -> Result<(), Unsupported> {
        if self.is_linux() {
            return Err(Unsupported::Resume(self.algorithm, "Linux's TCP has no Careful Resume"));
        }
        if self.algorithm.is_scalable() {
            return Err(Unsupported::Resume(
                self.algorithm,
                "a jump would fill the queue that it keeps short",
            ));
        }
        Ok(())
    }

    /// A controller with a law of growth and reduction, and what loss-based controllers share.
    pub(crate) fn loss_based<L: WindowLaw + 'static>(
        &self,
        law: L,
        settings: Settings,
    ) -> Box<dyn Controller> {
        let slow_start = self.slow_start(SlowStart::HyStartPlusPlus, settings);
        self.resuming(LossBased::new(law, slow_start, settings), settings)
    }

    /// How a controller starts: as is stated, or in its own way.
    pub(crate) fn slow_start(
        &self,
        own: SlowStart,
        settings: Settings,
    ) -> Box<dyn slow_start::SlowStart> {
        let paced = settings.pacing.is_some();
        match self.slow_start.unwrap_or(own) {
            SlowStart::Classic => Box::new(slow_start::Classic),
            SlowStart::HyStart => Box::new(HyStart::new(settings.datagram, paced)),
            SlowStart::HyStartPlusPlus => Box::new(HyStartPlusPlus::new(settings.datagram, paced)),
        }
    }

    /// Puts Careful Resume over a controller if there is something to resume from.
    pub(crate) fn resuming<C: Resumable + 'static>(
        &self,
        controller: C,
        settings: Settings,
    ) -> Box<dyn Controller> {
        match self.saved {
            Some(saved) => Box::new(CarefulResume::new(controller, saved, settings)),
            None => Box::new(controller),
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        let datagram = self.max_datagram.max(1);
        Settings {
            datagram,
            initial_window: self.initial_window.bytes(datagram),
            max_window: self.max_window.map(|size| size.bytes(datagram)),
            initial_ssthresh: self.initial_ssthresh.map(|size| size.bytes(datagram)),
            pacing: self.pacing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_both_ways() {
        for (word, slow_start) in SLOW_STARTS {
            assert_eq!(word.parse(), Ok(slow_start));
            assert_eq!(slow_start.to_string(), word);
        }
        for (word, version) in CUBIC_VERSIONS {
            assert_eq!(word.parse(), Ok(version));
            assert_eq!(version.to_string(), word);
        }
        for (word, size) in [("10", WindowSize::Packets(10)), ("14720B", WindowSize::Bytes(14720))]
        {
            assert_eq!(word.parse(), Ok(size));
            assert_eq!(size.to_string(), word);
        }
    }

    #[test]
    fn unknown_words_are_told_the_choices() {
        let error = "fast".parse::<SlowStart>().expect_err("not one of ours");
        assert!(error.to_string().ends_with("choose from classic, hystart, hystart++"));
        assert!("10KB".parse::<WindowSize>().is_err());
    }

    #[test]
    fn only_reno_and_cubic_emulate_connections() {
        let connections = NonZeroU32::new(2).expect("not zero");
        for (_, algorithm) in Algorithm::all() {
            let config = Config { algorithm, connections, ..Config::default() };
            let emulates = [Algorithm::NewReno, Algorithm::Cubic].contains(&algorithm);
            assert_eq!(config.check().is_ok(), emulates, "{algorithm}");
        }
    }

    #[test]
    fn all_but_bbr_have_a_threshold() {
        for (_, algorithm) in Algorithm::all() {
            let initial_ssthresh = Some(WindowSize::Packets(32));
            let config = Config { algorithm, initial_ssthresh, ..Config::default() };
            if matches!(algorithm, Algorithm::Own(_)) {
                continue;
            }
            let is_bbr = [Algorithm::Bbr, Algorithm::Bbr3].contains(&algorithm);
            assert_eq!(config.check().is_err(), is_bbr, "{algorithm}");
            let told = config.build().ssthresh();
            assert_eq!(told, (!is_bbr).then_some(32 * 1200), "{algorithm}");
        }
    }

    #[test]
    fn only_cubic_has_versions() {
        for (_, algorithm) in Algorithm::all() {
            let cubic_version = CubicVersion::Rfc8312;
            let config = Config { algorithm, cubic_version, ..Config::default() };
            assert_eq!(config.check().is_ok(), algorithm == Algorithm::Cubic, "{algorithm}");
        }
    }

    #[test]
    fn only_hybla_has_a_reference() {
        for (_, algorithm) in Algorithm::all() {
            let hybla_rtt0 = Duration::from_millis(200);
            let config = Config { algorithm, hybla_rtt0, ..Config::default() };
            assert_eq!(config.check().is_ok(), algorithm == Algorithm::Hybla, "{algorithm}");
        }
    }
}
