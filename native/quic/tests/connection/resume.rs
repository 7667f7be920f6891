//! Careful Resume over a path of 20 Mbit/s and 580 ms.

use std::time::Duration;

use crate::apps::{Fetch, Serve};
use crate::link::{Pair, Setup, ms};
use crate::qlog::{Qlog, Scratch};

/// The bandwidth-delay product.
const SAVED: &str = "saved-window=1450000B,saved-rtt=580ms";
const LIMIT: Duration = Duration::from_secs(60);

fn geo(server: &str) -> Setup {
    Setup::symmetric(20.0, ms(290), 1_450_000).server(server)
}

/// How long one more connection takes to fetch so many bytes.
fn fetch(pair: &mut Pair, bytes: u64) -> Duration {
    let (began, limit) = (pair.now(), pair.elapsed() + LIMIT);
    let mut fetch = Fetch::of(1);
    pair.connect();
    pair.run(&mut fetch, &mut Serve::of(bytes), limit);
    fetch.finished[0].2 - began
}

/// The phases that a sender entered, and why.
fn phases(log: &Qlog) -> Vec<(String, Option<String>)> {
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    log.of("recovery:careful_resume_phase_updated")
        .map(|(_, data)| (text(&data["new"]).unwrap(), text(&data["trigger"])))
        .collect()
}

#[test]
fn a_saved_path_is_filled_in_two_round_trips() {
    let scratch = Scratch::new("resumed");
    let fresh = fetch(&mut geo("").unconnected(), 2_000_000);
    let resumed = fetch(&mut geo(SAVED).traces(&scratch.0).unconnected(), 2_000_000);
    // In round trips: the request arrives after 1.5; the initial window leaves over half of one and
    // is acknowledged 2.9 after the beginning; half the saved window leaves in one, and the rest of
    // 1.3 MB at the path's rate in 0.9; it needs 0.5 to come.
    assert!((5.2..5.4).contains(&resumed.div_duration_f64(ms(580))), "{resumed:?}");
    // Slow start has sent 1700 packets after 7.4 rounds, which begin after 1.5.
    assert!((8.5..9.5).contains(&fresh.div_duration_f64(ms(580))), "{fresh:?}");
    let expected = [
        ("reconnaissance", None),
        ("unvalidated", Some("congestion_window_limited")),
        ("validating", Some("last_unvalidated_packet_sent")),
        ("normal", Some("last_unvalidated_packet_acknowledged")),
    ];
    let expected = expected.map(|(new, trigger)| (new.to_owned(), trigger.map(str::to_owned)));
    assert_eq!(phases(&scratch.server()), expected);
}

#[test]
fn unvalidated_packets_are_told_by_their_numbers() {
    let scratch = Scratch::new("unvalidated");
    fetch(&mut geo(SAVED).traces(&scratch.0).unconnected(), 2_000_000);
    let log = scratch.server();
    let state = |phase: &str| {
        let mut updates = log.of("recovery:careful_resume_phase_updated");
        let (at, data) = updates.find(|(_, data)| data["new"] == phase).unwrap();
        (at, data["state_data"].clone())
    };
    let (jumped, validating) = (state("unvalidated"), state("validating"));
    let sent =
        log.of("transport:packet_sent").filter(|(_, data)| data["header"]["packet_type"] == "1RTT");
    let meanwhile: Vec<u64> = sent
        .filter(|(at, _)| (jumped.0..=validating.0).contains(at))
        .map(|(_, data)| data["header"]["packet_number"].as_u64().unwrap())
        .collect();
    assert_eq!(validating.1["first_unvalidated_packet"], meanwhile[0]);
    assert_eq!(validating.1["last_unvalidated_packet"], meanwhile[meanwhile.len() - 1]);
    assert_eq!(jumped.1["congestion_window"], 725_000);
}

#[test]
fn the_next_connection_of_a_peer_has_what_was_observed() {
    let mut pair = geo("remember=600s").unconnected();
    let first = fetch(&mut pair, 6_000_000);
    let second = fetch(&mut pair, 6_000_000);
    assert!(first - second > ms(1500), "{first:?} {second:?}");
    let mut pair = geo("remember=1ms").unconnected();
    let first = fetch(&mut pair, 2_000_000);
    let second = fetch(&mut pair, 2_000_000);
    assert!(first.abs_diff(second) < ms(50), "{first:?} {second:?}");
}

#[test]
fn only_one_of_two_connections_resumes() {
    let mut pair = geo(SAVED).unconnected();
    pair.connect();
    pair.connect();
    let mut fetch = Fetch::of(1);
    pair.run(&mut fetch, &mut Serve::of(500_000), LIMIT);
    let [first, second] = [0, 1].map(|index| fetch.finished[index].2);
    // The other one doubles its window five times.
    assert!(second - first > ms(580), "{:?}", second - first);
}

#[test]
fn a_slower_path_than_saved_is_retreated_from() {
    let scratch = Scratch::new("retreat");
    let setup = Setup::symmetric(5.0, ms(290), 100_000).server(SAVED).traces(&scratch.0);
    fetch(&mut setup.unconnected(), 2_000_000);
    let log = scratch.server();
    let phases = phases(&log);
    let phases: Vec<&str> = phases.iter().map(|(phase, _)| phase.as_str()).collect();
    assert!(phases.ends_with(&["safe_retreat", "normal"]), "{phases:?}");
    let (_, retreat) = log
        .of("recovery:careful_resume_phase_updated")
        .find(|(_, data)| data["new"] == "safe_retreat")
        .unwrap();
    let bytes = |key: &str| retreat["state_data"][key].as_u64().unwrap();
    assert_eq!(bytes("congestion_window"), bytes("pipesize") / 2);
}
