//! Clients over HTTP/3 that ask for more than the server has memory for.

use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use headway_quic::{Close, Connection, Dir, Event, Read, ReceivedDatagram};
use headway_testlink::SERVER_NAME;
use headway_wire::Request;
use headway_wire::h3::{Settings, StreamType, encode, frame_type};
use headway_wire::varint;

use crate::half_open::begin;
use crate::hostile::identity;
use crate::running::{PROGRAM, Running};

/// A head of which most never comes.
fn begin_heads(connection: &mut Connection, heads: usize) {
    let mut begun = BytesMut::new();
    varint::encode(frame_type::HEADERS, &mut begun);
    varint::encode(60_000, &mut begun);
    begun.extend([0; 50_000]);
    let begun = begun.freeze();
    for _ in 0..heads {
        let stream = connection.open(Dir::Bi).unwrap();
        connection.write(stream, begun.clone());
    }
}

fn ask(connection: &mut Connection, requests: usize) {
    let (mut control, mut head) = (BytesMut::new(), BytesMut::new());
    encode::stream_type(StreamType::Control, &mut control);
    encode::settings(&Settings::default(), &mut control);
    let stream = connection.open(Dir::Uni).unwrap();
    connection.write(stream, control.freeze());
    encode::headers(Request::get("https", SERVER_NAME, "/bytes/1000").lines(), &mut head);
    let head = head.freeze();
    for _ in 0..requests {
        let stream = connection.open(Dir::Bi).unwrap();
        connection.write(stream, head.clone());
        connection.finish(stream);
    }
}

/// Asks on a new connection.
///
/// # Returns
/// Why the connection ended; nothing if a response came before.
pub(crate) fn answered(
    seed: u64,
    server: SocketAddr,
    knobs: &str,
    requests: usize,
) -> Option<Close> {
    outcome(seed, server, knobs, |connection| ask(connection, requests))
}

/// The same of a connection that does something else at its begin.
fn outcome(
    seed: u64,
    server: SocketAddr,
    knobs: &str,
    begins: impl Fn(&mut Connection),
) -> Option<Close> {
    let (mut endpoint, mut socket) = begin(seed, server, knobs);
    socket.0.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut buffer = [0; 2000];
    loop {
        let now = Instant::now();
        while let Some((key, event)) = endpoint.poll() {
            match (endpoint.connection(key), event) {
                (_, Event::Closed(close)) => return Some(close),
                (Some(connection), Event::Connected { .. }) => begins(connection),
                (Some(connection), Event::Readable(stream)) if stream.dir() == Dir::Bi => {
                    while let Read::Data(_) = connection.read(now, stream) {}
                    if connection.read(now, stream) == Read::Finished {
                        return None;
                    }
                }
                _ => {}
            }
        }
        endpoint.transmit(now, &mut socket).unwrap();
        let (length, remote) = socket.0.recv_from(&mut buffer).unwrap();
        let payload = buffer[..length].into();
        let datagram = ReceivedDatagram { remote, local_ip: None, ecn: None, payload };
        endpoint.receive(Instant::now(), &mut socket, datagram).unwrap();
    }
}

#[test]
fn the_connection_whose_responses_take_the_most_ends_over_h3() {
    let [cert, key] = identity("greedy-h3");
    let mut command = Command::new(PROGRAM);
    command.args(["--listen", "127.0.0.1:0", "--protocols", "h3"]);
    command.args(["--limits", "memory=100kB"]);
    command.arg("--cert").arg(&cert).arg("--key").arg(&key);
    let server = Running::spawn(&mut command);
    // Nothing can be sent of its responses.
    let close = answered(1, server.address, "stream-window=0", 30);
    let Some(Close::Application { code, reason }) = close else { panic!("{close:?}") };
    // H3_EXCESSIVE_LOAD.
    assert_eq!(code, 0x107);
    assert!(reason.starts_with("memory=0.1MB: all connections take"), "{reason}");
    // There is room again, for others.
    assert_eq!(answered(2, server.address, "", 1), None);
    assert_eq!(server.end().0, Some(0));
    for path in [cert, key] {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn heads_that_never_end_end_their_connection() {
    let [cert, key] = identity("greedy-heads");
    let mut command = Command::new(PROGRAM);
    command.args(["--listen", "127.0.0.1:0", "--protocols", "h3"]);
    command.args(["--limits", "connection-memory=1MB"]);
    command.arg("--cert").arg(&cert).arg("--key").arg(&key);
    let server = Running::spawn(&mut command);
    let knobs = "initial-window=3000,pacing=off";
    let close = outcome(1, server.address, knobs, |connection| begin_heads(connection, 40));
    let Some(Close::Application { code, reason }) = close else { panic!("{close:?}") };
    // H3_EXCESSIVE_LOAD.
    assert_eq!(code, 0x107);
    assert!(reason.starts_with("connection-memory=1MB: this connection takes "), "{reason}");
    assert_eq!(answered(2, server.address, "", 1), None);
    assert_eq!(server.end().0, Some(0));
    for path in [cert, key] {
        std::fs::remove_file(path).unwrap();
    }
}
