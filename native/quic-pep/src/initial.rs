//! Initial packets, which anybody on the path can decrypt (RFC 9001 section 5.2).

use bytes::BytesMut;
use headway_quic::QuicServerConfig;
use headway_wire::varint;
use quinn_proto::ConnectionId;
use quinn_proto::crypto::ServerConfig;

/// Bytes that header protection samples, and where they begin after the packet number's first
/// (RFC 9001 section 5.4.2).
const SAMPLE_END: usize = 4 + 16;
/// The longest connection ID in bytes (RFC 9000 section 17.2).
const MAX_CONNECTION_ID: u8 = 20;

/// The Destination Connection ID of a datagram that begins with an Initial packet.
pub(crate) fn destination(datagram: &[u8]) -> Option<&[u8]> {
    Some(Header::read(datagram)?.destination)
}

/// The payloads of a client's Initial packets in a datagram, as far as they can be decrypted with
/// keys of the Destination Connection ID that they carry.
pub(crate) fn payloads(tls: &QuicServerConfig, mut datagram: &[u8]) -> Vec<BytesMut> {
    let mut payloads = Vec::new();
    while let Some(header) = Header::read(datagram) {
        let (packet, rest) = datagram.split_at(header.end);
        payloads.extend(decrypt(tls, &header, packet));
        datagram = rest;
    }
    payloads
}

fn decrypt(tls: &QuicServerConfig, header: &Header<'_>, packet: &[u8]) -> Option<BytesMut> {
    let keys = tls.initial_keys(header.version, &ConnectionId::new(header.destination)).ok()?;
    let mut packet = BytesMut::from(packet);
    if packet.len() < header.number_at + SAMPLE_END {
        return None;
    }
    keys.header.remote.decrypt(header.number_at, &mut packet);
    let payload_at = header.number_at + 1 + usize::from(packet[0] & 0x03);
    // A client's first packets have small numbers, of which nothing is cut off.
    let number = packet[header.number_at..payload_at]
        .iter()
        .fold(0, |number, byte| (number << 8) | u64::from(*byte));
    let mut payload = packet.split_off(payload_at);
    keys.packet.remote.decrypt(number, &packet, &mut payload).ok()?;
    Some(payload)
}

/// What of an Initial packet's header is not protected (RFC 9000 section 17.2.2).
struct Header<'a> {
    version: u32,
    destination: &'a [u8],
    /// Where the packet number begins.
    number_at: usize,
    /// Where the packet ends.
    end: usize,
}

impl<'a> Header<'a> {
    fn read(datagram: &'a [u8]) -> Option<Self> {
        let (first, rest) = datagram.split_first()?;
        // Long header, type Initial. The fixed bit need not be set (RFC 9287).
        if first & 0xb0 != 0x80 {
            return None;
        }
        let (version, rest) = rest.split_first_chunk()?;
        let (destination, rest) = take_short(rest)?;
        let (_source, rest) = take_short(rest)?;
        let (token_length, rest) = take_varint(rest)?;
        let rest = rest.get(token_length..)?;
        let (length, rest) = take_varint(rest)?;
        let number_at = datagram.len() - rest.len();
        let end = number_at.checked_add(length).filter(|end| *end <= datagram.len())?;
        Some(Self { version: u32::from_be_bytes(*version), destination, number_at, end })
    }
}

/// Bytes with a length of one byte before them: a connection ID of at most 20 bytes.
fn take_short(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first()?;
    (*length <= MAX_CONNECTION_ID).then_some(())?;
    rest.split_at_checked(usize::from(*length))
}

fn take_varint(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (value, length) = varint::decode(bytes)?;
    Some((usize::try_from(value).ok()?, &bytes[length..]))
}

#[cfg(test)]
mod tests {
    use headway_testlink::{Certificates, Numbers, sessions};
    use proptest::prelude::*;

    use super::*;

    fn initial(first: u8, destination: &[u8], length: u8) -> Vec<u8> {
        let mut packet = vec![first, 0, 0, 0, 1, destination.len() as u8];
        packet.extend_from_slice(destination);
        // No source connection ID, no token.
        packet.extend_from_slice(&[0, 0, length]);
        packet.extend(std::iter::repeat_n(0x55, usize::from(length)));
        packet
    }

    #[test]
    fn initial_packets_are_told_from_others() {
        let id = [7; 8];
        assert_eq!(destination(&initial(0xc3, &id, 40)), Some(&id[..]));
        // The fixed bit is zero (RFC 9287).
        assert_eq!(destination(&initial(0x83, &id, 40)), Some(&id[..]));
        // 0-RTT, Handshake, Retry, and a short header.
        for first in [0xd3, 0xe3, 0xf3, 0x43] {
            assert_eq!(destination(&initial(first, &id, 40)), None);
        }
        assert_eq!(destination(&initial(0xc3, &[7; 21], 40)), None);
        let cut = initial(0xc3, &id, 40);
        assert_eq!(destination(&cut[..cut.len() - 1]), None);
    }

    #[test]
    fn what_does_not_decrypt_has_no_payload() {
        let server = Certificates::new(1).server(&[]);
        let tls = QuicServerConfig::try_from(server).unwrap();
        for length in [0, 19, 20, 40] {
            assert_eq!(payloads(&tls, &initial(0xc3, &[7; 8], length)), Vec::<BytesMut>::new());
        }
    }

    /// `HEADWAY_FUZZ_SECONDS=600 cargo test -p headway-quic-pep mutants` goes on for ten minutes.
    #[test]
    fn mutants_end_within_their_datagram() {
        let tls = QuicServerConfig::try_from(Certificates::new(1).server(&[])).unwrap();
        let [mut good, mut bad] = [0_u64, 0];
        for seed in sessions(5000) {
            let mut numbers = Numbers::new(seed);
            let mut datagram = [initial(0xc3, &[7; 8], 40), initial(0xc0, &[9; 20], 30)].concat();
            numbers.mutate(&mut datagram);
            assert!(payloads(&tls, &datagram).is_empty(), "nobody has encrypted it");
            match Header::read(&datagram) {
                Some(header) => {
                    assert!(header.number_at <= header.end && header.end <= datagram.len());
                    good += 1;
                }
                None => bad += 1,
            }
        }
        let few = (good + bad) / 20;
        assert!(good + bad == 1 || good > few && bad > few, "{good} good, {bad} bad");
    }

    proptest! {
        #[test]
        fn no_datagram_is_too_strange(mut datagram in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Some(first) = datagram.first_mut() {
                *first = *first & 0x0f | 0xc0;
            }
            if let Some(header) = Header::read(&datagram) {
                prop_assert!(header.number_at <= header.end && header.end <= datagram.len());
            }
        }
    }
}
