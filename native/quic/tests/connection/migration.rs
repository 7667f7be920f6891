//! Clients that change their address.

use std::time::Duration;

use crate::apps::{Fetch, Serve};
use crate::link::{Pair, Setup, ms};
use crate::qlog::{Qlog, Scratch};

const ELSEWHERE: &str = "10.0.1.1:5000";
const OTHER_PORT: &str = "10.0.0.1:6000";
const INITIAL_WINDOW: u64 = 12_000;

/// A download of 1.5 MB, which takes about 1.5 s, during which the client moves.
fn download(name: &str, to: &str, deliberate: bool, change: impl FnOnce(&mut Setup)) -> Qlog {
    let scratch = Scratch::new(name);
    let mut setup = Setup::symmetric(10.0, ms(20), 100_000).traces(&scratch.0);
    change(&mut setup);
    let mut pair = setup.pair();
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(1_500_000));
    // Who only receives and whose address changes unawares has no reason to send, ever.
    fetch.upload_bytes = if deliberate { 0 } else { 1_500_000 };
    pair.run(&mut fetch, &mut serve, ms(800));
    assert!(fetch.finished.is_empty());
    pair.move_client(to, deliberate);
    pair.run(&mut fetch, &mut serve, Duration::from_secs(60));
    assert_eq!(fetch.finished.len(), 1, "{:?}", fetch.closed);
    assert_eq!(fetch.opened[0].bytes, 1_500_000);
    scratch.server()
}

/// Windows before and after the server noticed, and whether it has a new round-trip time.
fn around_the_move(log: &Qlog) -> (u64, u64, bool) {
    let (moved, _) = log.of("transport:migration_state_updated").next().expect("it is told");
    assert!((750.0..1000.0).contains(&moved), "{moved}");
    let windows = |data: &serde_json::Value| data["congestion_window"].as_u64();
    let metrics = || log.of("recovery:metrics_updated");
    let before = metrics().filter(|(at, _)| *at < moved).filter_map(|(_, data)| windows(data));
    let after = metrics().filter(|(at, _)| *at >= moved).find_map(|(_, data)| windows(data));
    let later = metrics().find(|(at, data)| *at >= moved && data["latest_rtt"].is_number());
    let has_new_rtt = later.is_some_and(|(_, data)| data["min_rtt"].is_number());
    (before.last().unwrap(), after.unwrap(), has_new_rtt)
}

#[test]
fn a_deliberate_move_keeps_the_transfer_and_begins_a_new_path() {
    let log = download("move", ELSEWHERE, true, |_| {});
    let (before, after, has_new_rtt) = around_the_move(&log);
    assert!(before > 40_000, "{before}");
    assert_eq!((after, has_new_rtt), (INITIAL_WINDOW, true));
    let states: Vec<&str> = log
        .of("transport:migration_state_updated")
        .map(|(_, data)| data["new"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["migration_started", "migration_complete"]);
    let (_, path) = log.of("connectivity:path_assigned").nth(1).unwrap();
    assert_eq!(path["path_remote"]["ip_v4"], "10.0.1.1");
}

#[test]
fn a_nat_that_changes_the_port_changes_nothing_else() {
    let log = download("rebinding-port", OTHER_PORT, false, |_| {});
    let (before, after, has_new_rtt) = around_the_move(&log);
    assert!(before > 40_000 && after >= before / 2, "{before} {after}");
    assert!(!has_new_rtt);
}

#[test]
fn a_nat_that_changes_the_address_begins_a_new_path() {
    let log = download("rebinding-address", ELSEWHERE, false, |_| {});
    let (before, after, has_new_rtt) = around_the_move(&log);
    assert!(before > 40_000, "{before}");
    assert_eq!((after, has_new_rtt), (INITIAL_WINDOW, true));
}

#[test]
fn moves_amid_losses() {
    for (seed, deliberate) in [(1, true), (2, true), (3, true), (4, false), (5, false), (6, false)]
    {
        let name = format!("lossy-move-{seed}");
        download(&name, ELSEWHERE, deliberate, |setup| {
            (setup.up.bursts, setup.down.bursts) = ((20, 3), (20, 3));
            (setup.up.seed, setup.down.seed) = (seed, seed + 100);
        });
    }
}

#[test]
fn an_uploading_client_begins_a_new_path_itself() {
    let scratch = Scratch::new("move-upload");
    let mut pair: Pair = Setup::symmetric(10.0, ms(20), 100_000).traces(&scratch.0).pair();
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(10));
    fetch.request_bytes = 1_500_000;
    pair.run(&mut fetch, &mut serve, ms(800));
    assert!(pair.connection().statistics().window > 40_000);
    pair.move_client(ELSEWHERE, true);
    pair.run(&mut fetch, &mut serve, Duration::from_secs(60));
    assert_eq!(fetch.finished.len(), 1, "{:?}", fetch.closed);
    let (_, after, has_new_rtt) = around_the_move(&scratch.client());
    assert_eq!((after, has_new_rtt), (INITIAL_WINDOW, true));
}

#[test]
fn a_full_window_on_the_old_path_does_not_hold_the_new_one_back() {
    for (name, to) in [("full-window-port", OTHER_PORT), ("full-window-address", ELSEWHERE)] {
        let log = download(name, to, false, |setup| {
            setup.server.set("max-window=24000B").unwrap();
        });
        // The challenge of the new path is answered about a round-trip time later.
        let states = log.of("transport:migration_state_updated");
        let [begun, complete] = states.take(2).map(|(at, _)| at).collect::<Vec<_>>()[..] else {
            panic!("{name}: it is not complete");
        };
        assert!(complete - begun < 100.0, "{name}: {begun} {complete}");
    }
}
