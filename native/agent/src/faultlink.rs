//! Single faults: what happens to the n-th packet of a direction, and which one it was.
//!
//! A process between a TUN device and its namespace counts packets from the workload's beginning, does to
//! those that are named what the orders say, and keeps them, and the first ones, for the host to read.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::OwnedFd;

use rustix::io::{Errno, read, write};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::failure::{Doing, Failure};
use crate::ippacket;
use crate::network::Network;
use crate::orders::{Fault, FaultKind, FaultLink};
use crate::outcome::Passed;
use crate::sys;
use crate::timer::Timer;
use crate::tunprocess::{self, Counts, LARGEST_PACKET_BYTES};

/// The word by which this program is told to be such a process.
pub(crate) const FAULT_LINK: &str = "fault-link";

const DIRECTORY: &str = "/run/fault-links";

/// The process of a direction with faults.
#[derive(Debug)]
pub(crate) struct FaultProcess {
    pub(crate) pid: Pid,
    counts: Counts,
}

impl FaultProcess {
    /// Start that of a direction whose packets are counted from a time of the monotonic clock.
    pub(crate) fn start(
        link: &FaultLink,
        network: &Network,
        directory: &str,
        start_ns: u64,
    ) -> Result<Self, Failure> {
        fs::create_dir_all(DIRECTORY).doing(DIRECTORY)?;
        let place = format!("{DIRECTORY}/{}", link.name);
        let counts = Counts::none(&place)?;
        let ends = (link.namespace.as_str(), link.device.as_str());
        let pid = tunprocess::start(FAULT_LINK, &place, ends, network, |tun| Task {
            tun,
            fault: link.fault.clone(),
            kept: link.kept,
            file: format!("{directory}/{}", link.file),
            start_ns,
        })?;
        Ok(Self { pid, counts })
    }

    /// How many packets came so far, and to how many of them something happened.
    pub(crate) fn passed(&self) -> Passed {
        let [packets, met] = self.counts.read();
        Passed { packets, met }
    }
}

/// What a process of a direction does, as it finds it in a file.
#[derive(Deserialize, Serialize)]
struct Task {
    tun: i32,
    fault: Option<Fault>,
    kept: u64,
    file: String,
    start_ns: u64,
}

/// Be the process of a direction whose files begin with a name; until killed.
pub(crate) fn forward(place: &str) -> Result<(), Failure> {
    let task: Task = tunprocess::task(place)?;
    let mut forwarder = Forwarder {
        tun: sys::inherited(task.tun),
        counts: Counts::own(place)?,
        log: File::create(&task.file).doing(&task.file)?,
        kept: task.kept,
        start_ns: task.start_ns,
        passage: Passage::new(task.fault),
    };
    forwarder.run().doing(place)
}

/// Carries packets from the device through the passage, and back.
struct Forwarder {
    tun: OwnedFd,
    counts: Counts,
    log: File,
    kept: u64,
    start_ns: u64,
    passage: Passage,
}

impl Forwarder {
    fn run(&mut self) -> Result<(), Errno> {
        let mut packet = vec![0; LARGEST_PACKET_BYTES];
        let timer = Timer::new()?;
        loop {
            let came = timer.wait(&self.tun, self.passage.next_ns())?;
            let now_ns = clock::monotonic_ns();
            if came {
                self.take_all(&mut packet, now_ns)?;
            }
            while let Some(packet) = self.passage.due(now_ns) {
                write(&self.tun, &packet)?;
            }
        }
    }

    fn take_all(&mut self, packet: &mut [u8], now_ns: u64) -> Result<(), Errno> {
        loop {
            let length = match read(&self.tun, &mut *packet) {
                Err(Errno::AGAIN) => return Ok(()),
                taken => taken?,
            };
            let met = self.passage.arrive(now_ns, &packet[..length]);
            let seen = self.passage.seen;
            if met || seen.packets <= self.kept {
                self.keep(&packet[..length], met, now_ns).map_err(|_| Errno::IO)?;
            }
            self.counts.write([seen.packets, seen.met])?;
        }
    }

    fn keep(&mut self, packet: &[u8], met: bool, now_ns: u64) -> std::io::Result<()> {
        let mut bytes = String::with_capacity(2 * packet.len());
        for byte in packet {
            let _ = write!(bytes, "{byte:02x}");
        }
        let (number, at_ns) = (self.passage.seen.packets, now_ns.saturating_sub(self.start_ns));
        let mut line = serde_json::to_vec(&Kept { number, at_ns, met, bytes })?;
        line.push(b'\n');
        self.log.write_all(&line)
    }
}

/// A packet as it came, for the host: Python's `headway.contract.faults.KeptPacket`.
#[derive(Serialize)]
struct Kept {
    number: u64,
    at_ns: u64,
    met: bool,
    bytes: String,
}

/// What packets go through: those that are named meet a fault.
struct Passage {
    fault: Option<Fault>,
    seen: Passed,
    ready: VecDeque<Vec<u8>>,
    held: Vec<Held>,
    black_until_ns: u64,
}

/// A packet that waits: until a time, or until a packet of a number has gone on.
struct Held {
    until_ns: u64,
    behind: u64,
    packet: Vec<u8>,
}

impl Passage {
    fn new(fault: Option<Fault>) -> Self {
        let seen = Passed::default();
        Self { fault, seen, ready: VecDeque::new(), held: Vec::new(), black_until_ns: 0 }
    }

    /// Take a packet; whether anything happens to it.
    fn arrive(&mut self, now_ns: u64, packet: &[u8]) -> bool {
        self.seen.packets += 1;
        let met = if now_ns < self.black_until_ns {
            true
        } else if self.fault.as_ref().is_some_and(|one| one.packets.contains(&self.seen.packets)) {
            self.meet(now_ns, packet)
        } else {
            self.ready.push_back(packet.to_vec());
            false
        };
        self.seen.met += u64::from(met);
        self.release(|held, number| held.behind <= number);
        met
    }

    fn meet(&mut self, now_ns: u64, packet: &[u8]) -> bool {
        let Some(fault) = &self.fault else {
            return false;
        };
        let (until_ns, number) = (now_ns + fault.span_ns, self.seen.packets);
        let mut packet = packet.to_vec();
        match fault.kind {
            FaultKind::Lose => return true,
            FaultKind::Blackout => {
                self.black_until_ns = until_ns;
                return true;
            }
            FaultKind::Delay => self.held.push(Held { until_ns, behind: u64::MAX, packet }),
            FaultKind::Reorder => {
                self.held.push(Held { until_ns, behind: number + fault.behind, packet });
            }
            FaultKind::Duplicate => self.ready.extend([packet.clone(), packet]),
            FaultKind::Corrupt | FaultKind::Mark => {
                let changed = match (fault.kind, fault.flip(number)) {
                    (FaultKind::Mark, _) => ippacket::mark(&mut packet),
                    (_, Some(flip)) => ippacket::spoil(&mut packet, flip),
                    (_, None) => ippacket::corrupt(&mut packet),
                };
                self.ready.push_back(packet);
                return changed;
            }
        }
        true
    }

    /// Let those go on that have waited enough, in the order in which they came.
    fn release(&mut self, enough: impl Fn(&Held, u64) -> bool) {
        let number = self.seen.packets;
        let (gone, held) = self.held.drain(..).partition(|one| enough(one, number));
        self.held = held;
        self.ready.extend(Vec::into_iter(gone).map(|one: Held| one.packet));
    }

    /// When the next packet has waited long enough.
    fn next_ns(&self) -> Option<u64> {
        self.held.iter().map(|one| one.until_ns).min()
    }

    /// The next packet that goes on by now, if any.
    fn due(&mut self, now_ns: u64) -> Option<Vec<u8>> {
        self.release(|held, _| held.until_ns <= now_ns);
        self.ready.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(kind: FaultKind, packets: &[u64], span_ns: u64, behind: u64) -> Passage {
        Passage::new(Some(Fault {
            kind,
            packets: packets.to_vec(),
            span_ns,
            behind,
            flips: Vec::new(),
        }))
    }

    /// What goes on, by first bytes and times, of one packet every 10 ns.
    fn carried(mut passage: Passage, count: u8) -> (Vec<(u64, u8)>, Passed) {
        let mut gone = Vec::new();
        for now_ns in 0..200 {
            if now_ns % 10 == 0 && now_ns / 10 < u64::from(count) {
                passage.arrive(now_ns, &[u8::try_from(now_ns / 10 + 1).expect("small")]);
            }
            while let Some(packet) = passage.due(now_ns) {
                gone.push((now_ns, packet[0]));
            }
        }
        (gone, passage.seen)
    }

    #[test]
    fn without_a_fault_everything_passes_at_once() {
        let (gone, seen) = carried(Passage::new(None), 3);
        assert_eq!(gone, [(0, 1), (10, 2), (20, 3)]);
        assert_eq!(seen, Passed { packets: 3, met: 0 });
    }

    #[test]
    fn those_named_are_lost() {
        let (gone, seen) = carried(passage(FaultKind::Lose, &[2, 4, 9], 0, 0), 4);
        assert_eq!(gone, [(0, 1), (20, 3)]);
        assert_eq!(seen, Passed { packets: 4, met: 2 });
    }

    #[test]
    fn those_named_come_twice() {
        let (gone, _) = carried(passage(FaultKind::Duplicate, &[2], 0, 0), 3);
        assert_eq!(gone, [(0, 1), (10, 2), (10, 2), (20, 3)]);
    }

    #[test]
    fn one_is_late_and_holds_up_no_other() {
        let (gone, _) = carried(passage(FaultKind::Delay, &[1], 25, 0), 4);
        assert_eq!(gone, [(10, 2), (20, 3), (25, 1), (30, 4)]);
    }

    #[test]
    fn one_goes_behind_the_next_two_or_after_its_longest_wait() {
        let (gone, _) = carried(passage(FaultKind::Reorder, &[1], 100, 2), 4);
        assert_eq!(gone, [(10, 2), (20, 3), (20, 1), (30, 4)]);
        let (gone, _) = carried(passage(FaultKind::Reorder, &[3], 100, 2), 4);
        assert_eq!(gone, [(0, 1), (10, 2), (30, 4), (120, 3)]);
    }

    #[test]
    fn a_blackout_begins_with_one() {
        let (gone, seen) = carried(passage(FaultKind::Blackout, &[2], 15, 0), 5);
        assert_eq!(gone, [(0, 1), (30, 4), (40, 5)]);
        assert_eq!(seen, Passed { packets: 5, met: 2 });
    }
}
