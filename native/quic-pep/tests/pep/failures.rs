//! What happens when one end is not there, or no longer.

use std::sync::Arc;
use std::time::Duration;

use headway_quic::{Close, Dir};
use headway_quic_pep::{Mode, Peer as End, Settings};

use headway_testlink::Direction;

use crate::apps::Peer;
use crate::chain::{Chain, Idle, PROTOCOL, delays, ms};

const TIMEOUT: Duration = Duration::from_secs(3);

fn settings(mode: Mode) -> impl Fn(&mut Settings) {
    move |own| {
        own.mode = mode;
        own.connect_timeout = TIMEOUT;
    }
}

#[test]
fn a_dead_server_is_told_in_the_default_mode() {
    let mut chain = Chain::new(&delays([10, 10]), settings(Mode::Default));
    chain.server_lives = false;
    chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 100)]);
    // The ClientHello came at 10 ms.
    chain.run(&mut client, &mut Idle, ms(10) + TIMEOUT + ms(10));
    let reason = "next hop: no connection within 3s".to_owned();
    assert_eq!(client.closed, Some(Close::Application { code: 0x102, reason }));
    chain.run(&mut client, &mut Idle, ms(10_000));
    assert_eq!(chain.connections(), 0);
    assert_eq!(chain.record(0).ending.by, Some(End::Server));
    assert_eq!(chain.record(0).connected, None);
}

#[test]
fn a_dead_server_is_told_through_a_chain() {
    let mut chain = Chain::new(&delays([10, 10, 10, 10]), settings(Mode::Default));
    chain.server_lives = false;
    chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 100)]);
    chain.run(&mut client, &mut Idle, ms(30) + TIMEOUT + ms(30));
    let reason = "next hop: no connection within 3s".to_owned();
    assert_eq!(client.closed, Some(Close::Application { code: 0x102, reason }));
    chain.run(&mut client, &mut Idle, ms(10_000));
    assert_eq!(chain.connections(), 0);
}

#[test]
fn a_client_is_refused_in_the_h3_capable_mode_if_the_server_is_dead() {
    let mut chain = Chain::new(&delays([10, 10, 10]), settings(Mode::H3Capable));
    chain.server_lives = false;
    chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 100)]);
    // The first proxy waits as long as the second one and would be 10 ms earlier.
    chain.run(&mut client, &mut Idle, ms(10) + TIMEOUT + ms(10));
    let Some(Close::Transport(reason)) = &client.closed else { panic!("{:?}", client.closed) };
    assert!(reason.contains("refused"), "{reason}");
    chain.run(&mut client, &mut Idle, ms(10_000));
    assert_eq!(chain.connections(), 0);
    assert_eq!(chain.record(0).accepted, None);
}

#[test]
fn a_server_that_dies_is_told_after_the_idle_timeout() {
    let mut chain = Chain::new(&delays([10, 10]), |own| {
        own.upstream = Arc::new("idle-timeout=5s".parse().unwrap());
    });
    chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 100)]);
    let mut server = Peer::answering(100);
    server.is_endless = true;
    chain.run(&mut client, &mut server, ms(1000));
    chain.server_lives = false;
    chain.run(&mut client, &mut server, ms(10_000));
    let reason = "next hop: nothing came until the idle timeout".to_owned();
    assert_eq!(client.closed, Some(Close::Application { code: 0x102, reason }));
    assert_eq!(chain.nodes[0].pep.connections(), (0, 0));
}

#[test]
fn a_server_is_told_that_the_client_is_gone() {
    let hop = Direction { rate_mbit: 10.0, queue_bytes: 1 << 20, ..Direction::delay(ms(10)) };
    let mut chain = Chain::new(&[hop; 3], |_| {});
    let key = chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 100)]);
    let mut server = Peer::answering(100_000_000);
    chain.run(&mut client, &mut server, ms(500));
    let now = chain.now;
    chain.client(key).close(now, 0x10c, "enough");
    // Serialisation of three small packets takes less than a millisecond.
    chain.run(&mut client, &mut server, ms(31));
    let reason = "enough".to_owned();
    assert_eq!(server.closed, Some(Close::Application { code: 0x10c, reason }));
    chain.run(&mut client, &mut server, ms(10_000));
    assert_eq!(chain.connections(), 0);
    let record = chain.record(1);
    assert_eq!((record.ending.by, record.ending.code), (Some(End::Client), Some(0x10c)));
    assert_eq!(record.to_server.bytes, 100);
    assert!(record.to_client.bytes > 100_000);
}

#[test]
fn a_client_that_falls_silent_is_told_to_the_server() {
    let mut chain = Chain::new(&delays([10, 10]), |own| {
        own.downstream = Arc::new("idle-timeout=2s".parse().unwrap());
    });
    chain.client_config = Arc::new("idle-timeout=1s".parse().unwrap());
    chain.connect();
    let (mut client, mut server) = (Peer::default(), Peer::default());
    chain.run(&mut client, &mut server, ms(5_000));
    let reason = "client: nothing came until the idle timeout".to_owned();
    assert_eq!(server.closed, Some(Close::Application { code: 0x102, reason }));
    chain.run(&mut client, &mut server, ms(5_000));
    assert_eq!(chain.connections(), 0);
}

#[test]
fn a_proxy_that_ends_tells_both() {
    let mut chain = Chain::new(&delays([10, 10]), |_| {});
    chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 100)]);
    let mut server = Peer::answering(100);
    chain.run(&mut client, &mut server, ms(500));
    let now = chain.now;
    chain.nodes[0].pep.close(now, "the proxy ends");
    chain.run(&mut client, &mut server, ms(10));
    let close = Close::Application { code: 0x102, reason: "the proxy ends".to_owned() };
    assert_eq!((client.closed, server.closed), (Some(close.clone()), Some(close)));
}

#[test]
fn more_clients_than_allowed_are_refused() {
    let mut chain = Chain::new(&delays([10, 10]), |own| own.max_clients = 2);
    for _ in 0..3 {
        chain.connect();
    }
    let mut client = Peer::default();
    chain.run(&mut client, &mut Idle, ms(500));
    let Some(Close::Transport(reason)) = &client.closed else { panic!("{:?}", client.closed) };
    assert!(reason.contains("refused"), "{reason}");
    assert_eq!(chain.nodes[0].pep.connections(), (2, 2));
}

/// The result of a connection of a client that offers so many protocols before the server's.
fn offering_others(before: usize, mode: Mode) -> Peer {
    let mut chain = Chain::new(&delays([10, 10, 10]), settings(mode));
    let others: Vec<String> = (0..before).map(|number| format!("protocol-{number:03}")).collect();
    let offered: Vec<&str> = others.iter().map(String::as_str).chain([PROTOCOL]).collect();
    chain.offer(&offered);
    chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 100)]);
    client.closes = Some((1, 0, ""));
    chain.run(&mut client, &mut Peer::answering(100), ms(60_000));
    assert_eq!(chain.connections(), 0);
    client
}

#[test]
fn a_client_hello_may_need_two_packets() {
    // 14 bytes for each protocol that the server does not have.
    let client = offering_others(100, Mode::H3Capable);
    assert_eq!((client.ended(), &client.closed), (1, &None));
}

#[test]
fn the_default_mode_takes_what_the_client_likes_best() {
    let client = offering_others(1, Mode::Default);
    let Some(Close::Application { code: 0x102, reason }) = &client.closed else {
        panic!("{:?}", client.closed)
    };
    assert!(reason.starts_with("next hop: "), "{reason}");
    assert_eq!(offering_others(1, Mode::H3Capable).closed, None);
}
