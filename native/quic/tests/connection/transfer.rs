//! Transfers: byte-exact, and as physics wants.

use std::time::Duration;

use crate::apps::{Fetch, Serve};
use crate::link::{Setup, ms};

#[test]
fn a_clean_transfer_takes_the_time_that_physics_wants() {
    let mut pair = Setup::symmetric(10.0, ms(50), 2_000_000).pair();
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(1_000_000));
    pair.run(&mut fetch, &mut serve, Duration::from_secs(60));
    assert_eq!(fetch.opened[0].bytes, 1_000_000);
    let done = fetch.finished[0].2 - (pair.now() - pair.elapsed());
    // Two round trips, 1 MB and 3 % headers at 10 Mbit/s, and the round trips of slow start in which the path
    // stands still: with 12 kB, 24 kB and 48 kB in flight of 125 kB, about 0.15 s.
    assert!(done > ms(1020) && done < ms(1400), "{done:?}");
}

#[test]
fn every_thirtieth_packet_lost_and_still_every_byte_comes() {
    let mut setup = Setup::symmetric(20.0, ms(10), 200_000);
    setup.down.lose_every = 30;
    let mut pair = setup.pair();
    let (mut fetch, mut serve) = (Fetch::of(5), Serve::of(400_000));
    pair.run(&mut fetch, &mut serve, Duration::from_secs(120));
    assert_eq!(fetch.finished.len(), 5, "{:?}", fetch.closed);
    assert!(fetch.opened.iter().all(|progress| progress.bytes == 400_000));
    assert!(pair.down.dropped() > 50);
}

#[test]
fn an_initial_window_of_ten_sends_ten_packets() {
    for packets in [4, 10, 32] {
        let knobs = format!("initial-window={packets},pacing=off");
        let mut pair = Setup::symmetric(1000.0, ms(50), 2_000_000).server(&knobs).pair();
        let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(500_000));
        pair.run(&mut fetch, &mut serve, Duration::from_secs(10));
        // The request is there after one and a half round trips, the first acknowledgment another
        // round trip later.
        let first_flight = pair
            .down
            .departures
            .iter()
            .filter(|d| d.at > ms(149) && d.at < ms(248) && d.bytes > 1000);
        assert_eq!(first_flight.count(), packets);
    }
}

#[test]
fn thousands_of_gaps_in_one_stream() {
    // Slow start at 1 Gbit/s into a deep queue overshoots by thousands of packets.
    let mut pair =
        Setup::symmetric(1000.0, ms(10), 2_500_000).server("slow-start=classic,pacing=off").pair();
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(15_000_000));
    pair.run(&mut fetch, &mut serve, Duration::from_secs(60));
    assert_eq!(fetch.finished.len(), 1, "{:?}", fetch.closed);
    assert!(pair.down.dropped() > 1024, "{}", pair.down.dropped());
}

#[test]
fn a_slow_reader_bounds_what_is_sent_and_queued() {
    let window = 1 << 20;
    let knobs = format!("stream-window={window}");
    let mut pair = Setup::symmetric(100.0, ms(10), 2_000_000).client(&knobs).pair();
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(50_000_000));
    fetch.is_slow = true;
    pair.run(&mut fetch, &mut serve, Duration::from_secs(10));
    let sent: usize = pair.down.departures.iter().map(|d| d.bytes).sum();
    // The window, and what the client took to be ready for its reader.
    assert!(sent as u64 > window && (sent as u64) < 2 * window, "{sent}");
    assert!(serve.most_queued <= 320 << 10, "{}", serve.most_queued);
    assert_eq!(fetch.opened[0].bytes, 0);
}

#[test]
fn the_window_cap_caps() {
    // 60 kB in flight per 100 ms: 4.8 Mbit/s.
    let mut pair = Setup::symmetric(100.0, ms(50), 2_000_000).server("max-window=60000B").pair();
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(3_000_000));
    pair.run(&mut fetch, &mut serve, Duration::from_secs(60));
    let began = pair.now() - pair.elapsed();
    let seconds = (fetch.finished[0].2 - began).as_secs_f64();
    let mbit = 3_000_000.0 * 8e-6 / (seconds - 0.3);
    assert!((4.2..4.9).contains(&mbit), "{mbit}");
}
