//! Our client against servers that send mutants of what they should.
//!
//! `HEADWAY_FUZZ_SECONDS=600 cargo test -p headway-http --test h3 fuzz` tries more.

use std::time::Duration;

use headway_http::h3::{Client, Compression};
use headway_testlink::{Numbers, sessions};
use headway_wire::Request;
use headway_wire::h3::frame_type;

use crate::fetch::{Fetch, get};
use crate::pair::{Pair, Setup};
use crate::raw::{Raw, control, frame, response, varints};

/// Of requests.
const REQUESTS: [u64; 3] = [0, 4, 8];
/// Of the server: its control stream, and others.
const UNI: [u64; 4] = [3, 7, 11, 15];

/// The bytes of a response, most of the time a good one.
fn answer(numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = Vec::new();
    while numbers.one_in(6) {
        bytes.extend(response(103, &[("link", "</a>")]));
    }
    let content = numbers.bytes(60);
    let fields = [("server", "x"), ("content-length", "5")];
    let some = *numbers.pick(&[0, 1, 1, 2]);
    let fields = &fields[..some];
    bytes.extend(response(*numbers.pick(&[200, 200, 200, 204, 304, 404]), fields));
    for piece in content.chunks(25) {
        bytes.extend(frame(frame_type::DATA, piece));
        if numbers.one_in(8) {
            bytes.extend(frame(0x21 + 0x1f * numbers.below(9) as u64, &numbers.bytes(20)));
        }
    }
    if numbers.one_in(8) {
        bytes.extend(frame(frame_type::HEADERS, &[0, 0, 0xc2]));
    }
    bytes
}

/// What a server has on a stream of one direction.
fn one_way(numbers: &mut Numbers, place: usize) -> Vec<u8> {
    if place == 0 {
        let mut then = Vec::new();
        while numbers.one_in(6) {
            let id = *numbers.pick(&[0, 4, 8, 1 << 40, 3]);
            let kinds = [frame_type::GOAWAY, frame_type::MAX_PUSH_ID, 0x21, frame_type::SETTINGS];
            then.extend(frame(*numbers.pick(&kinds), &varints(&[id])));
        }
        return control(&then);
    }
    // QPACK's streams, with instructions of a few kinds, pushes, and what nobody knows.
    let kinds: [&[u8]; 6] = [
        b"\x02\x3f\xe1\x1f\xc1\x05hello\x41a\x01b",
        b"\x02\x20",
        b"\x03\x80",
        b"\x03\x41\x48",
        b"\x01\x00",
        b"\x21hello",
    ];
    numbers.pick(&kinds).to_vec()
}

fn session(seed: u64) -> [u64; 2] {
    let mut numbers = Numbers::new(seed);
    let mut writings = Vec::new();
    for (place, stream) in UNI.into_iter().enumerate() {
        if place == 0 || numbers.one_in(12) {
            let mut bytes = one_way(&mut numbers, place);
            if numbers.one_in(6) {
                numbers.mutate(&mut bytes);
            }
            writings.push((stream, bytes, numbers.one_in(12)));
        }
    }
    for stream in REQUESTS {
        let mut bytes = answer(&mut numbers);
        if numbers.one_in(3) {
            numbers.mutate(&mut bytes);
        }
        let at = numbers.below(writings.len() + 1);
        writings.insert(at, (stream, bytes, !numbers.one_in(6)));
    }
    // The server's streams are opened in their order.
    let compression = match numbers.below(2) {
        0 => Compression::default(),
        _ => Compression { table_bytes: 4096, blocked_streams: 10 },
    };
    let mut fetch = Fetch { side: Client::new(compression), ..Fetch::default() };
    for path in ["/a", "/b", "/c"] {
        let method = (*numbers.pick(&["GET", "GET", "HEAD"])).into();
        fetch.ask(Request { method, ..get(path) }, None, None);
    }
    let mut pair = Pair::new(&Setup::default());
    pair.connect();
    // The connection times out, if nothing else ends it.
    pair.run(&mut fetch, &mut Raw::server(REQUESTS.len(), writings), Duration::from_secs(60));
    // That every request ends, and nothing comes behind its end.
    let finished = fetch.outcomes.values().filter(|outcome| outcome.is_finished).count();
    let failed = fetch.outcomes.values().filter(|outcome| outcome.failure.is_some()).count();
    assert_eq!((fetch.outcomes.len(), finished + failed), (3, 3), "session {seed}");
    [finished as u64, failed as u64]
}

#[test]
fn every_request_to_mutants_ends_once() {
    let [mut finished, mut failed] = [0, 0];
    for seed in sessions(300) {
        let [more_finished, more_failed] = session(seed);
        finished += more_finished;
        failed += more_failed;
    }
    let all = finished + failed;
    assert!(finished > all / 20 && failed > all / 20, "{finished} finished, {failed} failed");
    println!("{finished} requests finished, {failed} failed");
}
