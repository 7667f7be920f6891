//! Knobs that are not of congestion control, and how connections end.

use std::time::{Duration, Instant};

use headway_quic::{Close, Connection, ConnectionKey, Dir, Event, FirstStreams, Network, Read};

use crate::apps::{Fetch, Serve};
use crate::link::{Setup, Side, ms};
use crate::qlog::Scratch;

const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn acknowledgments_become_as_rare_as_asked_for() {
    // A long delay, so that only the number of packets counts.
    let client_packets = |knobs: &str| {
        let mut pair = Setup::symmetric(20.0, ms(20), 2_000_000).server(knobs).pair();
        let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(1_500_000));
        pair.run(&mut fetch, &mut serve, LIMIT);
        assert_eq!(fetch.finished.len(), 1);
        (pair.up.departures.len() as f64, pair.down.departures.len() as f64)
    };
    let (usual, sent) = client_packets("");
    assert!((usual - sent / 2.0).abs() < 0.05 * sent, "{usual} for {sent}");
    for threshold in [9.0, 39.0] {
        let knobs = format!("ack-threshold={threshold},max-ack-delay=100ms");
        let (rare, sent) = client_packets(&knobs);
        assert!(rare > sent / (threshold + 1.0), "{rare} for {sent}");
        assert!(rare < 1.5 * sent / (threshold + 1.0) + 40.0, "{rare} for {sent}");
    }
}

#[test]
fn the_time_threshold_tells_late_from_lost() {
    let triggers = |threshold: &str| {
        let scratch = Scratch::new(&format!("time-threshold-{threshold}"));
        let knobs = format!("packet-threshold=100000,time-threshold={threshold}");
        let mut setup = Setup::symmetric(20.0, ms(20), 2_000_000).server(&knobs);
        // Half a round-trip time late.
        setup.down.delay_every = (50, ms(20));
        let mut pair = setup.traces(&scratch.0).pair();
        pair.run(&mut Fetch::of(1), &mut Serve::of(400_000), LIMIT);
        let log = scratch.server();
        let lost = log.of("recovery:packet_lost");
        let triggers: Vec<String> = lost.map(|(_, data)| data["trigger"].to_string()).collect();
        assert!(triggers.iter().all(|trigger| trigger == "\"time_threshold\""), "{triggers:?}");
        triggers.len()
    };
    assert!(triggers("1") > 0);
    assert_eq!(triggers("3"), 0);
}

#[test]
fn packets_are_as_large_as_they_may_be() {
    for size in [1200, 1452, 9000] {
        let knobs = format!("max-udp-payload={size}");
        let mut pair = Setup::symmetric(100.0, ms(5), 2_000_000).server(&knobs).pair();
        let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(1_000_000));
        pair.run(&mut fetch, &mut serve, LIMIT);
        assert_eq!(fetch.finished.len(), 1);
        let full = pair.down.departures.iter().filter(|d| d.bytes == size).count();
        assert!(full * size > 950_000, "{full} of {size}");
        assert!(pair.down.departures.iter().all(|d| d.bytes <= size));
    }
}

#[test]
fn silence_ends_a_connection_when_it_should() {
    let scratch = Scratch::new("silence");
    let mut setup = Setup::symmetric(10.0, ms(20), 100_000)
        .client("idle-timeout=3s")
        .server("idle-timeout=3s")
        .traces(&scratch.0);
    setup.down.dark = (ms(500), LIMIT);
    let mut pair = setup.pair();
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(1_000_000));
    while pair.step(&mut fetch, &mut serve) && fetch.closed.is_none() {}
    assert_eq!(fetch.closed, Some(Close::TimedOut));
    // The last packet came within the delay and what the queue held; and the first that the client
    // sent later and wanted acknowledged counts as well (RFC 9000 section 10.1).
    let waited = pair.elapsed() - ms(500) - Duration::from_secs(3);
    assert!(waited < ms(500), "{waited:?}");
    let log = scratch.client();
    let (_, closed) = log.of("connectivity:connection_closed").last().unwrap();
    assert_eq!(closed["trigger"], "idle_timeout");
}

#[test]
fn no_common_application_protocol() {
    let mut setup = Setup::symmetric(10.0, ms(20), 100_000);
    setup.client_protocol = "other";
    let mut pair = setup.pair();
    let mut fetch = Fetch::of(1);
    pair.run(&mut fetch, &mut Serve::of(1000), LIMIT);
    let Some(Close::Transport(reason)) = fetch.closed else { panic!("{:?}", fetch.closed) };
    // TLS alert 120 (RFC 7301 section 3.2).
    assert!(reason.contains("120"), "{reason}");
}

#[test]
fn no_common_version() {
    struct Initial(Vec<u8>);
    impl Network for Initial {
        fn send(&mut self, _route: headway_quic::Route, payload: &[u8]) -> std::io::Result<()> {
            self.0 = payload.to_vec();
            Ok(())
        }
    }
    let mut pair = Setup::symmetric(10.0, ms(20), 100_000).pair();
    let mut initial = Initial(Vec::new());
    let now = pair.now();
    pair.client.transmit(now, &mut initial).unwrap();
    // RFC 9000 section 17.2.1: the connection IDs the other way round, and one version.
    let sent = &initial.0;
    let (destination, source) = (&sent[6..14], &sent[15..23]);
    let mut answer = vec![0x80, 0, 0, 0, 0, 8];
    answer.extend_from_slice(source);
    answer.push(8);
    answer.extend_from_slice(destination);
    answer.extend_from_slice(&[0x0a, 0x0a, 0x0a, 0x0a]);
    let datagram = headway_quic::ReceivedDatagram {
        remote: "10.0.0.2:443".parse().unwrap(),
        local_ip: None,
        ecn: None,
        payload: answer[..].into(),
    };
    pair.client.receive(now, &mut initial, datagram).unwrap();
    let (_, event) = pair.client.poll().expect("it is over");
    let reason = format!("{event:?}");
    assert!(reason.contains("version"), "{reason}");
}

/// Opens streams as soon as it may, and reads what comes back.
#[derive(Default)]
struct Asking {
    left: usize,
    answered: usize,
    connected: Option<Instant>,
    took: Duration,
}

impl Side for Asking {
    fn event(&mut self, now: Instant, _: ConnectionKey, connection: &mut Connection, event: Event) {
        match event {
            Event::Readable(stream) => {
                while let Read::Data(_) = connection.read(now, stream) {}
                if connection.read(now, stream) == Read::Finished {
                    connection.forget(stream);
                    self.answered += 1;
                    self.took = now - self.connected.unwrap();
                }
            }
            Event::Connected { .. } => self.connected = Some(now),
            _ => {}
        }
        while self.left > 0 {
            let Some(stream) = connection.open(Dir::Bi) else { return };
            connection.finish(stream);
            self.left -= 1;
        }
    }
}

#[test]
fn a_peer_may_have_all_streams_once_it_has_opened_half_of_the_first_ones() {
    let took = |bidirectional: Option<u32>| {
        let mut setup = Setup::symmetric(20.0, ms(20), 2_000_000);
        let streams = |bidirectional| FirstStreams { bidirectional, unidirectional: 3 };
        setup.server.first_streams = bidirectional.map(streams);
        let mut asking = Asking { left: 300, ..Asking::default() };
        setup.pair().run(&mut asking, &mut Serve::of(10), LIMIT);
        assert_eq!(asking.answered, 300);
        asking.took
    };
    let (at_once, in_two_goes) = (took(None), took(Some(100)));
    // A round trip more, and not one for each hundred.
    assert!(at_once + ms(30) < in_two_goes && in_two_goes < at_once + ms(50), "{in_two_goes:?}");
    assert!(took(Some(300)) < at_once + ms(5));
}
