//! The sender's own ledger names the packets that quinn-proto acknowledges and loses. That both
//! agree on the bytes in flight after every acknowledgment, and on the number of losses, is asserted
//! in the sender itself, in debug builds.

use std::time::Duration;

use proptest::prelude::*;

use crate::apps::{Fetch, Serve};
use crate::link::{Setup, ms};
use crate::qlog::Scratch;

/// Both directions are busy, and losses begin with the handshake.
fn transfer(setup: Setup) -> (u64, u64) {
    let mut pair = setup.pair();
    let (mut fetch, mut serve) = (Fetch::of(3), Serve::of(60_000));
    fetch.request_bytes = 40_000;
    fetch.stays = true;
    let mut losses = (0, 0);
    while fetch.finished.len() < 3 {
        // A handshake whose packets are lost over and over takes hours of ever rarer probes.
        assert!(pair.elapsed() < Duration::from_secs(100_000), "{:?}", fetch.closed);
        assert!(pair.step(&mut fetch, &mut serve), "{:?}", fetch.closed);
        let statistics = pair.connection().statistics();
        losses = (statistics.lost_packets, statistics.spurious_losses);
    }
    assert!(fetch.opened.iter().all(|progress| progress.bytes == 60_000));
    losses
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_agrees_with_quinn_proto(
        seeds in (1_u64.., 1_u64..),
        bursts in ((0_u64..40, 1_u64..8), (0_u64..40, 1_u64..8)),
        late in ((0_u64..30, 0_u64..60), (0_u64..30, 0_u64..60)),
        queue in 10_000_u64..200_000,
        one_way_ms in 1_u64..80,
        thresholds in (prop::sample::select(vec![3_u32, 10, 50]), 1.0_f32..3.0),
        algorithm in prop::sample::select(vec!["newreno", "cubic", "bbr", "bbr3"]),
    ) {
        let knobs = format!(
            "packet-threshold={},time-threshold={},congestion-control={algorithm},idle-timeout=100000s",
            thresholds.0, thresholds.1,
        );
        let mut setup =
            Setup::symmetric(10.0, ms(one_way_ms), queue).client(&knobs).server(&knobs);
        (setup.up.seed, setup.down.seed) = seeds;
        (setup.up.bursts, setup.down.bursts) = bursts;
        setup.up.delay_every = (late.0.0, ms(late.0.1));
        setup.down.delay_every = (late.1.0, ms(late.1.1));
        transfer(setup);
    }
}

#[test]
fn reordering_is_told_from_loss_by_the_packet_threshold() {
    // Every 20th packet comes 5 ms late, which is about 8 packets at 20 Mbit/s; none is lost.
    let losses = |threshold: u32| {
        let scratch = Scratch::new(&format!("reordering-{threshold}"));
        let knobs = format!("packet-threshold={threshold},time-threshold=4");
        let mut setup = Setup::symmetric(20.0, ms(20), 2_000_000).server(&knobs);
        setup.down.delay_every = (20, ms(5));
        let mut pair = setup.traces(&scratch.0).pair();
        pair.run(&mut Fetch::of(1), &mut Serve::of(1_000_000), Duration::from_secs(60));
        assert_eq!(pair.down.dropped(), 0);
        let lost: Vec<String> = scratch
            .server()
            .of("recovery:packet_lost")
            .map(|(_, data)| data["trigger"].as_str().unwrap().to_owned())
            .collect();
        assert!(lost.iter().all(|trigger| trigger == "reordering_threshold"));
        (lost.len(), pair.down.departures.len())
    };
    let (at_3, sent) = losses(3);
    assert!(at_3 >= 40 && at_3 <= sent / 20, "{at_3} of {sent}");
    assert_eq!(losses(50).0, 0);
}

#[test]
fn losses_that_were_none_are_counted() {
    let mut setup = Setup::symmetric(20.0, ms(20), 2_000_000).client("time-threshold=4");
    setup.up.delay_every = (20, ms(5));
    let mut pair = setup.pair();
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(1000));
    fetch.request_bytes = 1_000_000;
    fetch.stays = true;
    while fetch.finished.is_empty() {
        assert!(pair.step(&mut fetch, &mut serve));
    }
    let statistics = pair.connection().statistics();
    assert!(statistics.lost_packets >= 40, "{statistics:?}");
    // The last one's acknowledgment may still be on its way.
    assert!(statistics.lost_packets - statistics.spurious_losses <= 1, "{statistics:?}");
}
