//! A client of HTTP/2, by hand.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use headway_testlink::{Certificates, SERVER_NAME};
use rustls::{ClientConnection, StreamOwned};

pub(crate) const HEADERS: u8 = 1;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const GOAWAY: u8 = 7;
/// SETTINGS_INITIAL_WINDOW_SIZE of 0.
pub(crate) const NO_WINDOW: &[u8] = &[0, 4, 0, 0, 0, 0];

/// A frame of HTTP/2 (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// GET of a path below `a`.
pub(crate) fn get(stream: u32, path: &str) -> Vec<u8> {
    let length = u8::try_from(path.len()).unwrap();
    let block = [b"\x82\x87\x04", &[length][..], path.as_bytes(), b"\x01\x01a"].concat();
    frame(HEADERS, 0x05, stream, &block)
}

/// A connection on which the server's SETTINGS have come.
///
/// # Arguments
/// * `settings` - the client's.
pub(crate) fn connect(
    address: SocketAddr,
    settings: &[u8],
) -> StreamOwned<ClientConnection, TcpStream> {
    let tls = Arc::new(Certificates::new(1).client(&["h2"]));
    let tls = ClientConnection::new(tls, SERVER_NAME.try_into().unwrap()).unwrap();
    let mut stream = StreamOwned::new(tls, TcpStream::connect(address).unwrap());
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    stream.write_all(&frame(SETTINGS, 0, 0, settings)).unwrap();
    assert_eq!(read_frame(&mut stream).0, SETTINGS);
    stream
}

/// Type and payload of the next frame.
pub(crate) fn read_frame(stream: &mut impl Read) -> (u8, Vec<u8>) {
    let mut head = [0; 9];
    stream.read_exact(&mut head).unwrap();
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).unwrap();
    (head[3], payload)
}
