//! Addresses that a server knows from earlier connections (RFC 9000 section 8.1.3).

use std::time::Duration;

use crate::apps::{Fetch, Serve};
use crate::link::{Pair, Setup, ms};

const LIMIT: Duration = Duration::from_secs(60);

fn setup(knobs: &str) -> Setup {
    Setup::symmetric(20.0, ms(20), 2_000_000).client(knobs)
}

/// Clients come one after the other, and get something.
///
/// # Returns
/// Of each client that ever came, whether the server knew that its address was its own.
fn come(pair: &mut Pair, clients: usize) -> Vec<bool> {
    for _ in 0..clients {
        let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(1000));
        pair.connect();
        while fetch.finished.is_empty() || !pair.is_quiet() {
            assert!(pair.step(&mut fetch, &mut serve) && pair.elapsed() < LIMIT);
        }
    }
    pair.validated.clone()
}

#[test]
fn a_client_that_keeps_tokens_is_known_later() {
    let given = |knobs| Setup { gives_tokens: true, ..setup(knobs) }.unconnected();
    // Two tokens come with every connection, and each is good once.
    assert_eq!(come(&mut given("keep-tokens=on"), 4), [false, true, true, true]);
    assert_eq!(come(&mut given("keep-tokens=on,keep-tokens=off"), 2), [false, false]);
    assert_eq!(come(&mut setup("keep-tokens=on").unconnected(), 2), [false, false]);
}

#[test]
fn a_token_is_of_an_address() {
    let mut pair = Setup { gives_tokens: true, ..setup("keep-tokens=on") }.unconnected();
    come(&mut pair, 2);
    pair.move_client("10.0.0.9:5000", false);
    assert_eq!(come(&mut pair, 2), [false, true, false, true]);
}
