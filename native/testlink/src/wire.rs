use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

use crate::host::Datagram;
use crate::nodes::{Delay, Drop, Queue};
use crate::path;
use crate::simulation::{Node, Path, Time};

/// One direction of a path: what it loses, a drop-tail queue of bytes, a rate, and a delay.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    /// Rate in Mbit/s; nothing takes time if it is infinite.
    pub rate_mbit: f64,
    /// One-way delay.
    pub delay: Duration,
    /// What the queue holds, in bytes.
    pub queue_bytes: u64,
    /// Larger UDP payloads do not get through.
    pub max_payload: usize,
    /// Which fraction of packets is lost.
    pub loss: f64,
    /// Every n-th packet is lost; none if zero.
    pub lose_every: u64,
    /// The packet of this number is lost, counted from 1; none if zero.
    pub lose_nth: u64,
    /// How many of 1000 packets begin a burst of losses, and how long bursts are.
    pub bursts: (u64, u64),
    /// From when to when nothing gets through.
    pub dark: (Duration, Duration),
    /// Every n-th packet comes so much later.
    pub delay_every: (u64, Duration),
    /// Which ones are lost: equal seeds lose the same.
    pub seed: u64,
}

impl Direction {
    /// A direction that loses only what its queue does not hold.
    #[must_use]
    pub fn new(rate_mbit: f64, delay: Duration, queue_bytes: u64) -> Self {
        Self {
            rate_mbit,
            delay,
            queue_bytes,
            max_payload: usize::MAX,
            loss: 0.0,
            lose_every: 0,
            lose_nth: 0,
            bursts: (0, 0),
            dark: (Duration::ZERO, Duration::ZERO),
            delay_every: (0, Duration::ZERO),
            seed: 0,
        }
    }

    /// A direction that loses nothing and takes no time but its delay.
    #[must_use]
    pub fn delay(delay: Duration) -> Self {
        Self::new(f64::INFINITY, delay, u64::MAX)
    }

    fn path(self) -> Path<Datagram> {
        path![
            Drop::when(move |_, datagram: &Datagram| datagram.payload.len() > self.max_payload),
            Drop::during(self.dark.0..self.dark.1),
            Drop::every(self.lose_every),
            Drop::nth(self.lose_nth),
            Drop::fraction(self.loss, self.seed),
            Drop::bursts(self.bursts, self.seed),
            Queue::new(self.rate_mbit, self.queue_bytes, |datagram: &Datagram| datagram
                .payload
                .len()
                as u64),
            Delay::late(self.delay, self.delay_every),
        ]
    }
}

/// A packet as it left its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When, since the simulation began.
    pub at: Time,
    /// Its UDP payload in bytes.
    pub bytes: usize,
    /// Of its payload.
    pub hash: u64,
}

/// A direction that remembers what went into it.
pub struct Wire {
    path: Path<Datagram>,
    /// Everything sent so far.
    pub departures: Vec<Departure>,
    arrived: u64,
}

impl From<Direction> for Wire {
    fn from(direction: Direction) -> Self {
        Self { path: direction.path(), departures: Vec::new(), arrived: 0 }
    }
}

impl Wire {
    /// Packets that were lost, in the queue and before it.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.departures.len() as u64 - self.arrived - self.path.held() as u64
    }
}

impl Node<Datagram> for Wire {
    fn receive(&mut self, now: Time, datagram: Datagram) {
        let mut hasher = DefaultHasher::new();
        hasher.write(&datagram.payload);
        let (bytes, hash) = (datagram.payload.len(), hasher.finish());
        self.departures.push(Departure { at: now, bytes, hash });
        self.path.receive(now, datagram);
    }

    fn send(&mut self, now: Time) -> Option<Datagram> {
        self.path.send(now).inspect(|_| self.arrived += 1)
    }

    fn wake(&mut self) -> Option<Time> {
        self.path.wake()
    }

    fn held(&self) -> usize {
        self.path.held()
    }
}
