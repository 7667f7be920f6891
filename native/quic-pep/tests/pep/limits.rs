//! What clients may take of a proxy, and how both ends are told.

use std::sync::Arc;
use std::time::Duration;

use headway_knobs::newcomers::Newcomers;
use headway_quic::{Close, Dir};
use headway_quic_pep::{Limits, Settings};
use headway_reactor::Memory;
use headway_testlink::Direction;

use crate::apps::Peer;
use crate::chain::{Chain, Idle, delays, ms};

/// None but these.
fn only(limits: Limits) -> impl Fn(&mut Settings) {
    move |own| own.limits = limits
}

/// None but these of newcomers.
fn newcomers(newcomers: Newcomers) -> Limits {
    Limits { newcomers, ..OFF }
}

const OFF: Limits = <Limits as headway_knobs::limits::Limits>::OFF;

#[test]
fn a_client_without_a_byte_ends() {
    let limits = Limits { idle_time: Some(Duration::from_secs(2)), ..OFF };
    let mut chain = Chain::new(&delays([10, 10]), only(limits));
    chain.connect();
    let (mut client, mut server) = (Peer::opening(&[(Dir::Bi, 100)]), Peer::answering(100));
    chain.run(&mut client, &mut server, ms(5000));
    let reason = "idle-time=2s: no byte for 2.0 s".to_owned();
    let close = Close::Application { code: 0x102, reason: reason.clone() };
    assert_eq!((&client.closed, &server.closed), (&Some(close.clone()), &Some(close)));
    let record = chain.record(0);
    assert_eq!((&record.ending.reason, record.ending.by), (&reason, None));
    assert_eq!((record.to_server.bytes, record.to_client.bytes), (100, 100));
    chain.run(&mut client, &mut server, ms(10_000));
    assert_eq!(chain.connections(), 0);
}

#[test]
fn a_handshake_that_takes_too_long_ends() {
    // The client's answer needs 20 ms.
    let limits = newcomers(Newcomers { handshake_time: Some(ms(15)), ..Newcomers::OFF });
    let mut chain = Chain::new(&delays([10, 10]), only(limits));
    chain.connect();
    let mut client = Peer::default();
    chain.run(&mut client, &mut Idle, ms(1000));
    assert!(client.closed.is_some());
    assert_eq!(chain.record(0).ending.reason, "handshake-time=15ms: no handshake for 0.0 s");
}

#[test]
fn an_address_has_so_many_clients() {
    let limits = newcomers(Newcomers { connections_per_address: Some(2), ..Newcomers::OFF });
    let mut chain = Chain::new(&delays([10, 10]), only(limits));
    let first = chain.connect();
    for _ in 0..2 {
        chain.connect();
    }
    let mut client = Peer::default();
    chain.run(&mut client, &mut Idle, ms(500));
    let reason = "connections-per-address=2: this is one more".to_owned();
    assert_eq!(client.closed, Some(Close::Application { code: 0x102, reason }));
    let node = &chain.nodes[0];
    assert_eq!(node.records.len(), 1);
    let said = "connections-per-address=2: 1 more were refused";
    assert_eq!(node.pep.refusals().as_deref(), Some(said));
    // Once one of them has ended there is room again.
    let now = chain.now;
    chain.client(first).close(now, 0, "");
    chain.run(&mut Peer::default(), &mut Idle, ms(500));
    let key = chain.connect();
    chain.run(&mut Peer::default(), &mut Idle, ms(500));
    assert!(!chain.client(key).is_handshaking() && !chain.client(key).is_closed());
}

#[test]
fn clients_that_show_their_address_are_let_in_whatever_is_half_open() {
    let limits = newcomers(Newcomers { half_open_percent: Some(0), ..Newcomers::OFF });
    let mut chain = Chain::new(&delays([10, 10]), only(limits));
    chain.connect();
    let began = chain.now;
    let (mut client, mut server) = (Peer::opening(&[(Dir::Bi, 5000)]), Peer::answering(10_000));
    chain.run(&mut client, &mut server, ms(500));
    assert_eq!((client.closed.as_ref(), client.ended()), (None, 1));
    // A round trip for the Retry, and one for the handshake.
    assert_eq!(client.connected.map(|at| at - began), Some(ms(40)));
}

#[test]
fn the_client_for_which_the_most_is_kept_ends() {
    let memory = Memory { of_all: Some(200_000), of_each: None };
    let limits = Limits { memory, ..OFF };
    let mut chain = Chain::new(&delays([10, 10]), only(limits));
    // A window of the client's that keeps most of what comes in the proxy.
    chain.client_config = Arc::new("connection-window=1000,stream-window=1000".parse().unwrap());
    chain.connect();
    let mut client = Peer::opening(&[(Dir::Bi, 100)]);
    client.is_slow = true;
    let mut server = Peer::answering(10_000_000);
    chain.run(&mut client, &mut server, ms(2000));
    let Some(Close::Application { code: 0x102, reason }) = client.closed else {
        panic!("{:?}", client.closed)
    };
    assert!(reason.starts_with("memory=0.2MB: all connections take "), "{reason}");
    chain.run(&mut Idle, &mut Idle, ms(10_000));
    assert_eq!((chain.nodes[0].pep.queued(), chain.connections()), (0, 0));
}

#[test]
fn limits_do_not_disturb_what_keeps_them() {
    let hop = Direction { rate_mbit: 50.0, queue_bytes: 1 << 20, ..Direction::delay(ms(10)) };
    let fetched = [OFF, Limits::default()].map(|limits| {
        let mut chain = Chain::new(&[hop; 2], only(limits));
        chain.connect();
        let (mut client, mut server) =
            (Peer::opening(&[(Dir::Bi, 100)]), Peer::answering(5_000_000));
        chain.run(&mut client, &mut server, ms(5000));
        assert_eq!((client.closed.as_ref(), client.ended()), (None, 1));
        client.ended_at.map(|at| at - chain.began)
    });
    assert_eq!(fetched[0], fetched[1]);
}
