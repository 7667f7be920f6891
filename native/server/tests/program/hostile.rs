//! Peers that mean no good.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use headway_testlink::Certificates;
use socket2::{Domain, Protocol, Socket, Type};

use crate::running::{PROGRAM, Running, answer, ask, temporary};

/// Certificate and key, in files.
pub(crate) fn identity(name: &str) -> [PathBuf; 2] {
    let pem = Certificates::new(1).pem();
    let paths = [temporary(&format!("{name}-cert")), temporary(&format!("{name}-key"))];
    for (path, text) in paths.iter().zip(&pem) {
        std::fs::write(path, text).unwrap();
    }
    paths
}

/// A datagram with a long header of a version that nobody speaks: it is answered with Version
/// Negotiation (RFC 9000 section 6).
fn unknown_version() -> Vec<u8> {
    let mut payload = vec![0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8];
    payload.extend([1; 8]);
    payload.push(8);
    payload.extend([2; 8]);
    payload.resize(1200, 0);
    payload
}

/// Its UDP header, from port 0.
fn from_port_0(to: u16, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + payload.len()).unwrap();
    [&[0, 0], &to.to_be_bytes()[..], &length.to_be_bytes(), &[0, 0], payload].concat()
}

/// Raw sockets are for the privileged only; without them there is nothing to be tested.
#[test]
fn a_datagram_from_port_0_does_not_end_the_server() {
    let Ok(raw) = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::UDP)) else { return };
    let [cert, key] = identity("port-0");
    let mut command = Command::new(PROGRAM);
    command.args(["--listen", "127.0.0.1:0", "--protocols", "h3"]);
    command.arg("--cert").arg(&cert).arg("--key").arg(&key);
    let server = Running::spawn(&mut command);
    let port = server.address.port();
    let to = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    raw.send_to(&from_port_0(port, &unknown_version()), &to.into()).unwrap();
    // From elsewhere the same is answered, after that.
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    client.send_to(&unknown_version(), server.address).unwrap();
    let length = client.recv(&mut [0; 2000]).unwrap();
    assert!(length > 7);
    assert_eq!(server.end().0, Some(0));
    for path in [cert, key] {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn bodies_are_as_large_as_http_3_can_say_and_no_larger() {
    let server = Running::start(&[]);
    let mut stream = server.connect();
    for too_large in [1 << 62, u64::MAX] {
        ask(&mut stream, &format!("/bytes/{too_large}"));
        assert_eq!(answer(&mut stream).0, "HTTP/1.1 404 Not Found");
    }
    write!(stream, "HEAD /bytes/{} HTTP/1.1\r\nhost: a\r\n\r\n", (1_u64 << 62) - 1).unwrap();
    let mut status = [0; 15];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200 OK");
    server.end();
}
