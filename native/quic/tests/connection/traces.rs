//! What the traces of a connection tell.

use std::fs;
use std::time::Duration;

use headway_quic::{ConnectFailed, HttpFrame, Way};
use serde_json::json;

use crate::apps::{Fetch, Serve};
use crate::link::{Setup, ms};
use crate::qlog::Scratch;

#[test]
fn a_transfer_is_told_from_its_first_packet_to_its_end() {
    let scratch = Scratch::new("transfer");
    let mut setup = Setup::symmetric(10.0, ms(20), 100_000)
        .client("idle-timeout=20s")
        .server("idle-timeout=10s,stream-window=123456")
        .traces(&scratch.0);
    setup.down.lose_every = 40;
    let mut pair = setup.pair();
    pair.run(&mut Fetch::of(2), &mut Serve::of(200_000), Duration::from_secs(60));

    let (client, server) = (scratch.client(), scratch.server());
    let odcid = client.header["trace"]["common_fields"]["ODCID"].as_str().unwrap().to_owned();
    assert_eq!(server.header["trace"]["common_fields"]["ODCID"], odcid.as_str());
    assert!(scratch.file(&format!("{odcid}_server.hwtrace")).exists());
    for log in [&client, &server] {
        assert_eq!(log.of("connectivity:connection_started").count(), 1);
        assert_eq!(log.of("transport:alpn_information").next().unwrap().1["chosen_alpn"], "test");
        let owners: Vec<&str> = log
            .of("transport:parameters_set")
            .map(|(_, data)| data["owner"].as_str().unwrap())
            .collect();
        assert_eq!(owners, ["local", "remote"]);
    }
    let remote = client.of("transport:parameters_set").nth(1).unwrap().1;
    assert_eq!(remote["max_idle_timeout"], 10_000.0);
    assert_eq!(remote["initial_max_stream_data_bidi_remote"], 123_456);

    // What the server receives is what the client sent, from the first packet on.
    let first = server.of("transport:packet_received").next().unwrap().1;
    assert_eq!(first["header"]["packet_type"], "initial");
    assert_eq!(first["header"]["packet_number"], 0);
    assert_eq!(first["header"]["dcid"], odcid.as_str());
    let sent = client.of("transport:packet_sent").next().unwrap().1;
    assert_eq!(first["frames"], sent["frames"]);

    let lost = server.of("recovery:packet_lost").count() as u64;
    assert!(lost >= pair.down.dropped() - 2 && lost <= pair.down.dropped(), "{lost}");
    let (_, closed) = server.of("connectivity:connection_closed").next().unwrap();
    assert_eq!((&closed["owner"], &closed["application_code"]), (&json!("remote"), &json!(0)));
    let (_, closed) = client.of("connectivity:connection_closed").next().unwrap();
    assert_eq!((&closed["owner"], &closed["trigger"]), (&json!("local"), &json!("clean")));
}

#[test]
fn every_packet_of_the_wire_is_told() {
    let scratch = Scratch::new("every-packet");
    let mut pair = Setup::symmetric(10.0, ms(20), 100_000).traces(&scratch.0).pair();
    pair.run(&mut Fetch::of(1), &mut Serve::of(100_000), Duration::from_secs(60));
    let bytes = |log: &crate::qlog::Qlog| -> u64 {
        log.of("transport:packet_sent").map(|(_, p)| p["raw"]["length"].as_u64().unwrap()).sum()
    };
    let wire = |wire: &headway_testlink::Wire| wire.departures.iter().map(|d| d.bytes as u64).sum();
    let (up, down): (u64, u64) = (wire(&pair.up), wire(&pair.down));
    assert_eq!((bytes(&scratch.client()), bytes(&scratch.server())), (up, down));
}

#[test]
fn http_events_are_among_them() {
    let scratch = Scratch::new("http");
    let mut pair = Setup::symmetric(10.0, ms(20), 100_000).traces(&scratch.0).pair();
    let now = pair.now();
    let stream = pair.connection().open(headway_quic::Dir::Bi);
    assert_eq!(stream, None, "the handshake is not complete");
    let stream = headway_quic::StreamId::new(headway_quic::Side::Client, headway_quic::Dir::Bi, 0);
    let mut log = pair.connection().http_log(now).expect("there is a qlog");
    log.frame(Way::Created, stream, 7, &HttpFrame::Data);
    log.priority(stream, None, "u=1");
    drop(pair);
    let client = scratch.client();
    assert_eq!(client.of("http:frame_created").next().unwrap().1["length"], 7);
    assert_eq!(client.of("http:priority_updated").next().unwrap().1["new"], "u=1");
}

#[test]
fn without_a_qlog_there_is_no_http_log() {
    let mut pair = Setup::symmetric(10.0, ms(20), 100_000).pair();
    let now = pair.now();
    assert!(pair.connection().http_log(now).is_none());
}

#[test]
fn a_directory_that_cannot_be_is_an_error() {
    let scratch = Scratch::new("no-directory");
    fs::create_dir_all(&scratch.0).unwrap();
    let file = scratch.0.join("file");
    fs::write(&file, "").unwrap();
    let mut setup = Setup::symmetric(10.0, ms(20), 100_000);
    setup.client.trace_directory = Some(file.join("below"));
    let mut pair = setup.unconnected();
    let error = pair.try_connect().unwrap_err();
    assert!(matches!(error, ConnectFailed::Trace(_)), "{error}");
    assert!(error.to_string().contains("file/below"), "{error}");

    let mut setup = Setup::symmetric(10.0, ms(20), 100_000);
    setup.server.qlog_directory = Some(file);
    let mut pair = setup.pair();
    let mut fetch = Fetch::of(1);
    pair.run(&mut fetch, &mut Serve::of(1000), Duration::from_secs(60));
    assert!(fetch.closed.unwrap().to_string().contains("refuse"));
}
