//! Nodes that packets go through, in virtual time.

use std::time::Duration;

/// Since the simulation began.
pub type Time = Duration;

/// An end of a path, or something on it.
pub trait Node<P> {
    /// A packet comes in.
    fn receive(&mut self, now: Time, packet: P);

    /// The next packet that leaves by now. It is asked for until there is none.
    fn send(&mut self, now: Time) -> Option<P>;

    /// When it has something to do by itself.
    fn wake(&mut self) -> Option<Time>;

    /// Packets that are on their way in it.
    fn held(&self) -> usize {
        0
    }
}

/// Nodes in a row, each of which sends to the next and the last to the first.
pub type Ring<'a, P> = [&'a mut dyn Node<P>];

/// Does all there is to do at a moment. What arrives at the same time arrives everywhere before anybody
/// answers.
///
/// # Arguments
/// - `all`: whether every node is asked, as after something happened from outside; otherwise those
///   whose time has come
pub fn settle<P>(now: Time, ring: &mut Ring<'_, P>, all: bool) {
    let mut is_due: Vec<bool> =
        ring.iter_mut().map(|node| all || node.wake().is_some_and(|at| at <= now)).collect();
    while is_due.contains(&true) {
        let mut arrivals = Vec::new();
        for (place, is_due) in is_due.iter_mut().enumerate().filter(|(_, is_due)| **is_due) {
            *is_due = false;
            let next = (place + 1) % ring.len();
            arrivals
                .extend(std::iter::from_fn(|| ring[place].send(now)).map(|packet| (next, packet)));
        }
        for (place, packet) in arrivals {
            ring[place].receive(now, packet);
            is_due[place] = true;
        }
    }
}

/// Lets time go on until nothing is left to do, or to a limit.
///
/// # Arguments
/// - `clock`: goes on to the last moment at which something happened
pub fn simulate<P>(clock: &mut Time, until: Time, ring: &mut Ring<'_, P>) {
    settle(*clock, ring, true);
    while step(clock, until, ring) {}
}

/// Goes on to the next moment at which something happens, unless it is beyond a limit.
pub fn step<P>(clock: &mut Time, until: Time, ring: &mut Ring<'_, P>) -> bool {
    let next = ring.iter_mut().filter_map(|node| node.wake()).min();
    let Some(at) = next.filter(|at| *at <= until) else { return false };
    *clock = at.max(*clock);
    settle(*clock, ring, false);
    true
}

/// Several nodes as one.
pub struct Path<P>(pub Vec<Box<dyn Node<P>>>);

/// Nodes on a path, in their order.
#[macro_export]
macro_rules! path {
    [$($node:expr),* $(,)?] => { $crate::Path(vec![$(Box::new($node)),*]) };
}

impl<P> Node<P> for Path<P> {
    fn receive(&mut self, now: Time, packet: P) {
        self.0[0].receive(now, packet);
    }

    fn send(&mut self, now: Time) -> Option<P> {
        for place in 1..self.0.len() {
            while let Some(packet) = self.0[place - 1].send(now) {
                self.0[place].receive(now, packet);
            }
        }
        self.0.last_mut()?.send(now)
    }

    fn wake(&mut self) -> Option<Time> {
        self.0.iter_mut().filter_map(|node| node.wake()).min()
    }

    fn held(&self) -> usize {
        self.0.iter().map(|node| node.held()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nodes::{Delay, Drop, Queue};

    /// Sends numbers at once, and notes when they come round.
    struct Source {
        unsent: std::ops::Range<u64>,
        came: Vec<(u64, Time)>,
    }

    impl Node<u64> for Source {
        fn receive(&mut self, now: Time, packet: u64) {
            self.came.push((packet, now));
        }

        fn send(&mut self, _now: Time) -> Option<u64> {
            self.unsent.next()
        }

        fn wake(&mut self) -> Option<Time> {
            None
        }
    }

    #[test]
    fn packets_come_when_they_should() {
        // A thousand bytes take a millisecond. The fourth is lost, and the queue is full of the first three.
        let mut path = path![
            Drop::every(4),
            Queue::new(8.0, 2500, |_: &u64| 1000),
            Delay::late(Time::from_millis(10), (2, Time::from_micros(1500))),
        ];
        let (mut source, mut clock) = (Source { unsent: 1..8, came: Vec::new() }, Time::ZERO);
        simulate(&mut clock, Time::MAX, &mut [&mut source, &mut path]);
        let came = [(1, 11_000), (3, 13_000), (2, 13_500)];
        assert_eq!(source.came, came.map(|(packet, us)| (packet, Time::from_micros(us))));
        assert_eq!((clock, path.held()), (Time::from_micros(13_500), 0));
    }
}
