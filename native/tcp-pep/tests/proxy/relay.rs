//! What goes through the proxy: bytes, ends, resets, and no more than there is room for.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;

use crate::common::{Proxy, dead_address, pattern, receive_all, reset, send_all, server};
use rustix::event::{PollFd, PollFlags, poll};
use socket2::SockRef;

const COPYING: [&str; 2] = ["--copy=splice", "--copy=memory"];

#[test]
fn bytes_arrive_both_ways_at_the_same_time() {
    const UP: u64 = 2_000_000;
    const DOWN: u64 = 3_000_003;
    for copying in COPYING {
        let (listener, address) = server();
        let mut proxy = Proxy::start(address, &[copying]);
        let client = proxy.connect();
        let (server, _) = listener.accept().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| send_all(&client, UP));
            scope.spawn(|| send_all(&server, DOWN));
            let received = scope.spawn(|| receive_all(&client));
            assert_eq!(receive_all(&server), UP);
            assert_eq!(received.join().unwrap(), DOWN);
        });
        let entry = proxy.entry();
        assert_eq!((&entry["end"], &entry["error"]), (&"complete".into(), &().into()));
        assert_eq!((&entry["up_bytes"], &entry["down_bytes"]), (&UP.into(), &DOWN.into()));
        // TCP counts what it received itself, and the FIN with it or not.
        let received = entry["client"]["tcp"]["received_bytes"].as_u64().unwrap();
        assert!((UP..=UP + 1).contains(&received), "{received}");
    }
}

#[test]
fn an_end_in_one_direction_leaves_the_other() {
    let (listener, address) = server();
    let mut proxy = Proxy::start(address, &[]);
    let client = proxy.connect();
    send_all(&client, 1000);
    let (mut server, _) = listener.accept().unwrap();
    // The client's end is there before the server has said anything.
    assert_eq!(receive_all(&server), 1000);
    server.write_all(&pattern(0, 500)).unwrap();
    let mut first = [0; 500];
    (&client).read_exact(&mut first).unwrap();
    assert_eq!(first[..], pattern(0, 500));
    server.write_all(&pattern(500, 1500)).unwrap();
    drop(server);
    let mut rest = Vec::new();
    (&client).read_to_end(&mut rest).unwrap();
    assert_eq!(rest, pattern(500, 1500));
    let entry = proxy.entry();
    assert_eq!(entry["end"], "complete");
    assert_eq!((&entry["up_bytes"], &entry["down_bytes"]), (&1000.into(), &2000.into()));
}

#[test]
fn what_the_client_sends_first_waits_for_the_server() {
    let (listener, address) = server();
    let proxy = Proxy::start(address, &[]);
    // The kernel completes the client's handshake; the server accepts only afterwards.
    let client = proxy.connect();
    (&client).write_all(b"first").unwrap();
    let (mut server, _) = listener.accept().unwrap();
    let mut bytes = [0; 5];
    server.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"first");
}

#[test]
fn urgent_data_keeps_its_place() {
    for copying in COPYING {
        let (listener, address) = server();
        let proxy = Proxy::start(address, &[copying]);
        let mut client = proxy.connect();
        let (mut server, _) = listener.accept().unwrap();
        echo(&mut client, &mut server);
        client.write_all(b"before").unwrap();
        SockRef::from(&client).send_out_of_band(b"!").unwrap();
        client.write_all(b"after").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut bytes = String::new();
        server.read_to_string(&mut bytes).unwrap();
        assert_eq!(bytes, "before!after", "{copying}");
    }
}

#[test]
fn resets_are_carried_on() {
    for by_client in [true, false] {
        let (listener, address) = server();
        let mut proxy = Proxy::start(address, &[]);
        let mut client = proxy.connect();
        let (mut server, _) = listener.accept().unwrap();
        // Both halves are established and in use.
        echo(&mut client, &mut server);
        let (resetting, mut other, end) = if by_client {
            (client, server, "client-lost")
        } else {
            (server, client, "server-lost")
        };
        reset(resetting);
        let error = other.read(&mut [0; 10]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        let entry = proxy.entry();
        assert_eq!(entry["end"], end);
        assert!(entry["error"].as_str().unwrap().contains("reset"), "{entry}");
    }
}

#[test]
fn a_reset_after_one_direction_has_ended_is_carried_on() {
    let (listener, address) = server();
    let mut proxy = Proxy::start(address, &[]);
    let client = proxy.connect();
    let (mut server, _) = listener.accept().unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(server.read(&mut [0; 10]).unwrap(), 0);
    reset(client);
    // Nothing is read from the client any more, and nothing is to be written: it is noticed anyway.
    assert_eq!(proxy.entry()["end"], "client-lost");
    // Waits for errors only. After the end, the kernel calls a reset a broken pipe.
    poll(&mut [PollFd::new(&server, PollFlags::empty())], None).unwrap();
    assert_eq!(server.take_error().unwrap().unwrap().kind(), ErrorKind::BrokenPipe);
}

#[test]
fn a_dead_server_means_a_reset_and_nothing_is_left_behind() {
    let (_bound, address) = dead_address();
    let mut proxy = Proxy::start(address, &[]);
    let mut files = Vec::new();
    for _ in 0..50 {
        let mut client = proxy.connect();
        let error = client.read(&mut [0; 10]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        let entry = proxy.entry();
        assert_eq!((&entry["end"], &entry["connect_s"]), (&"unreachable".into(), &().into()));
        assert!(entry["error"].as_str().unwrap().contains("refused"), "{entry}");
        files.push(proxy.files());
    }
    // One connection may be just being closed.
    assert!(files.iter().max().unwrap() - files[0] <= 2, "{files:?}");
}

#[test]
fn a_slow_reader_slows_the_sender() {
    const BUFFER: usize = 64 << 10;
    const MOST: u64 = 3 << 20;
    for copying in COPYING {
        let (listener, address) = server();
        let sides = [format!("--client-buffer={BUFFER}"), format!("--server-buffer={BUFFER}")];
        let proxy = Proxy::start(address, &[copying, &sides[0], &sides[1]]);
        let client = proxy.connect();
        let (sender, _) = listener.accept().unwrap();
        SockRef::from(&sender).set_send_buffer_size(BUFFER).unwrap();
        let mut other = (proxy.connect(), listener.accept().unwrap().0);
        let sent = send_while_taken(&sender, MOST, || echo(&mut other.0, &mut other.1));
        assert!(sent < MOST, "{sent} bytes are nowhere but in the proxy");
        sender.set_nonblocking(false).unwrap();
        sender.shutdown(Shutdown::Write).unwrap();
        assert_eq!(receive_all(&client), sent);
    }
}

#[test]
fn many_connections_at_a_time() {
    const CONNECTIONS: u64 = 100;
    let (listener, address) = server();
    // Some must wait until others are over.
    let mut proxy = Proxy::start(address, &["--max-connections=40"]);
    let address = proxy.address;
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..CONNECTIONS {
                let (stream, _) = listener.accept().unwrap();
                scope.spawn(move || send_all(&stream, receive_all(&stream)));
            }
        });
        for number in 0..CONNECTIONS {
            scope.spawn(move || {
                let stream = TcpStream::connect(address).unwrap();
                send_all(&stream, 2_000 * number);
                assert_eq!(receive_all(&stream), 2_000 * number);
            });
        }
        let mut numbers: Vec<_> = (0..CONNECTIONS)
            .map(|_| proxy.entry())
            .inspect(|entry| assert_eq!(entry["end"], "complete"))
            .map(|entry| entry["connection"].as_u64().unwrap())
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=CONNECTIONS).collect::<Vec<_>>());
    });
}

#[test]
fn it_ends_when_told_and_says_what_was_going_on() {
    let (listener, address) = server();
    let mut proxy = Proxy::start(address, &[]);
    let mut client = proxy.connect();
    let (mut server, _) = listener.accept().unwrap();
    echo(&mut client, &mut server);
    proxy.terminate();
    assert!(proxy.wait().success());
    let entry = proxy.entry();
    assert_eq!((&entry["end"], &entry["up_bytes"]), (&"stopped".into(), &3.into()));
    // An orderly end would say that everything has arrived.
    for mut end in [client, server] {
        assert_eq!(end.read(&mut [0; 10]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
}

#[test]
fn each_half_has_its_congestion_control() {
    let (listener, address) = server();
    // The one that every kernel has and everybody may use; the other half keeps the usual one.
    let mut proxy = Proxy::start(address, &["--server-congestion-control=reno"]);
    let client = proxy.connect();
    let usual = SockRef::from(&client).tcp_congestion().unwrap();
    let usual = String::from_utf8(usual).unwrap();
    let (server, _) = listener.accept().unwrap();
    let entry = proxy.line();
    assert_eq!((&entry["end"], &entry["up_bytes"]), (&().into(), &0.into()));
    // As the ends see one another.
    assert_eq!(entry["client"]["peer"], client.local_addr().unwrap().to_string());
    assert_eq!(entry["server"]["local"], server.peer_addr().unwrap().to_string());
    assert_eq!(entry["client"]["congestion_control"], usual.trim_end_matches('\0'));
    assert_eq!(entry["server"]["congestion_control"], "reno");
}

#[test]
fn an_unknown_congestion_control_is_said_at_the_start() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_headway-tcp-pep"))
        .args(["--listen=127.0.0.1:0", "--to=127.0.0.1:9", "--client-congestion-control=nosuch"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("congestion control nosuch"), "{said}");
}

/// Three bytes from the client to the server, and two back.
fn echo(client: &mut TcpStream, server: &mut TcpStream) {
    client.write_all(b"abc").unwrap();
    server.read_exact(&mut [0; 3]).unwrap();
    server.write_all(b"de").unwrap();
    client.read_exact(&mut [0; 2]).unwrap();
}

/// Sends until nothing more is taken, even after the proxy has had a turn several times.
fn send_while_taken(mut sender: &TcpStream, most: u64, mut turn: impl FnMut()) -> u64 {
    const TURNS: usize = 20;
    sender.set_nonblocking(true).unwrap();
    let (mut sent, mut refused) = (0, 0);
    while sent < most && refused < TURNS {
        match sender.write(&pattern(sent, 10_000)) {
            Ok(written) => {
                sent += written as u64;
                refused = 0;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                turn();
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    sent
}
