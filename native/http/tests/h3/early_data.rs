//! Requests as early data.

use crate::fetch::{Fetch, get};
use crate::pair::{MINUTE, Pair, Setup};
use crate::pattern::body;
use crate::serve::Serve;

/// A pair that has had one connection, and so has a ticket.
fn primed() -> Pair {
    let mut pair = Pair::new(&Setup::default());
    pair.connect();
    let mut fetch = Fetch::of(["/bytes/10"]);
    pair.run(&mut fetch, &mut Serve::default(), MINUTE);
    assert!(fetch.outcome(0).is_finished);
    pair
}

/// Three requests, sent at once on one more connection.
fn ask_early(pair: &mut Pair) -> Fetch {
    let key = pair.connect();
    let mut fetch = Fetch::default();
    for size in [1000, 2000, 3000] {
        fetch.ask(get(format!("/bytes/{size}")), None, pair.client.connection(key));
    }
    assert!(fetch.outcomes.values().all(|outcome| outcome.sent == 1));
    pair.run(&mut fetch, &mut Serve::default(), MINUTE);
    for (request, size) in [(0, 1000), (1, 2000), (2, 3000)] {
        assert!(fetch.outcome(request).is_finished);
        assert!(fetch.outcome(request).content == body(size));
    }
    fetch
}

#[test]
fn what_a_server_accepts_is_sent_once() {
    let fetch = ask_early(&mut primed());
    assert!(fetch.outcomes.values().all(|outcome| outcome.sent == 1));
}

#[test]
fn what_a_server_rejects_is_sent_again_in_its_order() {
    let mut pair = primed();
    pair.replace_server();
    let fetch = ask_early(&mut pair);
    assert!(fetch.outcomes.values().all(|outcome| outcome.sent == 2));
    assert_eq!(fetch.finished, [0, 1, 2]);
}
