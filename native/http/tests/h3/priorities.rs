//! What clients ask for is what the order of content on the wire becomes.

use std::time::Duration;

use bytes::BytesMut;
use headway_http::event::{Importance, RequestId};
use headway_http::priorities::Priorities;
use headway_schedule::Strategy;
use headway_wire::Priority;
use headway_wire::h3::encode;

use crate::fetch::{Fetch, get};
use crate::pair::{MINUTE, Pair, Setup};
use crate::raw::{Raw, control, request};
use crate::serve::Serve;

const SIZE: u64 = 100_000;
const PATH: &str = "/bytes/100000";

fn urgency(urgency: u8) -> Priority {
    Priority { urgency, ..Priority::default() }
}

fn run(strategy: &'static str, fetch: &mut Fetch) {
    let mut pair = Pair::new(&Setup { strategy, ..Setup::default() });
    pair.connect();
    pair.run(fetch, &mut Serve::default(), MINUTE);
}

/// Requests in the order in which their content came; one that is interrupted is there twice.
fn order(came: &[(u64, usize)]) -> Vec<u64> {
    let mut order: Vec<u64> = came.iter().map(|&(request, _)| request).collect();
    order.dedup();
    order
}

#[test]
fn the_field_decides() {
    let mut fetch = Fetch::default();
    for value in ["u=5", "u=3", "u=0", "u=3"] {
        let mut request = get(PATH);
        request.fields.push("priority", value);
        fetch.ask(request, None, None);
    }
    run("rfc9218", &mut fetch);
    assert_eq!(order(&fetch.came), [2, 1, 3, 0]);
}

#[test]
fn incremental_responses_take_turns() {
    let mut fetch = Fetch::default();
    for _ in 0..3 {
        let mut request = get(PATH);
        request.fields.push("priority", "i");
        fetch.ask(request, None, None);
    }
    run("rfc9218", &mut fetch);
    assert!(order(&fetch.came).len() as u64 > 3 * SIZE / 1200, "every packet is another's");
}

#[test]
fn a_late_update_changes_what_is_left() {
    let mut fetch = Fetch::of([PATH, PATH, PATH]);
    fetch.change = Some((30_000, RequestId(2), urgency(0)));
    run("rfc9218", &mut fetch);
    assert_eq!(order(&fetch.came), [0, 2, 0, 1]);
}

#[test]
fn the_dependency_tree_decides() {
    let mut fetch = Fetch::default();
    let after = |parent, exclusive| {
        Some(Importance { parent: Some(RequestId(parent)), weight: 16, exclusive })
    };
    fetch.ask(get(PATH), None, None);
    fetch.ask(get(PATH), after(0, false), None);
    // Between the two.
    fetch.ask(get(PATH), after(0, true), None);
    run("dependency-tree", &mut fetch);
    assert_eq!(order(&fetch.came), [0, 2, 1]);
}

/// A document, a style sheet, a script in the head, a font, two images, and what a script asks for; the requests in
/// the order in which their responses were begun, and complete.
fn decided(priorities: &str) -> [Vec<u64>; 2] {
    let mut fetch = Fetch::default();
    for (dest, value) in [
        ("document", "u=0, i"),
        ("style", "u=0"),
        ("script", "u=1"),
        ("font", "u=0"),
        ("image", "i"),
        ("image", "i"),
        ("empty", "u=1, i"),
    ] {
        let mut request = get(PATH);
        request.fields.push("sec-fetch-dest", dest);
        request.fields.push("priority", value);
        fetch.ask(request, None, None);
    }
    let priorities: Priorities = priorities.parse().unwrap();
    let strategy = priorities.strategy(Strategy::Rfc9218);
    let mut pair = Pair::new(&Setup::default()).scheduled(strategy);
    pair.connect();
    pair.run(&mut fetch, &mut Serve { priorities, ..Serve::default() }, MINUTE);
    let came: Vec<u64> = fetch.came.iter().map(|&(request, _)| request).collect();
    let [mut begun, mut complete]: [Vec<u64>; 2] = [(0..7).collect(), (0..7).collect()];
    begun.sort_by_key(|request| came.iter().position(|one| one == request));
    complete.sort_by_key(|request| came.iter().rposition(|one| one == request));
    [begun, complete]
}

#[test]
fn a_server_decides_like_a_browser() {
    let sequential = vec![0, 1, 3, 2, 6, 4, 5];
    assert_eq!(decided("chrome"), [sequential.clone(), sequential]);
    let levels = vec![0, 1, 2, 3, 4, 5, 6];
    // Those of a level or of a weight are complete within a packet of each other.
    let [begun, mut complete] = decided("firefox-eps");
    complete[1..3].sort_unstable();
    complete[3..6].sort_unstable();
    assert_eq!([begun, complete], [levels.clone(), levels.clone()]);
    assert_eq!(decided("round-robin")[0], levels);
    // The document's weight is ten times a style sheet's, theirs one and a half times a font's, and so on.
    let [_, mut complete] = decided("safari");
    for equal in [1..3, 3..5, 5..7] {
        complete[equal].sort_unstable();
    }
    assert_eq!(complete, [0, 1, 2, 3, 6, 4, 5]);
    // 241 parts for the document, 101 for what the script asks for, 99 for each leader; then followers.
    let [_, mut complete] = decided("firefox");
    complete[1..4].sort_unstable();
    complete[5..7].sort_unstable();
    assert_eq!(complete, [0, 1, 2, 6, 3, 4, 5]);
}

/// Requests by hand for three bodies. Streams in the order in which they were complete.
fn finished(raw: &mut Raw, later: &[(u64, &[u8], bool)]) -> Vec<u64> {
    let mut pair = Pair::new(&Setup::default());
    let key = pair.connect();
    let mut serve = Serve::default();
    pair.run(raw, &mut serve, Duration::from_millis(200));
    for &(stream, bytes, ends) in later {
        raw.write(pair.client.connection(key).unwrap(), stream, bytes, ends);
    }
    pair.run(raw, &mut serve, MINUTE);
    raw.finished.iter().copied().filter(|stream| stream % 4 == 0).collect()
}

fn update(stream: u64, value: &str) -> BytesMut {
    let mut frame = BytesMut::new();
    encode::priority_update(stream, value.as_bytes(), &mut frame);
    frame
}

#[test]
fn an_early_update_counts_more_than_the_field() {
    let updates = [update(8, "u=7"), update(8, "u=0"), update(4, "u=1")].concat();
    let mut raw = Raw::client([(2, control(&updates), false)]);
    let mut ask = get(PATH);
    ask.fields.push("priority", "u=3");
    let ask = request(&ask);
    let requests = [0, 4, 8].map(|stream| (stream, &ask[..], true));
    assert_eq!(finished(&mut raw, &requests), [8, 4, 0]);
}

#[test]
fn an_update_counts_even_if_the_request_has_only_begun() {
    let ask = request(&get(PATH));
    let begun = [0, 4, 8].map(|stream| (stream, ask[..5].to_vec(), false));
    let mut raw = Raw::client([(2, control(&[]), false)].into_iter().chain(begun));
    let update = update(8, "u=0");
    let rest = [0, 4, 8].map(|stream| (stream, &ask[5..], true));
    let later = [&[(2, &update[..], false)], &rest[..]].concat();
    assert_eq!(finished(&mut raw, &later), [8, 0, 4]);
}
