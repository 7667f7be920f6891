//! What clients may take, and what becomes of those who take more.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::running::{Running, answer, ask};

/// What still comes until the server ends the connection.
fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    // A reset is an end, too.
    let _ = stream.read_to_end(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn a_client_without_a_whole_request_has_its_time() {
    let server = Running::start(&["--limits", "header-time=100ms"]);
    let mut silent = server.connect();
    let mut dribbling = server.connect();
    dribbling.write_all(b"GET / HT").unwrap();
    let said = rest(&mut dribbling);
    assert!(said.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{said}");
    assert!(said.contains("header-time=100ms: no whole request for "), "{said}");
    assert_eq!(rest(&mut silent), "");
    // One that asks is answered, and may be idle for longer than that.
    let mut good = server.connect();
    for _ in 0..2 {
        ask(&mut good, "/bytes/3");
        assert_eq!(answer(&mut good).1.len(), 3);
        rest(&mut server.connect());
    }
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn an_idle_connection_ends() {
    let server = Running::start(&["--limits", "header-time=100ms,idle-time=200ms"]);
    let mut stream = server.connect();
    ask(&mut stream, "/bytes/3");
    assert_eq!(answer(&mut stream).1.len(), 3);
    assert_eq!(rest(&mut stream), "");
    server.end();
}

#[test]
fn a_response_that_nobody_takes_ends() {
    let root = crate::running::temporary("untaken");
    let log = root.with_extension("log");
    let server = Running::start(&[
        "--limits",
        "header-time=100ms,idle-time=200ms",
        "--access-log",
        log.to_str().unwrap(),
    ]);
    let mut stream = server.connect();
    ask(&mut stream, "/bytes/1000000000");
    // Nothing is read until the server has reset the connection.
    let mut waiting = [rustix::event::PollFd::new(&stream, rustix::event::PollFlags::empty())];
    rustix::event::poll(&mut waiting, None).unwrap();
    server.end();
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.contains("idle-time=200ms: nothing was taken for "), "{said}");
    std::fs::remove_file(log).unwrap();
}

#[test]
fn one_address_cannot_take_all_connections() {
    let server =
        Running::start(&["--limits", "connections-per-address=2", "--max-connections", "4"]);
    let mut first = [server.connect(), server.connect()];
    for stream in &mut first {
        ask(stream, "/bytes/1");
        answer(stream);
    }
    assert_eq!(rest(&mut server.connect()), "");
    let [one, mut other] = first;
    drop(one);
    // Once the server has seen the end of the first there is room again.
    loop {
        let mut stream = server.connect();
        ask(&mut stream, "/bytes/1");
        let mut byte = [0];
        if stream.read(&mut byte).is_ok_and(|bytes| bytes == 1) {
            break;
        }
    }
    ask(&mut other, "/bytes/1");
    answer(&mut other);
    let (status, said) = server.end();
    assert_eq!(status, Some(0));
    assert!(said.starts_with("headway-server: connections-per-address=2: "), "{said}");
    assert!(said.ends_with(" more were refused\n"), "{said}");
}

#[test]
fn limits_that_contradict_each_other_are_refused() {
    let refused = std::process::Command::new(crate::running::PROGRAM)
        .args(["--plain", "127.0.0.1:0", "--limits", "header-time=90s"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("header-time=90s is longer than idle-time=60s"), "{said}");
}
