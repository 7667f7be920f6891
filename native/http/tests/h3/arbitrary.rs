//! Both sides against arbitrary bytes.

use std::time::Duration;

use headway_wire::h3::frame_type;
use proptest::prelude::*;

use crate::fetch::{Fetch, get};
use crate::pair::{MINUTE, Pair, Setup};
use crate::raw::{Raw, control, frame, request, response};
use crate::serve::Serve;

/// Bytes with a good chance to be frames that make some sense.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let any_bytes = prop::collection::vec(any::<u8>(), 0..200);
    let any_frame = (0..16u64, prop::collection::vec(any::<u8>(), 0..50));
    let piece = prop_oneof![
        any_bytes,
        any_frame.prop_map(|(frame_type, payload)| frame(frame_type, &payload)),
        Just(request(&get("/bytes/20000"))),
        Just(response(200, &[])),
        Just(response(103, &[("link", "x")])),
        Just(frame(frame_type::DATA, &[1; 100])),
        Just(control(&[])),
        (0..5u8).prop_map(|stream_type| vec![stream_type]),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn streams(numbers: &'static [u64]) -> impl Strategy<Value = Vec<(u64, Vec<u8>, bool)>> {
    let stream = (prop::sample::select(numbers), bytes(), any::<bool>());
    prop::collection::vec(stream, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    })]

    #[test]
    fn the_server_survives(writings in streams(&[0, 2, 4, 6, 8, 10])) {
        let (mut pair, mut serve) = (Pair::new(&Setup::default()), Serve::default());
        pair.connect();
        pair.run(&mut Raw::client(writings), &mut serve, Duration::from_secs(2));
        let mut fetch = Fetch::of(["/bytes/3000"]);
        pair.connect();
        pair.run(&mut fetch, &mut serve, MINUTE);
        prop_assert!(fetch.outcome(0).is_finished, "{:?}", fetch.outcome(0));
    }

    #[test]
    fn the_client_ends_every_request(writings in streams(&[0, 4, 3, 7, 11, 1])) {
        let (mut pair, mut fetch) = (Pair::new(&Setup::default()), Fetch::of(["/a", "/b"]));
        pair.connect();
        let mut raw = Raw::server(1, writings);
        // Until the connection has timed out at the latest.
        pair.run(&mut fetch, &mut raw, MINUTE);
        for outcome in fetch.outcomes.values() {
            prop_assert!(outcome.is_finished != outcome.failure.is_some());
        }
    }
}
