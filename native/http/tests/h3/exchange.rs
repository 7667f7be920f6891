//! Both sides of ours: requests and their responses.

use std::time::Duration;

use headway_http::event::Failure;
use headway_http::service::{Files, Service};
use headway_testlink::Direction;
use headway_wire::Request;

use crate::fetch::{Fetch, get};
use crate::pair::{MINUTE, Pair, Setup};
use crate::pattern::body;
use crate::serve::Serve;

fn files() -> Serve {
    let mut files = Files::new(None, Vec::new()).unwrap();
    Serve::with(move |request| files.respond(request))
}

fn exchange(setup: &Setup, fetch: &mut Fetch, serve: &mut Serve) -> Pair {
    let mut pair = Pair::new(setup);
    pair.connect();
    pair.run(fetch, serve, MINUTE);
    pair
}

#[test]
fn many_responses_arrive_whole_whatever_is_lost() {
    for (loss, seed) in [(0.0, 1), (0.03, 1), (0.03, 2), (0.2, 3)] {
        let setup = Setup::default();
        let direction = Direction { loss, seed, ..setup.direction };
        let sizes: Vec<u64> = (0..100).map(|i| i * i * 7 % 20_011).collect();
        let paths: Vec<String> = sizes.iter().map(|size| format!("/bytes/{size}")).collect();
        let mut fetch = Fetch::of(paths.iter().map(String::as_str));
        let mut serve = Serve::default();
        exchange(&Setup { direction, ..setup }, &mut fetch, &mut serve);
        for (request, &size) in sizes.iter().enumerate() {
            let outcome = fetch.outcome(request as u64);
            assert!(outcome.is_finished, "{loss}: {:?}", outcome.failure);
            assert!(outcome.content == body(size), "{loss}: {size}");
        }
        assert_eq!(serve.finished.len(), 100);
        assert_eq!(serve.finished.iter().sum::<u64>(), sizes.iter().sum::<u64>());
    }
}

/// DATA says its length as a variable-length integer (RFC 9114 section 7.1), which ends at 2^62 - 1.
#[test]
fn sizes_that_no_frame_can_say_are_not_found() {
    let mut fetch = Fetch::of(["/bytes/4611686018427387904", "/bytes/18446744073709551615"]);
    let pair = exchange(&Setup::default(), &mut fetch, &mut files());
    drop(pair);
    for request in 0..2 {
        let outcome = fetch.outcome(request);
        assert_eq!(outcome.response.as_ref().map(|response| response.status), Some(404));
    }
}

#[test]
fn more_requests_than_streams_wait_their_turn() {
    let paths: Vec<String> = (0..1500).map(|i| format!("/bytes/{}", i % 50)).collect();
    let mut fetch = Fetch::of(paths.iter().map(String::as_str));
    exchange(&Setup::default(), &mut fetch, &mut Serve::default());
    assert_eq!(fetch.finished.len(), 1500);
}

#[test]
fn head_ranges_and_errors() {
    let mut fetch = Fetch::default();
    fetch.ask(Request { method: "HEAD".into(), ..get("/bytes/5000") }, None, None);
    let mut part = get("/bytes/5000");
    part.fields.push("range", "bytes=4990-");
    fetch.ask(part, None, None);
    fetch.ask(get("/nothing"), None, None);
    fetch.ask(Request { method: "POST".into(), ..get("/bytes/5") }, None, None);
    fetch.ask(get("/bytes/5000"), None, None);
    exchange(&Setup::default(), &mut fetch, &mut files());
    assert_eq!([0, 1, 2, 3, 4].map(|id| fetch.status(id).unwrap()), [200, 206, 404, 405, 200]);
    assert!(fetch.outcomes.values().all(|outcome| outcome.is_finished));
    let length = |id| fetch.outcome(id).response.as_ref().unwrap().fields.content_length().unwrap();
    assert_eq!((length(0), fetch.outcome(0).content.len()), (Some(5000), 0));
    assert_eq!((length(1), fetch.outcome(1).content.len()), (Some(10), 10));
    assert_eq!(fetch.outcome(1).content, fetch.outcome(4).content[4990..]);
}

#[test]
fn what_waits_behind_gaps_is_known() {
    let setup = Setup::default();
    let direction = Direction { loss: 0.05, ..setup.direction };
    let mut fetch = Fetch::of(["/bytes/300000"]);
    exchange(&Setup { direction, ..setup }, &mut fetch, &mut Serve::default());
    let exchange = fetch.side.exchange(headway_http::event::RequestId(0)).unwrap();
    assert!(exchange.head_of_line.blocked_bytes > 0);
    // A lost packet is sent again a round trip later at the earliest.
    assert!(exchange.head_of_line.longest > Duration::from_millis(40));
}

#[test]
fn a_server_that_goes_away_ends_what_it_began() {
    let mut serve = Serve { go_away_after: Some(2), ..Serve::default() };
    let mut fetch = Fetch::of(["/bytes/30000", "/bytes/30001"]);
    let mut pair = Pair::new(&Setup::default());
    let key = pair.connect();
    pair.run(&mut fetch, &mut serve, Duration::from_millis(50));
    // This one crosses the GOAWAY.
    fetch.ask(get("/bytes/1"), None, pair.client.connection(key));
    pair.run(&mut fetch, &mut serve, MINUTE);
    assert_eq!(fetch.finished.len(), 2);
    assert_eq!(fetch.outcome(2).failure, Some(Failure::Refused));
    assert!(fetch.side.is_closed());
    assert_eq!((serve.requests, serve.finished.len()), (2, 2));
}

#[test]
fn requests_without_a_server_fail() {
    let setup = Setup::default();
    let direction = Direction { loss: 1.0, ..setup.direction };
    let mut fetch = Fetch::of(["/bytes/1"]);
    exchange(&Setup { direction, ..setup }, &mut fetch, &mut Serve::default());
    assert!(matches!(fetch.outcome(0).failure, Some(Failure::Connection(_))));
}
