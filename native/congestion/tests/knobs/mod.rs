//! Each knob changes what each controller does, or the controller refuses it.

use std::num::NonZeroU32;
use std::time::Duration;

use headway_congestion::{
    Algorithm, Config, CubicVersion, LinuxPart, PacingGains, SlowStart, Time, WindowSize,
};

use crate::link::{Path, run};

/// Windows of a flow alone on a path: one with a queue that overflows now and then, and one with a long queue.
fn windows(config: &Config) -> Vec<u64> {
    let mut windows = Vec::new();
    for queue_bdps in [0.5, 16.0] {
        let path = Path::new(10, 60, queue_bdps);
        let flow = run(path, &[(config.clone(), Time::ZERO)], Duration::from_secs(10)).remove(0);
        windows.extend(flow.moments.iter().map(|moment| moment.window));
    }
    windows
}

type Change = fn(&mut Config);

fn changes() -> Vec<(&'static str, Change)> {
    vec![
        ("slow-start=classic", |config| config.slow_start = Some(SlowStart::Classic)),
        ("slow-start=hystart", |config| config.slow_start = Some(SlowStart::HyStart)),
        ("slow-start=hystart++", |config| config.slow_start = Some(SlowStart::HyStartPlusPlus)),
        ("initial-window=32", |config| config.initial_window = WindowSize::Packets(32)),
        ("max-window=20", |config| config.max_window = Some(WindowSize::Packets(20))),
        ("initial-ssthresh=20", |config| config.initial_ssthresh = Some(WindowSize::Packets(20))),
        ("emulated-connections=4", |config| {
            config.connections = NonZeroU32::new(4).expect("not zero");
        }),
        ("cubic-version=rfc8312", |config| config.cubic_version = CubicVersion::Rfc8312),
        ("hybla-rtt0=10ms", |config| config.hybla_rtt0 = Duration::from_millis(10)),
        ("linux-without=reduction", |config| config.linux_without = Some(LinuxPart::Reduction)),
        ("max-udp-payload=1000", |config| config.max_datagram = 1000),
        ("pacing=off", |config| config.pacing = None),
        ("pacing gains", |config| {
            config.pacing = Some(PacingGains { slow_start: 1.5, avoidance: 1.1 });
        }),
    ]
}

/// What a controller does by itself: stating it changes nothing.
fn is_its_own(algorithm: Algorithm, knob: &str) -> bool {
    match algorithm {
        Algorithm::NewReno | Algorithm::Cubic | Algorithm::Hybla => knob == "slow-start=hystart++",
        Algorithm::LinuxCubic => knob == "slow-start=hystart",
        Algorithm::LinuxReno | Algorithm::Prague => knob == "slow-start=classic",
        // It paces by its model.
        Algorithm::Bbr | Algorithm::Bbr3 => knob.starts_with("pacing"),
        Algorithm::Own(_) => false,
    }
}

/// Linux's gains are Linux's, and Prague's its own.
fn has_gains(algorithm: Algorithm) -> bool {
    !matches!(algorithm, Algorithm::LinuxReno | Algorithm::LinuxCubic | Algorithm::Prague)
}

#[test]
fn no_knob_is_ignored() {
    for (name, algorithm) in Algorithm::all() {
        if matches!(algorithm, Algorithm::Own(_)) {
            continue;
        }
        let default = Config { algorithm, ..Config::default() };
        let usual = windows(&default);
        for (knob, change) in changes() {
            let mut config = default.clone();
            change(&mut config);
            if config.check().is_err() || (knob == "pacing gains" && !has_gains(algorithm)) {
                continue;
            }
            let is_same = windows(&config) == usual;
            assert_eq!(is_same, is_its_own(algorithm, knob), "{name} with {knob}");
        }
    }
}
