//! What clients may take, and what becomes of those who take more.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use crate::h2;
use crate::hostile::identity;
use crate::running::{PROGRAM, Running, answer, ask};

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
fn the_connection_whose_responses_take_the_most_ends() {
    let [cert, key] = identity("greedy");
    let mut command = Command::new(PROGRAM);
    command.args(["--listen", "127.0.0.1:0", "--limits", "memory=100kB"]);
    command.arg("--cert").arg(&cert).arg("--key").arg(&key);
    let server = Running::spawn(&mut command);
    let requests = |some: std::ops::Range<u32>| -> Vec<u8> {
        some.flat_map(|number| h2::get(2 * number + 1, "/bytes/1000")).collect()
    };
    let [mut modest, mut greedy] = [(); 2].map(|()| h2::connect(server.address, h2::NO_WINDOW));
    modest.write_all(&requests(0..5)).unwrap();
    let mut heads = 0;
    while heads < 5 {
        heads += usize::from(h2::read_frame(&mut modest).0 == h2::HEADERS);
    }
    greedy.write_all(&requests(0..60)).unwrap();
    let payload = loop {
        if let (h2::GOAWAY, payload) = h2::read_frame(&mut greedy) {
            break payload;
        }
    };
    // ENHANCE_YOUR_CALM.
    assert_eq!(payload[4..8], [0, 0, 0, 11]);
    let said = String::from_utf8(payload[8..].to_vec()).unwrap();
    assert!(said.starts_with("memory=0.1MB: all connections take 0.1 MB"), "{said}");
    // There is room again, for others.
    modest.write_all(&requests(5..10)).unwrap();
    while heads < 10 {
        heads += usize::from(h2::read_frame(&mut modest).0 == h2::HEADERS);
    }
    assert_eq!(server.end().0, Some(0));
    for path in [cert, key] {
        std::fs::remove_file(path).unwrap();
    }
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
