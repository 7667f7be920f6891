//! What congestion control and pacing make of a path.

use std::time::Duration;

use crate::apps::{Fetch, Serve};
use crate::link::{Setup, ms};
use crate::qlog::{Qlog, Scratch};

const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn every_controller_fills_a_path() {
    let algorithms =
        ["newreno", "cubic", "bbr", "bbr3", "hybla", "linux-reno", "linux-cubic", "prague"];
    for algorithm in algorithms {
        let knobs = format!("congestion-control={algorithm}");
        let mut pair = Setup::symmetric(20.0, ms(20), 100_000).server(&knobs).pair();
        let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(2_500_000));
        pair.run(&mut fetch, &mut serve, LIMIT);
        assert_eq!(fetch.finished.len(), 1, "{algorithm}");
        // The last MB, of a rate of which 1170 of 1200 bytes are data.
        let mut left = 1_000_000;
        let from = fetch.came.iter().rev().find(|(_, _, bytes)| {
            left -= (*bytes).min(left);
            left == 0
        });
        let seconds = (fetch.finished[0].2 - from.unwrap().0).as_secs_f64();
        let rate = 20.0 * 1170.0 / 1200.0;
        let share = 1_000_000.0 * 8e-6 / seconds / rate;
        // How far above 1 it may be depends on what had come before and waited behind a gap;
        // the whole transfer cannot be faster than the path.
        assert!(share > 0.9, "{algorithm}: {share}");
        let whole = (fetch.finished[0].2 - fetch.came[0].0).as_secs_f64();
        let later = 2_500_000.0 - fetch.came[0].2 as f64;
        assert!(later * 8e-6 / whole < rate, "{algorithm}: {whole}");
    }
}

/// The first of two flows' share of what both get in four seconds, after one of slow start.
fn share(algorithm: &str, seed: u64) -> f64 {
    let knobs = format!("congestion-control={algorithm}");
    let mut setup = Setup::symmetric(8.0, ms(10), 20_000).server(&knobs);
    setup.seed = seed;
    let mut pair = setup.pair();
    pair.connect();
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(50_000_000));
    let keys = pair.keys.clone();
    let bytes = |fetch: &Fetch| [0, 1].map(|index| fetch.bytes_of(keys[index]) as f64);
    pair.run(&mut fetch, &mut serve, Duration::from_secs(1));
    let before = bytes(&fetch);
    pair.run(&mut fetch, &mut serve, Duration::from_secs(5));
    let after = bytes(&fetch);
    let [a, b] = [0, 1].map(|index| after[index] - before[index]);
    assert!((a + b) * 8e-6 > 0.9 * 8.0 * 4.0, "{algorithm}: {a} {b}");
    a / (a + b)
}

/// Shares are fair on average, not in each run: which flow meets the full queue first, and backs
/// off alone, is for the phase of its packets to say, and that begins with the sizes of the
/// handshakes' packets. A second's share has a standard deviation of 8 % around one half, of which
/// nothing is left two seconds later, so that of four seconds has one of 4 to 5 % (200 seeds of
/// each): two flows of a hundred differ by 62 to 38 or more.
#[test]
fn two_equal_flows_share_alike() {
    const SEEDS: u64 = 12;
    const DEVIATION: f64 = 0.05;
    for algorithm in ["newreno", "cubic"] {
        let gains: Vec<f64> = (0..SEEDS).map(|seed| share(algorithm, seed) - 0.5).collect();
        // Neither the one that connects first nor the other is better off: four standard errors.
        let mean = gains.iter().sum::<f64>() / SEEDS as f64;
        assert!(mean.abs() < 4.0 * DEVIATION / (SEEDS as f64).sqrt(), "{algorithm}: {gains:?}");
        // And neither keeps what it won: of normal deviates one set in 10,000 is as far apart.
        let spread = (gains.iter().map(|gain| gain * gain).sum::<f64>() / SEEDS as f64).sqrt();
        assert!(spread < 1.8 * DEVIATION, "{algorithm}: {gains:?}");
    }
}

#[test]
fn a_fixed_rate_is_kept_to_the_byte() {
    // At 8 Mbit/s a byte is a microsecond, and a burst is a pair.
    let mut pair =
        Setup::symmetric(100.0, ms(5), 2_000_000).server("pacing=8Mbit/s,initial-window=64").pair();
    pair.run(&mut Fetch::of(1), &mut Serve::of(500_000), LIMIT);
    let full: Vec<_> = pair.down.departures.iter().filter(|d| d.bytes > 1000).skip(20).collect();
    let bursts: Vec<_> = full.chunk_by(|one, other| one.at == other.at).collect();
    assert!(bursts.len() > 180);
    for pair in bursts[1..bursts.len() - 1].windows(2) {
        let bytes: usize = pair[0].iter().map(|departure| departure.bytes).sum();
        let gap = pair[1][0].at - pair[0][0].at;
        let difference = gap.abs_diff(Duration::from_micros(bytes as u64));
        assert!(difference <= Duration::from_micros(1), "{pair:?}");
    }
}

/// The largest window of a server whose initial one has 64 packets, when a client asks ten times, each time
/// for so many bytes.
fn largest_window(name: &str, knobs: &str, bytes: u64) -> u64 {
    let scratch = Scratch::new(name);
    let knobs = format!("congestion-control=newreno,slow-start=classic,initial-window=64,{knobs}");
    let mut pair =
        Setup::symmetric(50.0, ms(50), 2_000_000).server(&knobs).traces(&scratch.0).pair();
    let (mut fetch, mut serve) = (Fetch { stays: true, ..Fetch::of(1) }, Serve::of(bytes));
    for rounds in 1..=10 {
        if rounds > 1 {
            let key = pair.keys[0];
            fetch.ask(key, pair.connection());
        }
        pair.run(&mut fetch, &mut serve, ms(500) * rounds);
        assert_eq!(fetch.finished.len(), rounds as usize);
    }
    let server = scratch.server();
    let metrics = server.of("recovery:metrics_updated");
    metrics.filter_map(|(_, data)| data["congestion_window"].as_u64()).max().unwrap()
}

/// RFC 9002 section 7.8: what waits for the pacer counts as use of the window if it would have filled it.
#[test]
fn a_window_grows_only_with_its_use() {
    const INITIAL: u64 = 64 * 1200;
    for pacing in ["pacing=off", "pacing=on", "pacing=5Mbit/s"] {
        // A quarter of the window, and twice as much as it.
        let little = largest_window("little", pacing, INITIAL / 4);
        let much = largest_window("much", pacing, INITIAL * 2);
        assert!(little < INITIAL + 2 * 1500, "{pacing}: {little}");
        assert!(much > INITIAL * 3 / 2, "{pacing}: {much}");
    }
}

/// Whether states come in this order, others among them.
fn pass_through(log: &Qlog, expected: &[&str]) -> bool {
    let mut states = log.states().into_iter().map(|(_, state)| state);
    expected.iter().all(|state| states.any(|other| other == *state))
}

#[test]
fn cubic_goes_through_its_states() {
    let scratch = Scratch::new("cubic-states");
    let mut setup = Setup::symmetric(10.0, ms(20), 50_000)
        .server("slow-start=classic,idle-timeout=60s")
        .client("idle-timeout=60s")
        .traces(&scratch.0);
    setup.down.dark = (ms(1500), ms(3000));
    let mut pair = setup.pair();
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(4_000_000));
    pair.run(&mut fetch, &mut serve, LIMIT);
    assert_eq!(fetch.finished.len(), 1);
    let log = scratch.server();
    let expected = [
        "slow_start",
        "recovery",
        "congestion_avoidance",
        "tail_loss_probe",
        "pto",
        // After more than persistent congestion's duration without an acknowledgment.
        "slow_start",
        "application_limited",
    ];
    assert!(pass_through(&log, &expected), "{:?}", log.states());
    let probes = log.states().into_iter().find(|(_, state)| state == "tail_loss_probe").unwrap();
    assert!((1450.0..2000.0).contains(&probes.0), "{probes:?}");
    let capped = Scratch::new("capped-states");
    let setup = Setup::symmetric(10.0, ms(20), 50_000).server("max-window=30000B");
    let mut pair = setup.traces(&capped.0).pair();
    pair.run(&mut Fetch::of(1), &mut Serve::of(500_000), LIMIT);
    assert!(pass_through(&capped.server(), &["slow_start", "congestion_avoidance_maxed"]));
}

#[test]
fn bbr_goes_through_its_states() {
    for algorithm in ["bbr", "bbr3"] {
        let scratch = Scratch::new(&format!("{algorithm}-states"));
        let knobs = format!("congestion-control={algorithm}");
        let setup = Setup::symmetric(2.0, ms(20), 50_000).server(&knobs).traces(&scratch.0);
        let mut pair = setup.pair();
        pair.run(&mut Fetch::of(1), &mut Serve::of(3_000_000), LIMIT);
        let expected = ["startup", "drain", "probe_bw", "probe_rtt", "probe_bw"];
        assert!(pass_through(&scratch.server(), &expected), "{:?}", scratch.server().states());
    }
}

#[test]
fn the_compact_trace_has_a_record_for_every_change() {
    let scratch = Scratch::new("compact");
    let mut pair = Setup::symmetric(10.0, ms(20), 50_000).traces(&scratch.0).pair();
    pair.run(&mut Fetch::of(1), &mut Serve::of(500_000), LIMIT);
    let bytes = std::fs::read(scratch.file("_server.hwtrace")).unwrap();
    let records: Vec<&[u8]> = bytes[24..].chunks_exact(72).collect();
    assert_eq!((bytes.len() - 24) % 72, 0);
    let states = records.iter().filter(|record| record[0] == 2).count();
    assert_eq!(states, scratch.server().states().len());
    let number =
        |record: &[u8], at: usize| u64::from_le_bytes(record[at..at + 8].try_into().unwrap());
    let windows = records.iter().filter(|record| record[0] == 1).map(|record| number(record, 16));
    assert!(windows.clone().next() == Some(12_000) && windows.max().unwrap() > 40_000);
}
