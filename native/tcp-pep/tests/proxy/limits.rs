//! What clients may take of the proxy, and how that is told.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::common::{Proxy, server};

fn is_ended(mut stream: &TcpStream) -> bool {
    // An end or a reset.
    stream.read(&mut [0]).unwrap_or(0) == 0
}

#[test]
fn a_server_that_does_not_answer_is_not_waited_for() {
    // A listener whose queue is full answers no more.
    let silent = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    silent.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    silent.listen(0).unwrap();
    let address = silent.local_addr().unwrap().as_socket().unwrap();
    let _fills_the_queue = TcpStream::connect(address).unwrap();
    let mut proxy = Proxy::start(address, &["--limits", "connect-time=200ms"]);
    assert!(is_ended(&proxy.connect()));
    let entry = proxy.entry();
    assert_eq!(entry["end"], "limit");
    let said = entry["error"].as_str().unwrap();
    assert!(said.starts_with("connect-time=200ms: no server for 0."), "{said}");
}

#[test]
fn a_connection_without_a_byte_ends() {
    let (listener, address) = server();
    let limits = "connect-time=300ms,idle-time=300ms";
    let mut proxy = Proxy::start(address, &["--limits", limits]);
    let client = proxy.connect();
    let (server, _) = listener.accept().unwrap();
    (&client).write_all(b"once").unwrap();
    (&server).read_exact(&mut [0; 4]).unwrap();
    assert!(is_ended(&client) && is_ended(&server));
    let entry = proxy.entry();
    assert_eq!((&entry["end"], &entry["up_bytes"]), (&"limit".into(), &4.into()));
    let said = entry["error"].as_str().unwrap();
    assert!(said.starts_with("idle-time=300ms: no byte for 0."), "{said}");
}

#[test]
fn one_address_cannot_take_all_connections() {
    let (listener, address) = server();
    let mut proxy = Proxy::start(address, &["--limits", "connections-per-address=2"]);
    let clients = [proxy.connect(), proxy.connect()];
    let servers = [listener.accept().unwrap().0, listener.accept().unwrap().0];
    assert!(is_ended(&proxy.connect()));
    // Once one is over there is room again.
    drop((clients, servers));
    proxy.entry();
    proxy.entry();
    let client = proxy.connect();
    let (mut server, _) = listener.accept().unwrap();
    (&client).write_all(b"again").unwrap();
    server.read_exact(&mut [0; 5]).unwrap();
    proxy.terminate();
    assert_eq!(proxy.said(), "headway-tcp-pep: connections-per-address=2: 1 more were refused\n");
}

#[test]
fn the_connection_that_waits_for_the_longest_ends() {
    let (listener, address) = server();
    let options =
        ["--limits", "relay-memory=600kB", "--client-buffer=4096", "--server-buffer=4096"];
    let mut proxy = Proxy::start(address, &options);
    let mut halves = Vec::new();
    for _ in 0..3 {
        let client = proxy.connect();
        let (server, _) = listener.accept().unwrap();
        // More than all buffers take: something waits in the proxy, and nobody reads it.
        client.set_nonblocking(true).unwrap();
        let mut sent = 0;
        while sent < 64 << 20 {
            match (&client).write(&[0; 65536]) {
                Ok(bytes) => sent += bytes,
                Err(_) => break,
            }
        }
        halves.push((client, server));
    }
    let entry = proxy.entry();
    assert_eq!((&entry["end"], &entry["connection"]), (&"limit".into(), &1.into()));
    let said = entry["error"].as_str().unwrap();
    let expected = "relay-memory=0.6MB: what waits may take 0.8 MB; of this connection nothing";
    assert!(said.starts_with(expected), "{said}");
    proxy.terminate();
    let entries = [proxy.entry(), proxy.entry()].map(|entry| entry["end"].clone());
    assert_eq!(entries, ["stopped", "stopped"]);
}

#[test]
fn limits_that_contradict_each_other_are_refused() {
    let refused = std::process::Command::new(env!("CARGO_BIN_EXE_headway-tcp-pep"))
        .args(["--listen=127.0.0.1:0", "--limits=idle-time=1s"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("connect-time=30s is longer than idle-time=1s"), "{said}");
}
