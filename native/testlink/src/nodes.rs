//! What paths are made of: losses, queues and delays.

use std::collections::VecDeque;
use std::ops::Range;

use crate::numbers::Numbers;
use crate::simulation::{Node, Time};

type Loses<P> = dyn FnMut(Time, &P) -> bool;

/// Loses packets.
pub struct Drop<P> {
    loses: Box<Loses<P>>,
    passing: VecDeque<P>,
}

impl<P> Drop<P> {
    /// Those for which this holds.
    pub fn when(loses: impl FnMut(Time, &P) -> bool + 'static) -> Self {
        Self { loses: Box::new(loses), passing: VecDeque::new() }
    }

    /// Every n-th; none if zero.
    #[must_use]
    pub fn every(n: u64) -> Self {
        let mut count = 0;
        Self::when(move |_, _| {
            count += 1;
            n > 0 && count % n == 0
        })
    }

    /// This one alone, counted from 1; none if zero.
    #[must_use]
    pub fn nth(n: u64) -> Self {
        let mut count = 0;
        Self::when(move |_, _| {
            count += 1;
            count == n
        })
    }

    /// A fraction of them; equal seeds lose the same.
    #[must_use]
    pub fn fraction(fraction: f64, seed: u64) -> Self {
        let mut numbers = Numbers::new(seed);
        Self::when(move |_, _| fraction > numbers.fraction())
    }

    /// Several in a row, which begin with so many of 1000 packets.
    #[must_use]
    pub fn bursts((per_mille, length): (u64, u64), seed: u64) -> Self {
        let (mut numbers, mut left) = (Numbers::new(seed), 0);
        Self::when(move |_, _| {
            let begins = numbers.any() % 1000 < per_mille;
            if left == 0 && begins {
                left = length;
            }
            let loses = left > 0;
            left = left.saturating_sub(1);
            loses
        })
    }

    /// All that come in some time.
    #[must_use]
    pub fn during(time: Range<Time>) -> Self {
        Self::when(move |now, _| time.contains(&now))
    }
}

impl<P> Node<P> for Drop<P> {
    fn receive(&mut self, now: Time, packet: P) {
        if !(self.loses)(now, &packet) {
            self.passing.push_back(packet);
        }
    }

    fn send(&mut self, _now: Time) -> Option<P> {
        self.passing.pop_front()
    }

    fn wake(&mut self) -> Option<Time> {
        None
    }
}

/// A rate, and a drop-tail queue in front of it.
pub struct Queue<P> {
    seconds_per_byte: f64,
    limit_bytes: u64,
    bytes: fn(&P) -> u64,
    /// When all that it holds is sent.
    free_at: Time,
    packets: Delay<P>,
}

impl<P> Queue<P> {
    /// # Arguments
    /// - `rate_mbit`: nothing takes time if it is infinite
    /// - `limit_bytes`: what may wait when a packet comes
    /// - `bytes`: the size of a packet
    pub fn new(rate_mbit: f64, limit_bytes: u64, bytes: fn(&P) -> u64) -> Self {
        let (seconds_per_byte, packets) = (8e-6 / rate_mbit, Delay::constant(Time::ZERO));
        Self { seconds_per_byte, limit_bytes, bytes, free_at: Time::ZERO, packets }
    }
}

impl<P> Node<P> for Queue<P> {
    fn receive(&mut self, now: Time, packet: P) {
        let waiting = self.free_at.saturating_sub(now).as_secs_f64() / self.seconds_per_byte;
        if waiting as u64 > self.limit_bytes {
            return;
        }
        let seconds = (self.bytes)(&packet) as f64 * self.seconds_per_byte;
        self.free_at = self.free_at.max(now) + Time::from_secs_f64(seconds);
        self.packets.receive(self.free_at, packet);
    }

    fn send(&mut self, now: Time) -> Option<P> {
        self.packets.send(now)
    }

    fn wake(&mut self) -> Option<Time> {
        self.packets.wake()
    }

    fn held(&self) -> usize {
        self.packets.held()
    }
}

/// Keeps packets for some time; what is kept for longer is overtaken.
pub struct Delay<P> {
    of: Box<dyn FnMut() -> Time>,
    packets: VecDeque<(Time, P)>,
}

impl<P> Delay<P> {
    /// As long as this says for each.
    pub fn of(of: impl FnMut() -> Time + 'static) -> Self {
        Self { of: Box::new(of), packets: VecDeque::new() }
    }

    /// Each for as long as the other.
    #[must_use]
    pub fn constant(time: Time) -> Self {
        Self::of(move || time)
    }

    /// Every n-th for longer by so much; none if zero.
    #[must_use]
    pub fn late(time: Time, (n, extra): (u64, Time)) -> Self {
        let mut count = 0;
        Self::of(move || {
            count += 1;
            if n > 0 && count % n == 0 { time + extra } else { time }
        })
    }
}

impl<P> Node<P> for Delay<P> {
    fn receive(&mut self, now: Time, packet: P) {
        let at = now + (self.of)();
        let place = self.packets.partition_point(|(other, _)| *other <= at);
        self.packets.insert(place, (at, packet));
    }

    fn send(&mut self, now: Time) -> Option<P> {
        self.wake().filter(|at| *at <= now)?;
        self.packets.pop_front().map(|(_, packet)| packet)
    }

    fn wake(&mut self) -> Option<Time> {
        self.packets.front().map(|(at, _)| *at)
    }

    fn held(&self) -> usize {
        self.packets.len()
    }
}
