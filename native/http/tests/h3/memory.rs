//! What a peer makes our side keep is in proportion to what it sends, and is counted.

use std::sync::Arc;
use std::time::Duration;

use headway_http::h3::Compression;
use headway_quic::Config;
use headway_wire::h3::frame_type;

use crate::fetch::{Fetch, get};
use crate::pair::{MINUTE, Pair, Setup};
use crate::raw::{Raw, frame, request, stream_id, varints};
use crate::serve::Serve;

const REQUEST: u64 = 0;
const TABLE: Compression = Compression { table_bytes: 4096, blocked_streams: 100 };

/// HEADERS whose section waits for the first insertion into the dynamic table (RFC 9204 section 4.5.1).
fn blocked_head() -> Vec<u8> {
    frame(frame_type::HEADERS, &[2, 0, 0x80])
}

/// What the server's only connection keeps: QUIC's part and HTTP/3's.
fn kept(pair: &mut Pair, serve: &Serve) -> (u64, u64) {
    let (&key, side) = serve.sides.first_key_value().unwrap();
    (pair.server.connection(key).unwrap().kept(), side.kept())
}

#[test]
fn heads_that_are_not_whole_count() {
    const HEADS: u64 = 50;
    const SENT: usize = 40_000;
    let begun = [varints(&[frame_type::HEADERS, 60_000]), vec![0; SENT]].concat();
    let mut raw = Raw::client((0..HEADS).map(|index| (4 * index, begun.clone(), false)));
    let (mut serve, mut pair) = (Serve::default(), Pair::new(&Setup::default()));
    pair.connect();
    pair.run(&mut raw, &mut serve, Duration::from_secs(10));
    let (transport, side) = kept(&mut pair, &serve);
    let content = HEADS * SENT as u64;
    assert!((content..2 * content + HEADS * 5000).contains(&side), "{side}");
    assert!(transport < 10_000, "{transport}");
}

#[test]
fn pieces_that_nobody_reads_do_not_keep_their_datagrams() {
    const PIECES: u64 = 3000;
    let mut raw = Raw::client([(REQUEST, blocked_head(), false)]);
    let mut serve = Serve { compression: TABLE, ..Serve::default() };
    let mut pair = Pair::new(&Setup::default());
    let key = pair.connect();
    pair.run(&mut raw, &mut serve, Duration::from_secs(1));
    for _ in 0..PIECES {
        let connection = pair.client.connection(key).unwrap();
        connection.write(stream_id(REQUEST), [0].to_vec().into());
        pair.run(&mut raw, &mut serve, Duration::from_millis(2));
    }
    pair.run(&mut raw, &mut serve, Duration::from_secs(1));
    let (transport, side) = kept(&mut pair, &serve);
    assert!((PIECES..3 * PIECES).contains(&transport), "{transport}");
    assert!(side < 5000, "{side}");
}

#[test]
fn content_that_nobody_reads_counts_wherever_it_waits() {
    const CONTENT: u64 = 3_000_000;
    let bytes = [blocked_head(), vec![0; CONTENT as usize]].concat();
    let mut raw = Raw::client([(REQUEST, bytes, false)]);
    let mut serve = Serve { compression: TABLE, ..Serve::default() };
    let mut pair = Pair::new(&Setup::default());
    pair.connect();
    pair.run(&mut raw, &mut serve, Duration::from_secs(10));
    let (transport, _) = kept(&mut pair, &serve);
    // Of it, 256 KiB were taken from quinn-proto.
    assert!((CONTENT - 2000..CONTENT * 3 / 2).contains(&transport), "{transport}");
}

#[test]
fn what_is_sent_counts_until_it_is_acknowledged_and_may_be_limited() {
    for send_memory in [None, Some(30_000)] {
        let mut pair = Pair::new(&Setup::default());
        pair.server_config = Arc::new(Config { send_memory, ..Config::default() });
        pair.connect();
        let mut serve = Serve::default();
        let mut fetch = Fetch::of(["/bytes/1000000"]);
        let mut most = 0;
        for _ in 0..60 {
            pair.run(&mut fetch, &mut serve, Duration::from_millis(20));
            if serve.finished.is_empty() {
                most = most.max(
                    serve
                        .sides
                        .keys()
                        .next()
                        .map_or(0, |&key| pair.server.connection(key).unwrap().kept()),
                );
            }
        }
        pair.run(&mut fetch, &mut serve, MINUTE);
        assert!(fetch.outcome(0).is_finished);
        // Beside it, what was offered, and waits to be handed over.
        let expected = send_memory.map_or(50_000..2_000_000, |limit| limit / 2..limit + 20_000);
        assert!(expected.contains(&most), "{send_memory:?}: {most}");
    }
}

#[test]
fn a_request_that_was_given_up_leaves_nothing() {
    let ask = request(&get("/bytes/3000000"));
    let mut raw = Raw::client([(REQUEST, ask, true)]);
    raw.is_slow = true;
    let setup = Setup { client: "stream-window=100000", ..Setup::default() };
    let (mut serve, mut pair) = (Serve::default(), Pair::new(&setup));
    let key = pair.connect();
    pair.run(&mut raw, &mut serve, Duration::from_secs(5));
    pair.client.connection(key).unwrap().stop(stream_id(REQUEST), 0x10c);
    pair.run(&mut raw, &mut serve, Duration::from_secs(5));
    let (transport, side) = kept(&mut pair, &serve);
    assert!(transport < 2000 && side < 1000, "{transport} and {side}");
}
