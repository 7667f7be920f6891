//! One direction of a path.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use headway_quic::{EcnCodepoint, Network, ReceivedDatagram};

/// A drop-tail queue of bytes, a rate, a delay, and what goes wrong.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    pub(crate) rate_mbit: f64,
    pub(crate) delay: Duration,
    pub(crate) queue_bytes: u64,
    /// Larger UDP payloads do not get through.
    pub(crate) max_payload: usize,
    /// Every n-th packet is lost; none if zero.
    pub(crate) lose_every: u64,
    /// Every n-th packet comes so much later.
    pub(crate) delay_every: (u64, Duration),
    /// How many of 1000 packets begin a burst of losses, and how long bursts are.
    pub(crate) bursts: (u64, u64),
    /// Of the bursts.
    pub(crate) seed: u64,
    /// When nothing gets through.
    pub(crate) dark: Range<Duration>,
}

impl Direction {
    pub(crate) fn new(rate_mbit: f64, delay: Duration, queue_bytes: u64) -> Self {
        Self {
            rate_mbit,
            delay,
            queue_bytes,
            max_payload: usize::MAX,
            lose_every: 0,
            delay_every: (0, Duration::ZERO),
            bursts: (0, 0),
            seed: 1,
            dark: Duration::ZERO..Duration::ZERO,
        }
    }
}

/// A packet on its way.
pub(super) struct Packet {
    pub(super) arrives: Instant,
    from: SocketAddr,
    pub(super) to: SocketAddr,
    payload: Vec<u8>,
}

impl Packet {
    pub(super) fn datagram(self) -> ReceivedDatagram {
        let payload = BytesMut::from(&self.payload[..]);
        ReceivedDatagram { remote: self.from, local_ip: None, ecn: None, payload }
    }
}

/// A packet as it left its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    pub(crate) at: Duration,
    pub(crate) bytes: usize,
    /// Of its bytes.
    pub(crate) hash: u64,
}

/// A direction at work.
pub(crate) struct Wire {
    pub(crate) direction: Direction,
    pub(super) from: SocketAddr,
    pub(super) now: Instant,
    began: Instant,
    free_at: Instant,
    sent: u64,
    random: u64,
    burst: u64,
    pub(super) packets: VecDeque<Packet>,
    pub(crate) departures: Vec<Departure>,
    pub(crate) dropped: u64,
}

impl Wire {
    pub(super) fn new(direction: Direction, from: &str, now: Instant) -> Self {
        Self {
            from: from.parse().unwrap(),
            now,
            began: now,
            free_at: now,
            sent: 0,
            random: direction.seed.max(1),
            burst: 0,
            packets: VecDeque::new(),
            departures: Vec::new(),
            dropped: 0,
            direction,
        }
    }

    fn loses(&mut self) -> bool {
        let (per_mille, length) = self.direction.bursts;
        // Marsaglia's xorshift64.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        if self.burst == 0 && self.random % 1000 < per_mille {
            self.burst = length;
        }
        let in_burst = self.burst > 0;
        self.burst = self.burst.saturating_sub(1);
        let every = self.direction.lose_every;
        let is_dark = self.direction.dark.contains(&(self.now - self.began));
        in_burst || is_dark || (every > 0 && self.sent % every == 0)
    }

    fn arrival(&self) -> Instant {
        let (every, extra) = self.direction.delay_every;
        let late = every > 0 && self.sent % every == 0;
        self.free_at + self.direction.delay + if late { extra } else { Duration::ZERO }
    }
}

impl Network for Wire {
    fn send(
        &mut self,
        to: SocketAddr,
        _source: Option<IpAddr>,
        _ecn: Option<EcnCodepoint>,
        payload: &[u8],
    ) -> io::Result<()> {
        self.sent += 1;
        let at = self.now - self.began;
        let mut hasher = DefaultHasher::new();
        hasher.write(payload);
        let (bytes, hash) = (payload.len(), hasher.finish());
        self.departures.push(Departure { at, bytes, hash });
        let per_byte = 8e-6 / self.direction.rate_mbit;
        let waiting = self.free_at.saturating_duration_since(self.now).as_secs_f64() / per_byte;
        let is_too_large = bytes > self.direction.max_payload;
        let is_full = waiting > self.direction.queue_bytes as f64;
        if is_too_large || is_full || self.loses() {
            self.dropped += 1;
            return Ok(());
        }
        let serialisation = Duration::from_secs_f64(payload.len() as f64 * per_byte);
        self.free_at = self.free_at.max(self.now) + serialisation;
        let packet =
            Packet { arrives: self.arrival(), from: self.from, to, payload: payload.to_vec() };
        let place = self.packets.partition_point(|other| other.arrives <= packet.arrives);
        self.packets.insert(place, packet);
        Ok(())
    }
}
