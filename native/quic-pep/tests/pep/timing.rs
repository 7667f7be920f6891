//! When things happen: closed forms.

use std::time::Duration;

use headway_quic::{Config, Dir, Read};
use headway_quic_pep::{Mode, Pool};
use headway_testlink::SERVER_NAME;

use crate::apps::Peer;
use crate::chain::{Chain, Idle, PROTOCOL, delays, ms};

/// When the client's handshake was complete and when its response came, over hops with these
/// round-trip times.
fn times<const N: usize>(rtt_ms: [u64; N], mode: Mode) -> (Duration, Duration) {
    let mut chain = Chain::new(&delays(rtt_ms.map(|rtt| rtt / 2)), |own| own.mode = mode);
    chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 100)]);
    let mut server = Peer::answering(100);
    chain.run(&mut client, &mut server, ms(20_000));
    let since = |at: Option<std::time::Instant>| at.expect("it came") - chain.began;
    (since(client.connected), since(client.first_byte))
}

/// In the default mode each handshake takes one round trip of its hop and begins when the
/// ClientHello came; a request waits at each proxy until the next handshake is complete.
fn default_mode(rtt_ms: &[u64]) -> (Duration, Duration) {
    let mut hello = 0.0_f64;
    let mut request = 0.0_f64;
    for rtt in rtt_ms.iter().map(|rtt| *rtt as f64) {
        request = request.max(hello + rtt) + rtt / 2.0;
        hello += rtt / 2.0;
    }
    let back = rtt_ms.iter().sum::<u64>() as f64 / 2.0;
    (ms(rtt_ms[0]), Duration::from_secs_f64((request + back) / 1000.0))
}

/// In the h3-capable mode the handshakes follow each other, from the server to the client.
fn h3_capable_mode(rtt_ms: &[u64]) -> (Duration, Duration) {
    let all = rtt_ms.iter().sum();
    (ms(all), ms(2 * all))
}

#[test]
fn both_modes_take_the_time_of_their_round_trips() {
    // Client, GEO satellite, server.
    for rtts in [[2, 600, 80], [80, 600, 2], [600, 20, 20], [20, 40, 600]] {
        assert_eq!(times(rtts, Mode::Default), default_mode(&rtts), "{rtts:?}");
        assert_eq!(times(rtts, Mode::H3Capable), h3_capable_mode(&rtts), "{rtts:?}");
    }
    // By hand: at 1 + 600 ms the satellite's handshake is complete, and the request that has come
    // at 3 ms goes on; at 901 ms it finds the last handshake complete since 301 + 80 ms.
    assert_eq!(default_mode(&[2, 600, 80]), (ms(2), ms(601 + 300 + 40 + 341)));
}

/// A client's probes are sent 3, 9 and 21 initial round-trip times of 100 ms after its first packet (RFC 9002,
/// section 6.2): the first one that finds the next hop's handshake complete is answered.
#[test]
fn a_probed_proxy_answers_the_first_probe_after_the_next_hops_handshake() {
    let connected = |rtt_ms: [u64; 2]| {
        let mut chain = Chain::new(&delays(rtt_ms.map(|rtt| rtt / 2)), |own| {
            own.mode = Mode::Probed;
        });
        chain.client_config = Config { initial_rtt: ms(100), ..Config::default() }.into();
        chain.connect();
        let mut client = Peer::opening(&[(Dir::Bi, 100)]);
        chain.run(&mut client, &mut Peer::answering(100), ms(20_000));
        client.connected.expect("it came") - chain.began
    };
    for (rtt_ms, probe_ms) in [([2, 200], 300), ([2, 600], 900), ([2, 1000], 2100)] {
        let after = connected(rtt_ms).saturating_sub(ms(probe_ms + 2));
        assert!(after < ms(2), "{rtt_ms:?}: {after:?} after the probe");
    }
}

#[test]
fn a_proxy_takes_no_time() {
    let direct = times([40], Mode::Default);
    assert_eq!(direct, (ms(40), ms(80)));
    assert_eq!(times([40, 0], Mode::Default), direct);
    assert_eq!(times([0, 0, 40, 0, 0], Mode::H3Capable), direct);
    assert_eq!(times([0, 0, 0, 0], Mode::Default), (ms(0), ms(0)));
}

#[test]
fn a_transfer_through_proxies_without_delay_takes_as_long_as_without_them() {
    let end = |hops: &[u64]| {
        let hops: Vec<_> = hops.iter().map(|delay| delays([*delay])[0]).collect();
        let mut chain = Chain::new(&hops, |_| {});
        chain.connect();
        let mut client = Peer::opening(&[(Dir::Bi, 100)]);
        client.closes = Some((1, 0, ""));
        chain.run(&mut client, &mut Peer::answering(300_000), ms(5_000));
        client.ended_at.expect("it did") - chain.began
    };
    // The same congestion controller works on the only hop that takes time. Certificates and
    // signatures differ by a few bytes, and with them what is paced.
    assert!(end(&[50, 0]).abs_diff(end(&[50])) < ms(2));
}

#[test]
fn a_pool_saves_the_handshake_with_the_next_hop() {
    for mode in [Mode::Default, Mode::H3Capable] {
        let mut chain = Chain::new(&delays([10, 300]), |own| {
            let (server_name, protocol) = (SERVER_NAME.to_owned(), PROTOCOL.into());
            own.pool = Some(Pool { size: 2, server_name, protocol });
            own.mode = mode;
        });
        chain.run(&mut Idle, &mut Idle, ms(1000));
        assert_eq!(chain.nodes[0].pep.connections(), (0, 2));
        chain.connect();
        let came = chain.now;
        let mut client = Peer::opening(&[(Dir::Bi, 100)]);
        client.closes = Some((1, 0, ""));
        chain.run(&mut client, &mut Peer::answering(100), ms(5_000));
        // One round trip to the proxy, and one to the server.
        assert_eq!(client.connected.unwrap() - came, ms(20));
        assert_eq!(client.first_byte.unwrap() - came, ms(20 + 620));
        assert!(chain.record(0).pooled);
        assert_eq!(chain.nodes[0].pep.connections(), (0, 2));
    }
}

#[test]
fn a_pool_of_the_client_side_proxy_warms_all_of_them() {
    let mut chain = Chain::new(&delays([1, 300, 40]), |own| {
        if own.next_hop.ip().to_string() == "10.0.2.2" {
            let (server_name, protocol) = (SERVER_NAME.to_owned(), PROTOCOL.into());
            own.pool = Some(Pool { size: 1, server_name, protocol });
        }
        own.mode = Mode::H3Capable;
    });
    // The server opens a stream at once, as servers of HTTP/3 do: it waits for the client, too.
    let mut server = Peer::opening(&[(Dir::Uni, 30)]);
    server.answers = 100;
    chain.run(&mut Idle, &mut server, ms(2000));
    chain.connect();
    let came = chain.now;
    let mut client = Peer::opening(&[(Dir::Bi, 100)]);
    chain.run(&mut client, &mut server, ms(5_000));
    assert_eq!(client.connected.unwrap() - came, ms(2));
    // The server's stream comes with the end of the handshake.
    assert_eq!(client.first_byte.unwrap() - came, ms(2));
    assert_eq!(client.ended(), 2);
}

/// Two clients one after the other; the second has a ticket, and so has each proxy.
fn second_visit(server_forgets: bool) -> (Chain, Peer, Duration) {
    let mut chain = Chain::new(&delays([10, 100, 20]), |_| {});
    chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 100)]);
    client.closes = Some((1, 0, ""));
    let mut server = Peer::answering(100);
    chain.run(&mut client, &mut server, ms(30_000));
    assert_eq!(chain.connections(), 0);
    if server_forgets {
        chain.renew_server_tls();
    }
    let key = chain.connect();
    let came = chain.now;
    let mut client = Peer::opening(&[(Dir::Bi, 5_000), (Dir::Uni, 100), (Dir::Bi, 0)]);
    client.closes = Some((2, 0, ""));
    let mut server = Peer::answering(1000);
    client.open(chain.client(key));
    assert_eq!(client.opened.len(), 3);
    chain.run(&mut client, &mut server, ms(30_000));
    let streams = server.received.values().map(|received| received.bytes).collect::<Vec<_>>();
    assert_eq!(streams, [5000, 100, 0]);
    assert!(server.received.values().all(|received| received.end == Some(Read::Finished)));
    let took = client.first_byte.unwrap() - came;
    (chain, client, took)
}

#[test]
fn early_data_take_one_way_each() {
    let (chain, client, took) = second_visit(false);
    assert_eq!(client.early_data_accepted, Some(true));
    assert!(chain.nodes.iter().all(|node| node.records[1].early_data));
    // The way there and back.
    assert_eq!(took, ms(260));
    assert_eq!(chain.connections(), 0);
}

#[test]
fn early_data_that_a_server_rejects_are_sent_again() {
    let (chain, client, took) = second_visit(true);
    // Rejected on the last hop only; there it takes a round trip more.
    assert_eq!(client.early_data_accepted, Some(true));
    assert!(chain.nodes[0].records[1].early_data);
    assert!(!chain.nodes[1].records[1].early_data);
    assert_eq!(took, ms(260 + 40));
}
