//! A link driven by a Mahimahi trace: a process between a TUN device and its namespace.
//!
//! Kernel queueing disciplines know rates, not delivery opportunities, so these packets pass through
//! a process, which is this program again. In virtual time its computing takes no time, so
//! opportunities are met exactly.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::io::{Errno, read, write};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::failure::{Doing, Failure};
use crate::network::Network;
use crate::orders::TraceLink;
use crate::sys;
use crate::timer::Timer;
use crate::tunprocess::{self, LARGEST_PACKET_BYTES};

/// The word by which this program is told to be such a process.
pub(crate) const TRACE_LINK: &str = "trace-link";

const DIRECTORY: &str = "/run/trace-links";
const OPPORTUNITY_BYTES: usize = 1500;
const NS_PER_MS: u64 = 1_000_000;

/// The process of a trace-driven link.
#[derive(Debug)]
pub(crate) struct TraceProcess {
    pub(crate) pid: Pid,
    dropped: File,
}

impl TraceProcess {
    /// Start the process of a link whose trace begins at a time of the monotonic clock.
    pub(crate) fn start(
        link: &TraceLink,
        network: &Network,
        start_ns: u64,
    ) -> Result<Self, Failure> {
        fs::create_dir_all(DIRECTORY).doing(DIRECTORY)?;
        let place = format!("{DIRECTORY}/{}", link.name);
        let counter = format!("{place}.dropped");
        fs::write(&counter, 0u64.to_ne_bytes()).doing(&counter)?;
        let dropped = File::open(&counter).doing(&counter)?;
        let ends = (link.namespace.as_str(), link.device.as_str());
        let pid = tunprocess::start(TRACE_LINK, &place, ends, network, |tun| Task {
            tun,
            opportunities_ms: link.opportunities_ms.clone(),
            limit_bytes: link.limit_bytes,
            start_ns,
        })?;
        Ok(Self { pid, dropped })
    }

    /// Packets for which the queue had no room so far.
    pub(crate) fn dropped(&self) -> u64 {
        let mut count = [0; 8];
        self.dropped.read_at(&mut count, 0).map_or(0, |_| u64::from_ne_bytes(count))
    }
}

/// What a process of a link does, as it finds it in a file.
#[derive(Deserialize, Serialize)]
struct Task {
    tun: i32,
    opportunities_ms: Vec<u64>,
    limit_bytes: usize,
    start_ns: u64,
}

/// Be the process of a link whose files begin with a name; until killed.
pub(crate) fn forward(place: &str) -> Result<(), Failure> {
    let task: Task = tunprocess::task(place)?;
    let counter = format!("{place}.dropped");
    let mut forwarder = Forwarder {
        tun: sys::inherited(task.tun),
        dropped: File::options().write(true).open(&counter).doing(&counter)?,
        queue: Queue::new(task),
    };
    forwarder.run().doing(place)
}

/// Carries packets from the device into the queue, and out of it at opportunities.
struct Forwarder {
    tun: OwnedFd,
    dropped: File,
    queue: Queue,
}

impl Forwarder {
    fn run(&mut self) -> Result<(), Errno> {
        let mut packet = vec![0; LARGEST_PACKET_BYTES];
        let timer = Timer::new()?;
        loop {
            if timer.wait(&self.tun, self.queue.next_ns())? {
                if self.queue.is_empty() {
                    self.queue.skip_until(clock::monotonic_ns());
                }
                self.take_all(&mut packet)?;
            }
            let now_ns = if self.queue.is_empty() { 0 } else { clock::monotonic_ns() };
            while let Some(packet) = self.queue.due(now_ns) {
                write(&self.tun, &packet)?;
            }
        }
    }

    fn take_all(&mut self, packet: &mut [u8]) -> Result<(), Errno> {
        loop {
            match read(&self.tun, &mut *packet) {
                Err(Errno::AGAIN) => return Ok(()),
                taken => self.queue.push(&packet[..taken?]),
            }
            let count = self.queue.dropped.to_ne_bytes();
            self.dropped.write_all_at(&count, 0).map_err(|_| Errno::IO)?;
        }
    }
}

/// Holds packets until an opportunity has room for them.
struct Queue {
    task: Task,
    /// The next opportunity, counted from the trace's beginning.
    next: usize,
    packets: VecDeque<Vec<u8>>,
    bytes: usize,
    sent_of_first: usize,
    /// What is left of the opportunity that is being used.
    room: usize,
    dropped: u64,
}

impl Queue {
    fn new(task: Task) -> Self {
        Self {
            task,
            next: 0,
            packets: VecDeque::new(),
            bytes: 0,
            sent_of_first: 0,
            room: 0,
            dropped: 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// When the next opportunity is that somebody waits for.
    fn next_ns(&self) -> Option<u64> {
        (!self.is_empty()).then(|| self.opportunity_ns(self.next))
    }

    /// Time of an opportunity, the trace being repeated without end.
    fn opportunity_ns(&self, number: usize) -> u64 {
        let times = &self.task.opportunities_ms;
        let period = times.last().copied().unwrap_or(1);
        let lap = (number / times.len()) as u64;
        self.task.start_ns + (lap * period + times[number % times.len()]) * NS_PER_MS
    }

    /// Opportunities that passed while nothing waited are lost.
    fn skip_until(&mut self, now_ns: u64) {
        while self.opportunity_ns(self.next) < now_ns {
            self.next += 1;
        }
    }

    fn push(&mut self, packet: &[u8]) {
        if self.bytes + packet.len() <= self.task.limit_bytes {
            self.packets.push_back(packet.to_vec());
            self.bytes += packet.len();
        } else {
            self.dropped += 1;
        }
    }

    /// The next packet that has left by now, if any; a packet may need several opportunities.
    fn due(&mut self, now_ns: u64) -> Option<Vec<u8>> {
        loop {
            let left = self.packets.front().map(|first| first.len() - self.sent_of_first);
            let Some(left) = left else {
                self.room = 0;
                return None;
            };
            if self.room == 0 {
                if self.opportunity_ns(self.next) > now_ns {
                    return None;
                }
                self.next += 1;
                self.room = OPPORTUNITY_BYTES;
            }
            if left <= self.room {
                self.room -= left;
                self.sent_of_first = 0;
                let packet = self.packets.pop_front()?;
                self.bytes -= packet.len();
                return Some(packet);
            }
            self.sent_of_first += self.room;
            self.room = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(opportunities_ms: &[u64], limit_bytes: usize) -> Queue {
        let opportunities_ms = opportunities_ms.to_vec();
        Queue::new(Task { tun: 0, opportunities_ms, limit_bytes, start_ns: 0 })
    }

    #[test]
    fn a_trace_starts_again_at_its_end() {
        let queue = queue(&[1, 2, 4], 0);
        let times: Vec<_> = (0..7).map(|number| queue.opportunity_ns(number) / NS_PER_MS).collect();
        assert_eq!(times, [1, 2, 4, 5, 6, 8, 9]);
    }

    #[test]
    fn an_opportunity_has_room_for_1500_bytes() {
        let mut queue = queue(&[1, 2, 3], 10_000);
        for length in [1000, 1000, 400] {
            queue.push(&vec![0; length]);
        }
        let lengths = |queue: &mut Queue, now_ms| {
            let due = std::iter::from_fn(|| queue.due(now_ms * NS_PER_MS));
            due.map(|packet| packet.len()).collect::<Vec<_>>()
        };
        assert!(lengths(&mut queue, 0).is_empty());
        assert_eq!(lengths(&mut queue, 1), [1000]);
        assert_eq!(lengths(&mut queue, 2), [1000, 400]);
        assert_eq!(queue.next_ns(), None);
    }

    #[test]
    fn what_an_opportunity_has_left_is_lost_when_nothing_waits() {
        let mut queue = queue(&[1, 2, 3], 10_000);
        queue.push(&[0; 100]);
        assert!(queue.due(NS_PER_MS).is_some());
        assert!(queue.due(NS_PER_MS).is_none());
        queue.push(&[0; 100]);
        assert!(queue.due(NS_PER_MS).is_none());
        queue.skip_until(5 * NS_PER_MS / 2);
        assert_eq!(queue.opportunity_ns(queue.next), 3 * NS_PER_MS);
    }

    #[test]
    fn packets_for_which_there_is_no_room_are_dropped() {
        let mut queue = queue(&[1], 150);
        queue.push(&[0; 100]);
        queue.push(&[0; 100]);
        queue.push(&[0; 50]);
        assert_eq!((queue.packets.len(), queue.dropped), (2, 1));
    }
}
