//! Stateless resets (RFC 9000 section 10.3), so few that two endpoints do not answer each other's.

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// How long an address that was sent a reset gets no other one: longer than paths take for a round trip.
const PAUSE: Duration = Duration::from_secs(3);
/// Addresses that are remembered. While there are as many, others get none.
const MOST: usize = 1024;

/// Where stateless resets went lately.
///
/// A reset looks like any other packet. If it comes to an endpoint that has forgotten the connection, too,
/// that one answers with a reset. Each is smaller than the one before, by as little as a byte: it takes
/// some twenty until they end (RFC 9000 section 10.3.3).
#[derive(Debug, Default)]
pub(crate) struct Resets {
    /// The oldest first.
    sent: VecDeque<(Instant, SocketAddr)>,
    addresses: BTreeSet<SocketAddr>,
}

impl Resets {
    /// Whether an address may be sent a reset, which is counted then.
    pub(crate) fn may_send(&mut self, now: Instant, to: SocketAddr) -> bool {
        while let Some((_, address)) = self.sent.front().filter(|(at, _)| *at + PAUSE <= now) {
            self.addresses.remove(address);
            self.sent.pop_front();
        }
        let may = self.sent.len() < MOST && self.addresses.insert(to);
        if may {
            self.sent.push_back((now, to));
        }
        may
    }
}

/// Whether a packet that answers one of an unknown connection is a stateless reset: no other answer has a
/// short header (RFC 9000 section 17.3).
pub(crate) fn is_reset(packet: &[u8]) -> bool {
    const LONG_HEADER: u8 = 0x80;
    packet.first().is_some_and(|first| first & LONG_HEADER == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_gets_one_and_then_pauses() {
        let (mut resets, start) = (Resets::default(), Instant::now());
        let address = |port| SocketAddr::from(([10, 0, 0, 1], port));
        assert!(resets.may_send(start, address(1)));
        assert!(!resets.may_send(start + PAUSE / 2, address(1)));
        assert!(resets.may_send(start + PAUSE / 2, address(2)));
        assert!(resets.may_send(start + PAUSE, address(1)));
        assert!(!resets.may_send(start + PAUSE, address(2)));
        for port in 3..=1024 {
            assert!(resets.may_send(start + PAUSE, address(port)), "{port}");
        }
        assert!(!resets.may_send(start + PAUSE, address(1025)));
        assert!(resets.may_send(start + 2 * PAUSE, address(1025)));
        assert_eq!(resets.sent.len(), 1);
    }
}
