//! What a client wants, before it is accepted: the ClientHello in its Initial packets.

use std::collections::BTreeMap;

use headway_quic::QuicServerConfig;
use headway_wire::varint;
use rustls::server::Acceptor;

use crate::initial;

/// Bytes of a ClientHello beyond which it is not read.
const MAX_HELLO: usize = 64 << 10;
/// The largest fragment of a TLS record (RFC 8446 section 5.1).
const MAX_FRAGMENT: usize = 1 << 14;
/// Type and length of a handshake message (RFC 8446 section 4).
const MESSAGE_HEADER: usize = 4;

/// What a client asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientHello {
    /// The server's name (SNI, RFC 6066 section 3).
    pub server_name: Option<String>,
    /// The application protocols that it offers, the preferred one first (ALPN, RFC 7301).
    pub protocols: Vec<Vec<u8>>,
}

/// It is no ClientHello.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client's first packets hold no ClientHello")]
pub(crate) struct NoHello;

/// Gathers a ClientHello from Initial packets. Those with post-quantum key shares need two.
#[derive(Debug, Default)]
pub(crate) struct HelloReader {
    /// Contents of CRYPTO frames by their offset.
    pieces: BTreeMap<usize, Vec<u8>>,
}

impl HelloReader {
    /// A datagram of this client came.
    pub(crate) fn receive(&mut self, tls: &QuicServerConfig, datagram: &[u8]) {
        for payload in initial::payloads(tls, datagram) {
            for (offset, data) in CryptoFrames(&payload) {
                if offset + data.len() <= MAX_HELLO {
                    self.pieces.insert(offset, data.to_vec());
                }
            }
        }
    }

    /// The ClientHello; `None` if some of it is missing.
    pub(crate) fn read(&self) -> Option<Result<ClientHello, NoHello>> {
        let bytes = self.contiguous();
        let length = bytes.get(1..MESSAGE_HEADER)?;
        let length = length.iter().fold(0, |length, byte| (length << 8) | usize::from(*byte));
        if length > MAX_HELLO {
            return Some(Err(NoHello));
        }
        Some(parse(bytes.get(..MESSAGE_HEADER + length)?))
    }

    fn contiguous(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (offset, piece) in &self.pieces {
            let Some(known) = bytes.len().checked_sub(*offset) else { break };
            bytes.extend_from_slice(piece.get(known..).unwrap_or_default());
        }
        bytes
    }
}

/// Lets rustls read it, which expects it in TLS records.
fn parse(message: &[u8]) -> Result<ClientHello, NoHello> {
    let mut records = Vec::new();
    for fragment in message.chunks(MAX_FRAGMENT) {
        records.extend_from_slice(&[22, 3, 1]);
        records.extend_from_slice(&(fragment.len() as u16).to_be_bytes());
        records.extend_from_slice(fragment);
    }
    let mut acceptor = Acceptor::default();
    let mut unread = &records[..];
    while !unread.is_empty() {
        acceptor.read_tls(&mut unread).map_err(|_| NoHello)?;
        if let Some(accepted) = acceptor.accept().map_err(|_| NoHello)? {
            let hello = accepted.client_hello();
            let server_name = hello.server_name().map(str::to_owned);
            let protocols = hello.alpn().into_iter().flatten().map(<[u8]>::to_vec).collect();
            return Ok(ClientHello { server_name, protocols });
        }
    }
    Err(NoHello)
}

/// CRYPTO frames of an Initial packet's payload, up to the first frame that clients do not send
/// before the server's answer.
struct CryptoFrames<'a>(&'a [u8]);

impl<'a> Iterator for CryptoFrames<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        // PADDING and PING are one byte each.
        while let Some((0x00 | 0x01, rest)) = self.0.split_first() {
            self.0 = rest;
        }
        let (0x06, rest) = self.0.split_first()? else { return None };
        let (offset, taken) = varint::decode(rest)?;
        let rest = &rest[taken..];
        let (length, taken) = varint::decode(rest)?;
        let (data, rest) = rest[taken..].split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        // Offsets have 62 bits; adding lengths to them does not overflow.
        Some((usize::try_from(offset).ok()?, data))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use headway_testlink::{Certificates, Numbers, SERVER_NAME, sessions};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn crypto_frames_are_found_among_padding() {
        let payload = [0, 0, 1, 0x06, 5, 3, b'a', b'b', b'c', 0, 0x06, 0x40, 0x70, 1, b'd', 0x02];
        let frames: Vec<_> = CryptoFrames(&payload).collect();
        assert_eq!(frames, [(5, &b"abc"[..]), (0x70, b"d")]);
    }

    #[test]
    fn pieces_come_in_any_order_and_overlap() {
        let mut reader = HelloReader::default();
        reader.pieces.insert(2, b"cdef".to_vec());
        assert_eq!(reader.contiguous(), b"");
        reader.pieces.insert(0, b"abc".to_vec());
        reader.pieces.insert(9, b"x".to_vec());
        assert_eq!(reader.contiguous(), b"abcdef");
    }

    #[test]
    fn what_is_no_hello_is_refused() {
        let mut reader = HelloReader::default();
        reader.pieces.insert(0, vec![1, 0, 0, 5, 3]);
        assert_eq!(reader.read(), None);
        reader.pieces.insert(5, vec![3, 0, 0, 0]);
        assert_eq!(reader.read(), Some(Err(NoHello)));
        reader.pieces.insert(0, vec![1, 0xff, 0xff, 0xff]);
        assert_eq!(reader.read(), Some(Err(NoHello)));
    }

    /// Pieces of a ClientHello in CRYPTO frames, of which some are mutants.
    /// `HEADWAY_FUZZ_SECONDS=600 cargo test -p headway-quic-pep mutants` goes on for ten minutes.
    #[test]
    fn mutants_are_read_or_refused() {
        let config = Certificates::new(1).client(&["h3"]);
        let mut client =
            rustls::ClientConnection::new(Arc::new(config), SERVER_NAME.try_into().unwrap())
                .unwrap();
        let mut record = Vec::new();
        client.write_tls(&mut record).unwrap();
        // Without the header of the record.
        let hello = record.split_off(5);
        let [mut good, mut bad] = [0_u64, 0];
        for seed in sessions(5000) {
            let mut numbers = Numbers::new(seed);
            let mut payload = Vec::new();
            for (number, piece) in hello.chunks(63).enumerate() {
                let offset = 63 * number as u16 | 0x4000;
                payload.push(0x06);
                payload.extend_from_slice(&offset.to_be_bytes());
                payload.push(piece.len() as u8);
                payload.extend_from_slice(piece);
            }
            numbers.mutate(&mut payload);
            let mut reader = HelloReader::default();
            let pieces = CryptoFrames(&payload).map(|(offset, data)| (offset, data.to_vec()));
            reader.pieces.extend(pieces);
            match reader.read() {
                Some(Ok(read)) if read.server_name.as_deref() == Some(SERVER_NAME) => good += 1,
                _ => bad += 1,
            }
        }
        let few = (good + bad) / 20;
        assert!(good + bad == 1 || good > few && bad > few, "{good} good, {bad} bad");
    }

    proptest! {
        #[test]
        fn no_message_is_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut reader = HelloReader::default();
            let pieces = CryptoFrames(&bytes).map(|(offset, data)| (offset, data.to_vec()));
            reader.pieces.extend(pieces);
            reader.pieces.insert(0, [&[1, 0, 0, 40][..], &bytes].concat());
            let _ = reader.read();
        }
    }
}
