//! The largest packets that a path takes, found by probes (RFC 8899).

use std::time::Duration;

use crate::apps::{Fetch, Serve};
use crate::link::{Setup, ms};
use crate::qlog::Scratch;

const LIMIT: Duration = Duration::from_secs(60);
const BYTES: u64 = 3_000_000;

/// Sizes of the server's packets over a path that takes so many bytes of UDP payload, and how often its
/// congestion controller was told of a loss.
fn sizes(knobs: &str, max_payload: usize, name: &str) -> (Vec<usize>, usize) {
    let scratch = Scratch::new(name);
    let mut setup = Setup::symmetric(50.0, ms(10), 10_000_000).server(knobs).traces(&scratch.0);
    setup.down.max_payload = max_payload;
    let mut pair = setup.pair();
    let mut fetch = Fetch::of(1);
    pair.run(&mut fetch, &mut Serve::of(BYTES), LIMIT);
    assert_eq!(fetch.finished.len(), 1);
    let losses = scratch.server().of("recovery:packet_lost").count();
    (pair.down.departures.iter().map(|departure| departure.bytes).collect(), losses)
}

#[test]
fn packets_grow_to_what_the_path_takes() {
    for (path, name) in [(1500, "mtu-1500"), (1472, "mtu-1472"), (1300, "mtu-1300")] {
        let (sizes, losses) = sizes("probe-up-to=1472", path, name);
        let largest = path.min(1472);
        // Probes that the path does not take are few, and no losses.
        let lost = sizes.iter().filter(|&&size| size > largest).count();
        assert!(lost <= 20, "{lost} of {}", sizes.len());
        assert_eq!(losses, 0);
        // The search ends when the next step would be of less than 20 bytes.
        let last = &sizes[sizes.len() / 2..];
        let found = *last.iter().filter(|&&size| size <= path).max().unwrap();
        assert!(found <= largest && found + 40 > largest, "{found} at {path}");
        let full = last.iter().filter(|&&size| size == found).count();
        assert!(full * 10 > last.len() * 9, "{full} of {} at {path}", last.len());
    }
}

#[test]
fn probes_and_packets_that_are_lost_are_told_apart() {
    let mut setup = Setup::symmetric(50.0, ms(10), 10_000_000).server("probe-up-to=9000");
    setup.down.max_payload = 4000;
    setup.down.lose_every = 37;
    let mut pair = setup.pair();
    let mut fetch = Fetch::of(1);
    // Both counts of bytes in flight are compared all the while.
    pair.run(&mut fetch, &mut Serve::of(BYTES), LIMIT);
    assert_eq!(fetch.finished.len(), 1);
    assert!(pair.down.dropped() > 20);
    assert!(pair.down.departures.iter().any(|departure| departure.bytes > 3900));
}

#[test]
fn nothing_is_tried_unless_it_is_asked_for() {
    let (sizes, _) = sizes("", 1500, "mtu-none");
    assert!(sizes.iter().all(|&size| size <= 1200));
}
