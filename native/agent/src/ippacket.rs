//! What a fault does to an IP packet and leaves its checksums right, as nothing on the way would notice.

use std::ops::Range;

use crate::orders::Flip;

const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV6_HEADER_BYTES: usize = 40;
const UDP_HEADER_BYTES: usize = 8;
const CONGESTION_EXPERIENCED: u8 = 3;

/// Say "Congestion Experienced" (RFC 3168, section 5) of a packet whose sender can ECN; whether it can.
pub(crate) fn mark(packet: &mut [u8]) -> bool {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) if packet.len() >= 20 && packet[1] & CONGESTION_EXPERIENCED != 0 => {
            let before = word(packet, 0);
            packet[1] |= CONGESTION_EXPERIENCED;
            let sum = adjusted(word(packet, 10), before, word(packet, 0));
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
            true
        }
        // The traffic class lies across the first two bytes; IPv6 has no checksum.
        Some(6) if packet.len() >= IPV6_HEADER_BYTES && packet[1] & 0x30 != 0 => {
            packet[1] |= CONGESTION_EXPERIENCED << 4;
            true
        }
        _ => false,
    }
}

/// Flip a bit in the middle of what TCP or UDP carries; whether it carries anything.
pub(crate) fn corrupt(packet: &mut [u8]) -> bool {
    let Some(transport) = transport(packet).filter(|transport| !transport.carried.is_empty())
    else {
        return false;
    };
    let middle = transport.carried.start + transport.carried.len() / 2;
    flip(packet, &transport, middle, 1);
    true
}

/// Spoil a byte of what TCP or UDP carries; whether it carries anything that may be spoilt.
///
/// A Version Negotiation packet of QUIC is left alone: nothing in it is authenticated (RFC 8999, section 6), so
/// that no receiver could notice.
pub(crate) fn spoil(packet: &mut [u8], Flip(place, bits): Flip) -> bool {
    let Some(transport) = transport(packet).filter(|transport| !transport.carried.is_empty())
    else {
        return false;
    };
    let carried = transport.carried.clone();
    if transport.protocol == UDP && negotiates_version(&packet[carried.clone()]) {
        return false;
    }
    flip(packet, &transport, carried.start + place % carried.len(), bits);
    bits != 0
}

/// Whether a datagram is a Version Negotiation packet: a long header whose version is 0 (RFC 8999, section 6).
fn negotiates_version(datagram: &[u8]) -> bool {
    datagram.len() >= 5 && datagram[0] & 0x80 != 0 && datagram[1..5] == [0; 4]
}

/// Flip bits of a byte, and keep the checksum right.
fn flip(packet: &mut [u8], transport: &Transport, place: usize, bits: u8) {
    // The checksum is over words of 16 bits from the transport's header on; a last odd byte is the upper half of one.
    let upper = place - (place - transport.begins) % 2;
    let before = half_words(packet, upper);
    packet[place] ^= bits;
    let sum = word(packet, transport.checksum);
    let absent = transport.protocol == UDP && sum == 0;
    if !absent {
        let new = adjusted(sum, before, half_words(packet, upper));
        // RFC 768: a computed checksum of zero is sent as all ones.
        let new = if transport.protocol == UDP && new == 0 { 0xffff } else { new };
        packet[transport.checksum..transport.checksum + 2].copy_from_slice(&new.to_be_bytes());
    }
}

struct Transport {
    protocol: u8,
    begins: usize,
    checksum: usize,
    carried: Range<usize>,
}

/// Where TCP or UDP is in a packet, and what it carries; none of a fragment that does not begin with it.
fn transport(packet: &[u8]) -> Option<Transport> {
    let (protocol, begins) = match packet.first()? >> 4 {
        4 if packet.len() >= 20 && word(packet, 6) & 0x1fff == 0 => {
            (packet[9], 4 * usize::from(packet[0] & 0x0f))
        }
        6 if packet.len() >= IPV6_HEADER_BYTES => (packet[6], IPV6_HEADER_BYTES),
        _ => return None,
    };
    let (header, checksum) = match protocol {
        UDP => (UDP_HEADER_BYTES, begins + 6),
        TCP => (4 * usize::from(packet.get(begins + 12)? >> 4), begins + 16),
        _ => return None,
    };
    let first = begins + header;
    (checksum + 2 <= first && first <= packet.len()).then_some(Transport {
        protocol,
        begins,
        checksum,
        carried: first..packet.len(),
    })
}

fn word(packet: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([packet[at], packet[at + 1]])
}

fn half_words(packet: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([packet[at], packet.get(at + 1).copied().unwrap_or(0)])
}

/// A checksum after one of its words has changed (RFC 1624, equation 3).
fn adjusted(sum: u16, before: u16, after: u16) -> u16 {
    let mut total = u32::from(!sum) + u32::from(!before) + u32::from(after);
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    !u16::try_from(total).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksum by its definition (RFC 1071), over a pseudo header and what follows.
    fn checksum(parts: &[&[u8]]) -> u16 {
        let mut bytes: Vec<u8> = parts.concat();
        bytes.resize(bytes.len().next_multiple_of(2), 0);
        let mut sum: u32 = bytes.chunks(2).map(|two| u32::from(word(two, 0))).sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !u16::try_from(sum).expect("16 bits")
    }

    fn ipv4(protocol: u8, ecn: u8, transport: &[u8]) -> Vec<u8> {
        let length = u16::try_from(20 + transport.len()).expect("short").to_be_bytes();
        let mut header = vec![0x45, ecn, length[0], length[1], 1, 2, 0x40, 0, 64, protocol, 0, 0];
        header.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        let sum = checksum(&[&header]).to_be_bytes();
        header[10..12].copy_from_slice(&sum);
        [header, transport.to_vec()].concat()
    }

    fn datagram(payload: &[u8]) -> Vec<u8> {
        let length = u16::try_from(8 + payload.len()).expect("short").to_be_bytes();
        let mut udp = [&[0x10, 0, 1, 0xbb, length[0], length[1], 0, 0], payload].concat();
        let pseudo = [10, 0, 0, 1, 10, 0, 0, 2, 0, UDP, length[0], length[1]];
        let sum = checksum(&[&pseudo, &udp]).to_be_bytes();
        udp[6..8].copy_from_slice(&sum);
        ipv4(UDP, 2, &udp)
    }

    fn is_right(packet: &[u8]) -> bool {
        let length = u16::try_from(packet.len() - 20).expect("short").to_be_bytes();
        let pseudo = [&packet[12..20], &[0, packet[9], length[0], length[1]]].concat();
        checksum(&[&packet[..20]]) == 0 && checksum(&[&pseudo, &packet[20..]]) == 0
    }

    #[test]
    fn a_corrupted_packet_differs_in_a_bit_and_has_the_right_checksum() {
        for size in 1..40 {
            let payload: Vec<u8> = (0..size).map(|byte: u8| byte.wrapping_mul(7)).collect();
            let before = datagram(&payload);
            let mut after = before.clone();
            assert!(is_right(&before) && corrupt(&mut after) && is_right(&after), "{size}");
            let bits =
                before[28..].iter().zip(&after[28..]).map(|(one, two)| (one ^ two).count_ones());
            assert_eq!(bits.sum::<u32>(), 1);
        }
    }

    #[test]
    fn a_byte_is_spoilt_wherever_it_is_and_the_checksum_is_right() {
        for size in 1_u8..60 {
            let payload: Vec<u8> = (0..size).map(|byte| byte.wrapping_mul(11)).collect();
            let before = datagram(&payload);
            for place in 0..51 {
                let mut after = before.clone();
                assert!(spoil(&mut after, Flip(place, 0xa5)) && is_right(&after), "{size} {place}");
                let changed: Vec<usize> =
                    (0..before.len()).skip(28).filter(|&at| before[at] != after[at]).collect();
                assert_eq!(changed, [28 + place % usize::from(size)]);
            }
        }
    }

    #[test]
    fn a_version_negotiation_is_left_alone() {
        let mut negotiation = datagram(&[0x80, 0, 0, 0, 0, 1, 2, 1, 3, 0, 0, 0, 1]);
        let before = negotiation.clone();
        assert!(!spoil(&mut negotiation, Flip(7, 0xff)));
        assert_eq!(negotiation, before);
        let mut short = datagram(&[0x40, 0, 0, 0, 0, 1, 2]);
        assert!(spoil(&mut short, Flip(7, 0xff)));
    }

    #[test]
    fn a_packet_that_carries_nothing_is_left_alone() {
        let mut empty = datagram(&[]);
        assert!(!corrupt(&mut empty));
        let mut icmp = ipv4(1, 0, &[8, 0, 0, 0, 1, 2, 3, 4]);
        assert!(!corrupt(&mut icmp) && !spoil(&mut icmp, Flip(0, 1)));
    }

    #[test]
    fn only_a_sender_that_can_ecn_is_marked() {
        let mut able = datagram(b"abc");
        assert!(mark(&mut able));
        assert_eq!(able[1] & 3, 3);
        assert!(is_right(&able));
        assert!(!mark(&mut ipv4(UDP, 0, &[0; 8])));
        let mut ipv6 = vec![0; 48];
        (ipv6[0], ipv6[1]) = (0x60, 0x20);
        assert!(mark(&mut ipv6));
        assert_eq!(ipv6[1], 0x30);
    }
}
