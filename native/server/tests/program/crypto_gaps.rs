//! Clients whose handshake messages have gaps: CRYPTO frames that the server has to keep (RFC 9000, section 7.5).

use std::collections::BTreeSet;
use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes};
use headway_wire::varint;
use rustls::Side;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::quic::{Keys, Version};

use crate::greedy::answered;
use crate::hostile::identity;
use crate::running::{PROGRAM, Running};

const VERSION_1: u32 = 1;
const PADDING: u8 = 0x00;
const ACK: u8 = 0x02;
const CRYPTO: u8 = 0x06;
const CONNECTION_CLOSE: u8 = 0x1c;
/// A frame of one byte of content.
const FRAME_BYTES: usize = 8;
/// Frames and padding of a packet, which is in a datagram of 1,200 bytes and more (RFC 9000, section 14.1).
const PAYLOAD_BYTES: usize = 1160;
const TAG_BYTES: usize = 16;
/// The connection ID of the client itself.
const SOURCE: [u8; 8] = [9; 8];
/// As far ahead as the server takes content.
const LIMIT: u64 = 16 * 1024;

/// A client that sends Initial packets with whatever CRYPTO frames.
struct Attacker {
    socket: UdpSocket,
    keys: Keys,
    destination: [u8; 8],
    number: u32,
}

impl Attacker {
    fn new(number: u64, server: SocketAddr) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(server).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let destination = number.to_be_bytes();
        let suite = TLS13_AES_128_GCM_SHA256.tls13().unwrap().quic_suite().unwrap();
        let keys = suite.keys(&destination, Side::Client, Version::V1);
        Self { socket, keys, destination, number: 0 }
    }

    /// Sends a datagram with one byte of content at each of some offsets.
    fn send(&mut self, offsets: &[u64]) {
        self.send_in(PAYLOAD_BYTES, offsets);
    }

    /// The same in a packet with so many bytes of frames and padding.
    fn send_in(&mut self, payload_bytes: usize, offsets: &[u64]) {
        let mut payload = Vec::new();
        for &offset in offsets {
            payload.put_u8(CRYPTO);
            varint::encode(offset, &mut payload);
            varint::encode(1, &mut payload);
            payload.put_u8(0);
        }
        payload.resize(payload_bytes, PADDING);
        let packet = self.packet(payload);
        self.socket.send(&packet).unwrap();
    }

    /// An Initial packet (RFC 9000, section 17.2.2, protected as in RFC 9001, section 5).
    fn packet(&mut self, mut payload: Vec<u8>) -> Vec<u8> {
        let mut header = vec![0xc3];
        header.put_u32(VERSION_1);
        for id in [self.destination, SOURCE] {
            header.put_u8(8);
            header.put_slice(&id);
        }
        // There is no token.
        varint::encode(0, &mut header);
        varint::encode((4 + payload.len() + TAG_BYTES) as u64, &mut header);
        let number_at = header.len();
        header.put_u32(self.number);
        let keys = &self.keys.local;
        let number = u64::from(self.number);
        let tag = keys.packet.encrypt_in_place(number, &header, &mut payload).unwrap();
        self.number += 1;
        let (first, rest) = header.split_first_mut().unwrap();
        let number = &mut rest[number_at - 1..];
        keys.header.encrypt_in_place(&payload[..16], first, number).unwrap();
        [&header[..], &payload, tag.as_ref()].concat()
    }

    /// The error code with which the server closes the connection.
    fn closed_with(&self) -> u64 {
        std::iter::repeat_with(|| self.heard()).flatten().next().unwrap()
    }

    /// The same, if the server's next datagram does.
    fn heard(&self) -> Option<u64> {
        let mut buffer = [0; 2000];
        let length = self.socket.recv(&mut buffer).unwrap();
        close_code(self.opened(&mut buffer[..length]))
    }

    /// The payload of a datagram's first packet, which is an Initial one.
    fn opened(&self, datagram: &mut [u8]) -> Bytes {
        // First byte, version, and both connection IDs with their lengths.
        let mut at = 5;
        for _ in 0..2 {
            at += 1 + usize::from(datagram[at]);
        }
        let (token, size) = varint::decode(&datagram[at..]).unwrap();
        assert_eq!(token, 0, "of servers, Initial packets have no token");
        at += size;
        let (length, size) = varint::decode(&datagram[at..]).unwrap();
        let number_at = at + size;
        let end = number_at + usize::try_from(length).unwrap();
        let keys = &self.keys.remote;
        let sample: [u8; 16] = datagram[number_at + 4..][..16].try_into().unwrap();
        let (first, rest) = datagram.split_first_mut().unwrap();
        let number = &mut rest[number_at - 1..][..4];
        keys.header.decrypt_in_place(&sample, first, number).unwrap();
        let size = 1 + usize::from(*first & 3);
        let number = number[..size].iter().fold(0, |all, byte| (all << 8) | u64::from(*byte));
        let (header, payload) = datagram[..end].split_at_mut(number_at + size);
        let payload = keys.packet.decrypt_in_place(number, header, payload).unwrap();
        Bytes::copy_from_slice(payload)
    }
}

/// The error code of the CONNECTION_CLOSE frame among frames that a server sends to who sent no whole message.
fn close_code(mut frames: Bytes) -> Option<u64> {
    while frames.has_remaining() {
        match frames.get_u8() {
            PADDING => {}
            ACK => {
                let [_largest, _delay, ranges, _first] =
                    std::array::from_fn(|_| varint::take(&mut frames).unwrap());
                for _ in 0..2 * ranges {
                    varint::take(&mut frames);
                }
            }
            CONNECTION_CLOSE => return varint::take(&mut frames),
            other => panic!("no frame of type {other} was to come"),
        }
    }
    None
}

fn serve(name: &str) -> (Running, BTreeSet<std::path::PathBuf>) {
    let [cert, key] = identity(name);
    let mut command = Command::new(PROGRAM);
    command.args(["--listen", "127.0.0.1:0", "--protocols", "h3"]);
    command.arg("--cert").arg(&cert).arg("--key").arg(&key);
    (Running::spawn(&mut command), BTreeSet::from([cert, key]))
}

/// An honest client is answered all the same, and the server ends well.
fn end(server: Running, files: &BTreeSet<std::path::PathBuf>) {
    assert_eq!(answered(1, server.address, "", 1), None);
    assert_eq!(server.end().0, Some(0));
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
}

#[test]
fn what_lies_too_far_ahead_ends_the_connection() {
    let (server, files) = serve("crypto-far");
    let mut attacker = Attacker::new(1, server.address);
    attacker.send(&[LIMIT - 1]);
    attacker.send(&[LIMIT]);
    // CRYPTO_BUFFER_EXCEEDED.
    assert_eq!(attacker.closed_with(), 0x0d);
    end(server, &files);
}

#[test]
fn too_many_gaps_end_the_connection() {
    let (server, files) = serve("crypto-many");
    let mut attacker = Attacker::new(1, server.address);
    let gaps: Vec<u64> = (1..LIMIT).step_by(2).collect();
    for offsets in gaps.chunks(PAYLOAD_BYTES / FRAME_BYTES) {
        attacker.send(offsets);
    }
    // INTERNAL_ERROR: quinn-proto has no code of its own for that.
    assert_eq!(attacker.closed_with(), 0x01);
    end(server, &files);
}

/// Each byte comes in a datagram of its own, which is large and need not be kept for it.
#[test]
fn gaps_up_to_the_limit_take_little_memory() {
    const CLIENTS: u64 = 10;
    const GAPS: u64 = 1000;
    const DATAGRAM_BYTES: usize = 8000;
    let (server, files) = serve("crypto-memory");
    assert_eq!(answered(2, server.address, "", 1), None);
    let before = server.resident_bytes();
    let mut attackers: Vec<_> =
        (0..CLIENTS).map(|number| Attacker::new(number, server.address)).collect();
    for gap in 0..GAPS {
        for attacker in &mut attackers {
            attacker.send_in(DATAGRAM_BYTES, &[LIMIT - 1 - 2 * gap]);
            // It is acknowledged at once, so none is lost in the socket's buffer.
            assert_eq!(attacker.heard(), None);
        }
    }
    let kept = server.resident_bytes().saturating_sub(before);
    // As datagrams it would be 80 MB.
    assert!(kept < CLIENTS * 1_000_000, "{kept} bytes");
    end(server, &files);
}
