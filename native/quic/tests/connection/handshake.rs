//! What one lost packet of a handshake costs.

use std::time::Duration;

use crate::apps::{Fetch, Serve};
use crate::link::{Setup, ms};

const ROUND_TRIP: Duration = ms(100);

/// When a small answer is there if a packet of either direction is lost, counted from 1.
fn takes(lost_up: u64, lost_down: u64) -> Duration {
    let mut setup = Setup::symmetric(10.0, ROUND_TRIP / 2, 100_000);
    setup.up.lose_nth = lost_up;
    setup.down.lose_nth = lost_down;
    let mut pair = setup.pair();
    let (began, mut fetch) = (pair.now(), Fetch::of(1));
    pair.run(&mut fetch, &mut Serve::of(1000), Duration::from_secs(10));
    let [(_, _, at)] = fetch.finished[..] else { panic!("the answer did not come") };
    at - began
}

#[test]
fn a_lost_server_hello_costs_a_round_trip() {
    let without = takes(0, 0);
    assert!(without < ROUND_TRIP * 2 + ms(5), "{without:?}");
    // The Handshake packets that follow it tell the client, and its second ClientHello the server.
    let cost = takes(0, 1) - without;
    assert!(cost < ROUND_TRIP + ms(10), "{cost:?}");
}

#[test]
fn a_lost_client_hello_costs_the_probe_timeout() {
    // Nothing tells of it: a second (RFC 9002, section 6.2.2).
    let cost = takes(1, 0) - takes(0, 0);
    assert!(cost > ms(990) && cost < ms(1010), "{cost:?}");
}

#[test]
fn a_lost_finished_does_not_cost_the_request_its_own_timeout() {
    let without = takes(0, 0);
    for packet in 2..6 {
        let cost = takes(packet, 0).saturating_sub(without);
        assert!(cost < ROUND_TRIP * 3 + ms(10), "{packet}: {cost:?}");
    }
}
