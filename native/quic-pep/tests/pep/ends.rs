//! How streams are given up and stopped through proxies, and what may wait in them.

use headway_quic::{ConnectionKey, Dir, Read, StreamId};
use headway_quic_pep::{Peer as End, QUEUE_LIMIT};
use headway_testlink::Direction;

use crate::apps::{Peer, Received};
use crate::chain::{Chain, delays, ms};

/// Three proxies, 10 ms one way each hop.
fn three() -> (Chain, ConnectionKey) {
    let mut chain = Chain::new(&delays([10, 10, 10, 10]), |_| {});
    let key = chain.connect();
    (chain, key)
}

fn first(streams: &std::collections::BTreeSet<StreamId>) -> StreamId {
    *streams.first().expect("there is one")
}

#[test]
fn a_client_gives_a_stream_up() {
    let (mut chain, key) = three();
    let mut client = Peer::opening(&[(Dir::Bi, 10_000)]);
    let mut server = Peer::answering(20_000);
    client.is_endless = true;
    chain.run(&mut client, &mut server, ms(1000));
    let stream = first(&client.opened);
    chain.client(key).reset(stream, 0x1234_5678_9abc);
    let reset = chain.now;
    chain.run(&mut client, &mut server, ms(40));
    assert_eq!(
        server.received[&stream],
        Received { bytes: 10_000, end: Some(Read::Reset(0x1234_5678_9abc)) }
    );
    assert_eq!(chain.now - reset, ms(40));
    // The other direction ended as it should.
    assert_eq!(client.received[&stream], Received { bytes: 20_000, end: Some(Read::Finished) });
}

#[test]
fn a_server_gives_a_unidirectional_stream_up() {
    let (mut chain, _) = three();
    let mut client = Peer::default();
    let mut server = Peer::opening(&[(Dir::Uni, 5)]);
    server.is_endless = true;
    chain.run(&mut client, &mut server, ms(1000));
    let stream = first(&server.opened);
    chain.server().reset(stream, 9);
    chain.run(&mut client, &mut server, ms(40));
    assert_eq!(client.received[&stream], Received { bytes: 5, end: Some(Read::Reset(9)) });
}

#[test]
fn a_client_stops_a_response() {
    let (mut chain, key) = three();
    let mut client = Peer::opening(&[(Dir::Bi, 100)]);
    let mut server = Peer::answering(100);
    server.is_endless = true;
    chain.run(&mut client, &mut server, ms(1000));
    let stream = first(&client.opened);
    chain.client(key).stop(stream, 0x10c);
    chain.run(&mut client, &mut server, ms(40));
    assert_eq!(server.stopped, [(stream, 0x10c)]);
}

#[test]
fn a_server_stops_what_a_client_sends() {
    let (mut chain, _) = three();
    let mut client = Peer::opening(&[(Dir::Uni, 100)]);
    let mut server = Peer::default();
    client.is_endless = true;
    chain.run(&mut client, &mut server, ms(1000));
    let stream = first(&client.opened);
    chain.server().stop(stream, 77);
    chain.run(&mut client, &mut server, ms(40));
    assert_eq!(client.stopped, [(stream, 77)]);
}

/// A sender that never ends, at 100 Mbit/s, and a receiver that reads nothing.
fn slow_reader() -> (Chain, Peer, Peer) {
    let hop = Direction { rate_mbit: 100.0, queue_bytes: 1 << 20, ..Direction::delay(ms(5)) };
    let mut chain = Chain::new(&[hop; 4], |settings| {
        settings.downstream = "stream-window=300000".parse().map(std::sync::Arc::new).unwrap();
        settings.upstream = "stream-window=300000".parse().map(std::sync::Arc::new).unwrap();
    });
    chain.client_config = "stream-window=300000".parse().map(std::sync::Arc::new).unwrap();
    chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 10)]);
    client.is_slow = true;
    let mut server = Peer::answering(100_000_000);
    chain.run(&mut client, &mut server, ms(5_000));
    (chain, client, server)
}

#[test]
fn a_slow_reader_bounds_what_waits_at_each_hop() {
    let (mut chain, client, _) = slow_reader();
    for node in &chain.nodes {
        // The limit, and one packet that may exceed it.
        assert!(node.most_queued > QUEUE_LIMIT - 2000, "{}", node.most_queued);
        assert!(node.most_queued < QUEUE_LIMIT + 2000, "{}", node.most_queued);
    }
    assert_eq!(client.received.len(), 0);
    // What left the server: the windows, what the four receivers took out of them to be ready
    // (256 KiB each), and what waits in three proxies; headers are below 10 %.
    let sent: usize = chain.hops[3].down.departures.iter().map(|departure| departure.bytes).sum();
    let bound = 4 * 300_000 + 4 * QUEUE_LIMIT + 3 * QUEUE_LIMIT;
    assert!((sent as u64) < bound * 11 / 10, "{sent}");
    assert_eq!(chain.hops[3].down.dropped(), 0);
    chain.hops.clear();
}

#[test]
fn a_reset_passes_what_a_slow_reader_holds_up() {
    let (mut chain, mut client, mut server) = slow_reader();
    let stream = first(&client.opened);
    chain.server().reset(stream, 5);
    client.is_slow = false;
    // 5 ms each hop, and less than one for four small packets.
    chain.run(&mut client, &mut server, ms(21));
    assert_eq!(client.received[&stream].end, Some(Read::Reset(5)));
}

#[test]
fn streams_wait_until_the_server_allows_them() {
    let mut chain = Chain::new(&delays([10, 10]), |_| {});
    chain.server_config = "max-streams=3".parse().map(std::sync::Arc::new).unwrap();
    chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 10); 10]);
    let mut server = Peer::answering(10);
    server.is_endless = true;
    chain.run(&mut client, &mut server, ms(1000));
    assert_eq!(client.opened.len(), 10);
    assert_eq!(server.accepted.len(), 3);

    // Each one that is over on both ends lets in the next.
    server.is_endless = false;
    for stream in server.accepted.clone() {
        chain.server().finish(stream);
    }
    chain.run(&mut client, &mut server, ms(2000));
    assert_eq!(client.ended(), 10);
    assert_eq!(server.accepted, client.opened);
}

#[test]
fn stopping_a_stream_that_waits_reaches_the_server_later() {
    let mut chain = Chain::new(&delays([10, 100]), |_| {});
    let key = chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 10)]);
    let mut server = Peer::answering(10);
    server.is_endless = true;
    // The client is connected at 20 ms, the proxy at 210 ms.
    chain.run(&mut client, &mut server, ms(100));
    let stream = first(&client.opened);
    chain.client(key).stop(stream, 3);
    chain.run(&mut client, &mut server, ms(500));
    assert_eq!(server.stopped, [(stream, 3)]);
    assert_eq!(server.received[&stream].end, Some(Read::Finished));
}

#[test]
fn what_was_sent_before_a_close_comes_before_it() {
    // The server's side is fast, and the server closes when its end is acknowledged there.
    let slow = Direction { rate_mbit: 8.0, queue_bytes: 1 << 20, ..Direction::delay(ms(50)) };
    let mut chain = Chain::new(&[slow, Direction::delay(ms(1))], |_| {});
    chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 10)]);
    let mut server = Peer::answering(400_000);
    server.closes_when_sent = Some(11);
    chain.run(&mut client, &mut server, ms(60_000));
    let stream = first(&client.opened);
    assert_eq!(client.received[&stream], Received { bytes: 400_000, end: Some(Read::Finished) });
    assert_eq!(chain.connections(), 0);
    let ending = &chain.record(0).ending;
    assert_eq!((ending.by, ending.code), (Some(End::Server), Some(11)));
}
