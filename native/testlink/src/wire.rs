use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use headway_quic::{EcnCodepoint, Network, ReceivedDatagram};

use crate::numbers::Numbers;

/// One direction of a path: a drop-tail queue of bytes, a rate, a delay, and what it loses.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    /// Rate in Mbit/s; nothing takes time if it is infinite.
    pub rate_mbit: f64,
    /// One-way delay.
    pub delay: Duration,
    /// What the queue holds, in bytes.
    pub queue_bytes: u64,
    /// Which fraction of packets is lost.
    pub loss: f64,
    /// Which ones: equal seeds lose the same.
    pub seed: u64,
}

impl Direction {
    /// A direction that loses nothing and takes no time but its delay.
    #[must_use]
    pub fn delay(delay: Duration) -> Self {
        let (rate_mbit, queue_bytes) = (f64::INFINITY, u64::MAX);
        Self { rate_mbit, delay, queue_bytes, loss: 0.0, seed: 0 }
    }
}

/// A packet on its way.
#[derive(Debug)]
pub struct Packet {
    arrives: Instant,
    from: SocketAddr,
    payload: Vec<u8>,
}

impl From<Packet> for ReceivedDatagram {
    fn from(packet: Packet) -> Self {
        let payload = BytesMut::from(&packet.payload[..]);
        Self { remote: packet.from, local_ip: None, ecn: None, payload }
    }
}

/// A packet as it left its sender.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When.
    pub at: Instant,
    /// Its UDP payload in bytes.
    pub bytes: usize,
}

/// One direction at work.
#[derive(Debug)]
pub struct Wire {
    direction: Direction,
    from: SocketAddr,
    now: Instant,
    free_at: Instant,
    random: Numbers,
    packets: VecDeque<Packet>,
    /// Everything sent so far.
    pub departures: Vec<Departure>,
    /// Packets that were lost, in the queue and on the way.
    pub dropped: u64,
}

impl Wire {
    /// A direction that packets of one sender take.
    #[must_use]
    pub fn new(direction: Direction, from: SocketAddr, now: Instant) -> Self {
        Self {
            random: Numbers::new(direction.seed),
            direction,
            from,
            now,
            free_at: now,
            packets: VecDeque::new(),
            departures: Vec::new(),
            dropped: 0,
        }
    }

    /// Time goes on.
    pub fn set_now(&mut self, now: Instant) {
        self.now = now;
    }

    /// From now on it is another.
    pub fn change(&mut self, direction: Direction) {
        self.direction = direction;
    }

    /// When the next packet arrives.
    #[must_use]
    pub fn next_arrival(&self) -> Option<Instant> {
        self.packets.front().map(|packet| packet.arrives)
    }

    /// The next packet, if it has arrived.
    pub fn take_arrived(&mut self) -> Option<Packet> {
        let arrived = self.next_arrival().is_some_and(|at| at <= self.now);
        if arrived { self.packets.pop_front() } else { None }
    }

    fn loses(&mut self) -> bool {
        self.direction.loss > self.random.fraction()
    }
}

impl Network for Wire {
    fn send(
        &mut self,
        _destination: SocketAddr,
        _source: Option<IpAddr>,
        _ecn: Option<EcnCodepoint>,
        payload: &[u8],
    ) -> io::Result<()> {
        self.departures.push(Departure { at: self.now, bytes: payload.len() });
        let seconds_per_byte = 8e-6 / self.direction.rate_mbit;
        let busy = self.free_at.saturating_duration_since(self.now);
        let fits = busy.as_secs_f64() <= self.direction.queue_bytes as f64 * seconds_per_byte;
        if !fits || self.loses() {
            self.dropped += 1;
            return Ok(());
        }
        let sending = Duration::from_secs_f64(payload.len() as f64 * seconds_per_byte);
        self.free_at = self.free_at.max(self.now) + sending;
        let arrives = self.free_at + self.direction.delay;
        self.packets.push_back(Packet { arrives, from: self.from, payload: payload.to_vec() });
        Ok(())
    }
}
