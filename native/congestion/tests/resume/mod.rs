//! Careful Resume over a path of 20 Mbit/s and 580 ms.

use std::time::Duration;

use headway_congestion::{Algorithm, Config, Saved, Time, WindowSize};

use super::link::{Flow, PACKET, Path};
use super::{alone, config, secs};

const RTT_MS: u64 = 580;

/// All but Hybla, whose slow start fills such a path in one round.
const SLOW: [Algorithm; 4] =
    [Algorithm::NewReno, Algorithm::Cubic, Algorithm::Bbr, Algorithm::Bbr3];

/// A controller with a saved window, in packets, and round-trip time.
fn saved(algorithm: Algorithm, packets: f64, rtt_ms: u64) -> Config {
    let window = (packets * PACKET as f64) as u64;
    Config {
        saved: Some(Saved { window, rtt: Duration::from_millis(rtt_ms) }),
        ..config(algorithm)
    }
}

fn rtts(count: u32) -> Time {
    Duration::from_millis(RTT_MS) * count
}

/// The share of the link's rate that is acknowledged in the round trip after so many.
fn used(flow: &Flow, path: Path, after: u32) -> f64 {
    flow.throughput(rtts(after), rtts(after + 1)) / path.rate.bytes_per_second() as f64
}

/// Times, windows and losses of a flow.
fn course(path: Path, config: Config) -> Vec<(Time, u64, u64)> {
    let flow = alone(path, config, secs(10));
    flow.moments.iter().map(|moment| (moment.at, moment.window, moment.lost)).collect()
}

#[test]
fn the_pipe_is_full_two_round_trips_after_the_initial_window() {
    let path = Path::new(20, RTT_MS, 1.0);
    for algorithm in SLOW {
        let fresh = alone(path, config(algorithm), secs(5));
        let resumed = alone(path, saved(algorithm, path.bdp(), RTT_MS), secs(5));
        // Acknowledgements of the third round trip are of the jump: half the saved window.
        let jump = used(&resumed, path, 2);
        assert!((0.45..0.5).contains(&jump), "{algorithm}: {jump}");
        let (full, slow) = (used(&resumed, path, 4), used(&fresh, path, 4));
        assert!(full > 0.95 && slow < 0.07, "{algorithm}: {full} for {slow}");
    }
    // Slow start doubles while the jump is validated, at twice its rate; BBR's rate follows.
    for algorithm in [Algorithm::NewReno, Algorithm::Cubic] {
        let resumed = alone(path, saved(algorithm, path.bdp(), RTT_MS), secs(5));
        assert!(used(&resumed, path, 3) > 0.95, "{algorithm}");
    }
}

#[test]
fn what_is_lost_when_the_path_became_slower_is_what_the_jump_had_too_much() {
    // A quarter of the saved rate, and a queue of a quarter of the bandwidth-delay product.
    let path = Path::new(5, RTT_MS, 0.25);
    let flow = alone(path, saved(Algorithm::NewReno, 4.0 * path.bdp(), RTT_MS), secs(5));
    // The jump, two products in a round trip, arrives twice as fast as the link sends. After a
    // quarter of a round trip the queue is full, and that is known after 1.25 round trips more:
    // until then every other packet is lost, also in validation, which sends two for each
    // acknowledged.
    let last = flow.moments.last().expect("a moment");
    let lost = last.lost as f64 / path.bdp();
    assert!((1.15..1.3).contains(&lost), "{lost}");
    // One product was validated, apart from the initial window and the queue.
    let window = last.window as f64 / PACKET as f64 / path.bdp();
    assert!((0.1..0.7).contains(&window), "{window}");
}

#[test]
fn a_retreat_loses_less_than_the_saved_window_at_once() {
    let path = Path::new(5, RTT_MS, 0.25);
    for algorithm in SLOW {
        let lost = |config| alone(path, config, secs(10)).moments.last().expect("one").lost;
        let careful = lost(saved(algorithm, 4.0 * path.bdp(), RTT_MS));
        let initial_window = WindowSize::Packets((4.0 * path.bdp()) as u32);
        let careless = lost(Config { initial_window, ..config(algorithm) });
        assert!(careful < careless / 2, "{algorithm}: {careful} of {careless}");
    }
}

#[test]
fn another_round_trip_time_changes_nothing() {
    let path = Path::new(20, RTT_MS, 1.0);
    for algorithm in SLOW {
        // A sample is half a millisecond more: a packet's time on the link.
        for rtt_ms in [RTT_MS * 2 + 2, RTT_MS / 10] {
            let resumed = saved(algorithm, path.bdp(), rtt_ms);
            let same = course(path, resumed) == course(path, config(algorithm));
            assert!(same, "{algorithm}: {rtt_ms} ms");
        }
    }
}

#[test]
fn a_loss_in_the_initial_window_changes_everything_back() {
    let path = Path { drop_every: Some(6), ..Path::new(20, RTT_MS, 1.0) };
    for algorithm in SLOW {
        let resumed = saved(algorithm, path.bdp(), RTT_MS);
        assert!(course(path, resumed) == course(path, config(algorithm)), "{algorithm}");
    }
}
