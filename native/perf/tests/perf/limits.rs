//! What clients may take of the server, and how they are told.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use serde_json::Value;

use crate::support::{Place, Server};

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Whether the server ended a connection, by an end or a reset.
fn is_ended(mut stream: TcpStream) -> bool {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

fn error(record: &Value) -> &str {
    record["error"].as_str().unwrap()
}

#[test]
fn who_does_not_go_on_is_ended() {
    let place = Place::new("patience");
    for (transport, limit, sent, said) in [
        (
            "tls",
            "handshake-time=100ms",
            &b"\x16\x03"[..],
            "handshake-time=100ms: no handshake for ",
        ),
        ("tcp", "request-time=100ms", b"abc", "request-time=100ms: no whole request for "),
        ("tcp", "idle-time=200ms", &[0; 8], "idle-time=200ms: no progress for "),
    ] {
        let server = place.server(transport, &["--limits", limit]);
        let mut stream = connect(&server);
        stream.write_all(sent).unwrap();
        assert!(is_ended(stream), "{limit}");
        let records = server.end(1);
        assert!(error(&records[0]).starts_with(said), "{records:?}");
    }
}

#[test]
fn a_flow_that_nobody_takes_ends() {
    let place = Place::new("untaken");
    let server = place.server("tcp", &["--limits", "idle-time=200ms"]);
    let mut stream = connect(&server);
    stream.write_all(&(1_u64 << 40).to_be_bytes()).unwrap();
    // Nothing is read until the server has reset the connection.
    poll(&mut [PollFd::new(&stream, PollFlags::empty())], None).unwrap();
    let records = server.end(1);
    assert!(error(&records[0]).starts_with("idle-time=200ms: no progress for "), "{records:?}");
}

#[test]
fn a_client_over_quic_is_told_what_limit_it_met() {
    let place = Place::new("told");
    let server = place.server(
        "quic",
        &[
            "--limits",
            "connection-time=300ms,request-time=300ms,\
        handshake-time=300ms,idle-time=300ms",
        ],
    );
    let output = place.client(server.address(), "quic", &["--duration", "60s"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let said = error(&report["flows"][0]);
    let limit = "connection-time=300ms: the connection was there for 0.";
    assert!(said.contains("0x2") && said.contains(limit), "{said}");
    let records = server.end(1);
    assert!(error(&records[0]).starts_with(limit), "{records:?}");
}

#[test]
fn further_connections_are_refused() {
    let place = Place::new("crowd");
    for (options, said) in [
        (
            ["--limits", "connections-per-address=2"],
            "connections-per-address=2: 1 more were refused",
        ),
        (["--max-connections", "2"], "--max-connections 2: 1 more were refused"),
    ] {
        let server = place.server("tcp", &options);
        let first = [connect(&server), connect(&server)];
        assert!(is_ended(connect(&server)));
        drop(first);
        let (_, rest) = server.end_saying(2);
        assert_eq!(rest, [format!("headway-perf: {said}")]);
    }
}

#[test]
fn clients_that_show_their_address_are_let_in_whatever_is_half_open() {
    let place = Place::new("retry");
    let server = place.server("quic", &["--limits", "half-open-share=0%"]);
    let flows = ["--bytes", "100000", "--flows", "3"];
    let report = place.report(server.address(), "quic", &flows);
    assert_eq!(report["flows"].as_array().unwrap().len(), 3);
    server.end(3);
    // Over QUIC, too, there is no room above the limits.
    let server = place.server("quic", &["--max-connections", "0"]);
    let output = place.client(server.address(), "quic", &["--bytes", "1"]);
    assert_eq!(output.status.code(), Some(1));
    let (_, rest) = server.end_saying(0);
    assert_eq!(rest, ["headway-perf: --max-connections 0: 1 more were refused"]);
}

#[test]
fn limits_that_contradict_each_other_are_refused() {
    let refused = std::process::Command::new(env!("CARGO_BIN_EXE_headway-perf"))
        .args(["server", "--listen", "127.0.0.1:0", "--transport", "tcp"])
        .args(["--limits", "connection-time=5s"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("handshake-time=10s is longer than connection-time=5s"), "{said}");
}
