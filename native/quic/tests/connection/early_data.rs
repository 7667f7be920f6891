//! 0-RTT data.

use std::time::Duration;

use crate::apps::{Fetch, Serve};
use crate::link::{Pair, Setup, ms};

/// A pair that has had one connection, and so has a ticket.
fn primed() -> (Pair, Duration) {
    let mut pair = Setup::symmetric(10.0, ms(20), 100_000).pair();
    let mut fetch = Fetch::of(2);
    pair.run(&mut fetch, &mut Serve::of(5000), Duration::from_secs(60));
    assert_eq!(fetch.early_data_accepted, Some(false));
    let first_byte = fetch.came[0].0 - (pair.now() - pair.elapsed());
    (pair, first_byte)
}

/// One more connection, which asks at once. Time until the first byte.
fn ask_early(pair: &mut Pair) -> (Fetch, Duration) {
    let (began, limit) = (pair.now(), pair.elapsed() + Duration::from_secs(60));
    let key = pair.connect();
    let connection = pair.client.connection(key).unwrap();
    assert!(connection.has_early_data());
    let mut fetch = Fetch::of(2);
    fetch.is_early = true;
    fetch.ask(key, connection);
    pair.run(&mut fetch, &mut Serve::of(5000), limit);
    assert_eq!(fetch.finished.len(), 2, "{:?}", fetch.closed);
    assert!(fetch.opened.iter().all(|progress| progress.bytes == 5000));
    let first_byte = fetch.came[0].0 - began;
    (fetch, first_byte)
}

#[test]
fn the_first_byte_comes_a_round_trip_earlier() {
    let (mut pair, usual) = primed();
    let (sent_up, sent_down) = (pair.up.departures.len(), pair.down.departures.len());
    let (fetch, early) = ask_early(&mut pair);
    assert_eq!(fetch.early_data_accepted, Some(true));
    // A round trip, a full datagram with the ClientHello and one with the requests, and what the
    // server sends before the answer; at 10 Mbit/s, 0.8 us a byte.
    let time = |bytes: usize| Duration::from_nanos(800) * u32::try_from(bytes).unwrap();
    let up: usize = pair.up.departures[sent_up..][..2].iter().map(|d| d.bytes).sum();
    let down: usize = pair.down.departures[sent_down..][..4].iter().map(|d| d.bytes).sum();
    assert!(early >= ms(40) + time(1200 + 1200), "{early:?}");
    assert!(early <= ms(40) + time(up + down), "{early:?}");
    assert!((usual - early).abs_diff(ms(40)) < ms(2), "{usual:?} {early:?}");
}

#[test]
fn a_server_that_cannot_take_it_says_so_and_all_is_asked_again() {
    for accepts_others in [true, false] {
        let (mut pair, usual) = primed();
        pair.replace_server(accepts_others);
        let (fetch, first_byte) = ask_early(&mut pair);
        assert_eq!(fetch.early_data_accepted, Some(false));
        assert!(first_byte.abs_diff(usual) < ms(4), "{first_byte:?} {usual:?}");
        // Streams of before do not count as opened.
        assert_eq!(fetch.opened.len(), 2);
    }
}
