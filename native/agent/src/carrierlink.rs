//! A carrier: a process between a TUN device and its namespace that sends packets in frames, at the capacity
//! that it is granted.
//!
//! Kernel queueing disciplines know neither frames nor grants. In virtual time the process's computing takes no
//! time, so frames end exactly when they are to.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::io::{Errno, read, write};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::failure::{Doing, Failure};
use crate::framing::{Carrier, Framing, OwnCounts};
use crate::network::Network;
use crate::orders::CarrierLink;
use crate::sys;
use crate::timer::Timer;
use crate::tunprocess::{self, Counts, LARGEST_PACKET_BYTES};

/// The word by which this program is told to be such a process.
pub(crate) const CARRIER_LINK: &str = "carrier-link";

const DIRECTORY: &str = "/run/carrier-links";

/// The process of a carrier.
#[derive(Debug)]
pub(crate) struct CarrierProcess {
    pub(crate) pid: Pid,
    counts: Counts,
}

impl CarrierProcess {
    /// Start the process of a carrier whose superframes are counted from a time of the monotonic clock.
    pub(crate) fn start(
        link: &CarrierLink,
        network: &Network,
        start_ns: u64,
    ) -> Result<Self, Failure> {
        fs::create_dir_all(DIRECTORY).doing(DIRECTORY)?;
        let place = format!("{DIRECTORY}/{}", link.name);
        let counts = Counts::none(&place)?;
        let ends = (link.namespace.as_str(), link.device.as_str());
        let pid = tunprocess::start(CARRIER_LINK, &place, ends, network, |tun| Task {
            tun,
            framing: link.framing.clone(),
            start_ns,
        })?;
        Ok(Self { pid, counts })
    }

    /// Packets for which the queue had no room so far, and those that were lost with a frame.
    pub(crate) fn counts(&self) -> OwnCounts {
        let [dropped, lost] = self.counts.read();
        OwnCounts { dropped, lost }
    }
}

/// What a process of a carrier does, as it finds it in a file.
#[derive(Deserialize, Serialize)]
struct Task {
    tun: i32,
    framing: Framing,
    start_ns: u64,
}

/// Be the process of a carrier whose files begin with a name; until killed.
pub(crate) fn forward(place: &str) -> Result<(), Failure> {
    let task: Task = tunprocess::task(place)?;
    let mut forwarder = Forwarder {
        tun: sys::inherited(task.tun),
        counts: Counts::own(place)?,
        carrier: Carrier::new(task.framing, task.start_ns),
    };
    forwarder.run().doing(place)
}

/// Carries packets from the device onto the carrier, and those of frames that have arrived back.
struct Forwarder {
    tun: OwnedFd,
    counts: Counts,
    carrier: Carrier,
}

impl Forwarder {
    fn run(&mut self) -> Result<(), Errno> {
        let mut packet = vec![0; LARGEST_PACKET_BYTES];
        let timer = Timer::new()?;
        let mut known = OwnCounts::default();
        loop {
            let came = timer.wait(&self.tun, self.carrier.next_ns())?;
            let now_ns = clock::monotonic_ns();
            self.carrier.advance(now_ns);
            if came {
                self.take_all(&mut packet, now_ns)?;
            }
            while let Some(packet) = self.carrier.arrived() {
                write(&self.tun, &packet)?;
            }
            let counts = self.carrier.counts();
            if counts != known {
                known = counts;
                self.counts.write([counts.dropped, counts.lost])?;
            }
        }
    }

    fn take_all(&mut self, packet: &mut [u8], now_ns: u64) -> Result<(), Errno> {
        loop {
            match read(&self.tun, &mut *packet) {
                Err(Errno::AGAIN) => {
                    self.carrier.begin_frame(now_ns);
                    return Ok(());
                }
                taken => self.carrier.push(&packet[..taken?]),
            }
        }
    }
}
