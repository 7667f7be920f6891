//! Clients with many requests, and others meanwhile.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;

use headway_testlink::{Certificates, SERVER_NAME};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustls::{ClientConnection, StreamOwned};

use crate::hostile::identity;
use crate::running::{PROGRAM, Running, answer, ask, temporary};

const REQUESTS: u32 = 900;

/// A frame of HTTP/2 (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// GET of `/bytes/0`, whose answer is as soon made as it is logged.
fn get(stream: u32) -> Vec<u8> {
    let block = [b"\x82\x87\x04\x08", &b"/bytes/0"[..], b"\x01\x01a"].concat();
    frame(1, 0x05, stream, &block)
}

/// A connection of HTTP/2 on which the server's SETTINGS have come.
fn h2(address: SocketAddr) -> StreamOwned<ClientConnection, TcpStream> {
    let tls = Arc::new(Certificates::new(1).client(&["h2"]));
    let tls = ClientConnection::new(tls, SERVER_NAME.try_into().unwrap()).unwrap();
    let mut stream = StreamOwned::new(tls, TcpStream::connect(address).unwrap());
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    stream.write_all(&frame(4, 0, 0, b"")).unwrap();
    assert_eq!(read_frame(&mut stream), 4);
    stream
}

/// The type of the next frame.
fn read_frame(stream: &mut impl Read) -> u8 {
    let mut head = [0; 9];
    stream.read_exact(&mut head).unwrap();
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    stream.read_exact(&mut vec![0; length as usize]).unwrap();
    head[3]
}

/// Of what the server logs, how many answers to the one who asks for everything at once precede the
/// answer to another client, when both have asked before the server looks.
fn answered_before_another(name: &str, limits: &str) -> usize {
    let [cert, key] = identity(name);
    let log = temporary(&format!("{name}.log"));
    let mut command = Command::new(PROGRAM);
    command.args(["--listen", "127.0.0.1:0", "--plain", "127.0.0.1:0", "--limits", limits]);
    command.arg("--cert").arg(&cert).arg("--key").arg(&key).arg("--access-log").arg(&log);
    let (server, [plain]) = Running::spawn_with(&mut command);
    let mut greedy = h2(server.address);
    let mut other = TcpStream::connect(plain).unwrap();
    // Both connections are known to the server.
    ask(&mut other, "/bytes/0");
    answer(&mut other);
    let id = Pid::from_child(&server.child);
    kill_process(id, Signal::STOP).unwrap();
    waitpid(Some(id), WaitOptions::UNTRACED).unwrap();
    let requests: Vec<u8> = (0..REQUESTS).flat_map(|number| get(2 * number + 1)).collect();
    greedy.write_all(&requests).unwrap();
    ask(&mut other, "/bytes/1");
    kill_process(id, Signal::CONT).unwrap();
    assert_eq!(answer(&mut other).1.len(), 1);
    let mut answers = 0;
    while answers < REQUESTS {
        answers += u32::from(read_frame(&mut greedy) == 1);
    }
    assert_eq!(server.end().0, Some(0));
    let said = std::fs::read_to_string(&log).unwrap();
    for path in [cert, key, log] {
        std::fs::remove_file(path).unwrap();
    }
    said.lines().position(|line| line.contains("\"/bytes/1\"")).unwrap() - 1
}

#[test]
fn a_client_with_many_requests_lets_others_have_their_turn() {
    // Some turns may be over before the server looks for the other's.
    let few = answered_before_another("turns", "requests-per-turn=10");
    assert!(few <= 50, "{few}");
    // Without the limit there are no turns.
    let all = answered_before_another("no-turns", "off");
    assert!(all == 0 || all == REQUESTS as usize, "{all}");
}
