//! Packets of connections that nobody knows any longer (RFC 9000 section 10.3).

use std::time::{Duration, Instant};

use bytes::BytesMut;
use headway_quic::{Endpoint, ReceivedDatagram, Seed};
use headway_testlink::Outbox;

use crate::link::ms;

/// A packet with a short header, of a connection that was forgotten long ago.
const STRAY: [u8; 1200] = [0x40; 1200];

#[test]
fn endpoints_do_not_answer_each_others_resets() {
    let start = Instant::now();
    let mut endpoints = [1, 2].map(|number| Endpoint::client(&Seed::known(number)));
    let mut hosts = ["10.0.0.1:443", "10.0.0.2:50000"].map(Outbox::of);
    let (mut payload, mut resets) = (STRAY.to_vec(), 0);
    // Round trips of different paths; quinn-proto itself sends one reset in 20 ms at most.
    for (turn, path) in (0..100).zip([ms(25), ms(60), ms(300)].into_iter().cycle()) {
        let to = turn % 2;
        let datagram = ReceivedDatagram {
            remote: hosts[1 - to].address,
            local_ip: None,
            ecn: None,
            payload: BytesMut::from(&payload[..]),
        };
        let now = start + path * u32::try_from(turn).unwrap();
        endpoints[to].receive(now, &mut hosts[to], datagram).unwrap();
        let Some(reset) = hosts[to].take() else { break };
        let reset = ReceivedDatagram::from(reset).payload.to_vec();
        assert!(reset.len() < payload.len());
        (payload, resets) = (reset, resets + 1);
    }
    // The answer to the stray packet, and one to that.
    assert_eq!(resets, 2);
}

#[test]
fn a_client_of_a_forgotten_connection_is_told_again() {
    let (mut endpoint, start) = (Endpoint::client(&Seed::known(1)), Instant::now());
    let (mut host, peer) = (Outbox::of("10.0.0.1:443"), Outbox::of("10.0.0.2:50000").address);
    let told = [0, 1, 2, 3, 4, 5, 6, 7].map(|seconds| {
        let payload = BytesMut::from(&STRAY[..]);
        let datagram = ReceivedDatagram { remote: peer, local_ip: None, ecn: None, payload };
        endpoint.receive(start + Duration::from_secs(seconds), &mut host, datagram).unwrap();
        host.take().is_some()
    });
    assert_eq!(told, [true, false, false, true, false, false, true, false]);
}
