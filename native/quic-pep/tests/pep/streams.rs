//! Streams through proxies: their content, identifiers and ends.

use crate::apps::Peer;
use crate::chain::{Chain, ms};
use headway_quic::{Close, Dir, Read};
use headway_testlink::Direction;

/// Hops of 50 Mbit/s with a queue of a megabyte.
fn hops<const N: usize>(loss: f64, seed: u64) -> [Direction; N] {
    let hop = Direction::delay(ms(10));
    [Direction { rate_mbit: 50.0, queue_bytes: 1 << 20, loss, seed, ..hop }; N]
}

/// Everything passes both ways, on streams of both kinds that both ends open.
fn every_byte_passes<const N: usize>(loss: f64, seed: u64) {
    let mut chain = Chain::new(&hops::<N>(loss, seed), |_| {});
    chain.connect();
    let (bi, uni) = (Dir::Bi, Dir::Uni);
    let mut client = Peer::opening(&[(bi, 3000), (uni, 80_000), (bi, 0), (uni, 1)]);
    let mut server = Peer::opening(&[(uni, 70_000), (bi, 5), (uni, 0), (bi, 120_000)]);
    (client.answers, server.answers) = (50_000, 150_000);
    client.closes = Some((6, 7, "all there"));
    chain.run(&mut client, &mut server, ms(120_000));

    let bytes = |of: &Peer| of.received.values().map(|r| r.bytes).collect::<Vec<_>>();
    // Streams 0 to 7: client and server, bidirectional; client and server, unidirectional.
    assert_eq!(bytes(&client), [150_000, 5, 70_000, 150_000, 120_000, 0]);
    assert_eq!(bytes(&server), [3000, 50_000, 80_000, 0, 50_000, 1]);
    for peer in [&client, &server] {
        assert!(peer.received.values().all(|r| r.end == Some(Read::Finished)));
    }
    assert_eq!((&client.opened, &server.opened), (&server.accepted, &client.accepted));
    // A lost CONNECTION_CLOSE is sent again only if something comes; the server may say nothing.
    if loss == 0.0 {
        let close = Close::Application { code: 7, reason: "all there".to_owned() };
        assert_eq!(server.closed, Some(close));
    }
    assert_eq!(chain.connections(), 0);
}

#[test]
fn every_byte_passes_one_proxy() {
    every_byte_passes::<2>(0.0, 1);
}

#[test]
fn every_byte_passes_three_proxies() {
    every_byte_passes::<4>(0.0, 1);
}

#[test]
fn every_byte_passes_one_proxy_under_loss() {
    (1..3).for_each(|seed| every_byte_passes::<2>(0.03, 100 * seed));
}

#[test]
fn every_byte_passes_three_proxies_under_loss() {
    (1..3).for_each(|seed| every_byte_passes::<4>(0.03, 100 * seed));
}
