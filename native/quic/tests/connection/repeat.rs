//! What a seed says, happens: whole transfers, packet by packet.

use std::time::Duration;

use headway_testlink::Departure;

use crate::apps::{Fetch, Serve};
use crate::link::{Setup, ms};

/// Every packet of a transfer with losses, of both directions, after a connection that leaves a
/// ticket behind.
fn packets(seed: u64, losses: u64) -> [Vec<Departure>; 2] {
    let mut setup = Setup::symmetric(10.0, ms(20), 30_000);
    setup.seed = seed;
    for direction in [&mut setup.up, &mut setup.down] {
        direction.bursts = (20, 2);
        direction.seed = losses;
    }
    let mut pair = setup.unconnected();
    for _ in 0..2 {
        pair.connect();
        let (mut fetch, limit) = (Fetch::of(3), pair.elapsed() + Duration::from_secs(60));
        pair.run(&mut fetch, &mut Serve::of(200_000), limit);
        assert_eq!(fetch.finished.len(), 3);
    }
    assert!(pair.up.dropped() > 0 && pair.down.dropped() > 0);
    [pair.up.departures, pair.down.departures]
}

#[test]
fn equal_seeds_send_equal_packets_at_equal_times() {
    assert!(packets(1, 1) == packets(1, 1));
}

#[test]
fn another_seed_sends_other_packets() {
    let [first, other] = [1, 2].map(|seed| packets(seed, 1));
    // Connection IDs and what is encrypted are others from the first packet on.
    assert_ne!(first[0][0].hash, other[0][0].hash);
    let is_in = |other: &[Departure]| first[1].iter().filter(|one| other.contains(one)).count();
    assert_eq!(is_in(&other[1]), 0);
    // Where the losses are is for the path's seed to say.
    assert!(first[1] != packets(1, 2)[1]);
}
