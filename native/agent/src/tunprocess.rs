//! Processes between a TUN device and its namespace: this program again, which does to packets what the
//! kernel's queueing disciplines cannot. In virtual time its computing takes no time.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::Pid;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::{Doing, Failure, words};
use crate::network::Network;
use crate::sys;

/// The largest IP packet.
pub(crate) const LARGEST_PACKET_BYTES: usize = 65536;

/// Start one, whose files' names begin with `place`, by the word that tells this program what to be.
///
/// `task` says what it does, given the number of its device's file.
pub(crate) fn start<T: Serialize>(
    word: &str,
    place: &str,
    (namespace, device): (&str, &str),
    network: &Network,
    task: impl FnOnce(RawFd) -> T,
) -> Result<Pid, Failure> {
    // The process has it after this program's start: it is not closed then.
    let attached = || {
        let flags = OFlags::RDWR | OFlags::NONBLOCK;
        let tun = open("/dev/net/tun", flags, Mode::empty())?;
        sys::attach_tun(tun.as_fd(), device).map(|()| tun)
    };
    let tun = network.inside(namespace, attached)?.doing(device)?;
    let file = format!("{place}.json");
    fs::write(&file, serde_json::to_vec(&task(tun.as_raw_fd())).doing(&file)?).doing(&file)?;
    let own = CString::from(c"/proc/self/exe");
    let argv = [word, place].map(|word| CString::new(word).unwrap_or_default());
    sys::spawn(&own, &argv, &[], &[]).map_err(|error| Failure(words(error)))
}

/// Two counts of such a process, in a file that it writes and the one that started it reads.
#[derive(Debug)]
pub(crate) struct Counts(File);

impl Counts {
    /// Those of a process to be started, whose files' names begin with `place`: none so far.
    pub(crate) fn none(place: &str) -> Result<Self, Failure> {
        let file = format!("{place}.counts");
        fs::write(&file, [0; 16]).doing(&file)?;
        File::open(&file).doing(&file).map(Self)
    }

    /// The process' own, to be written.
    pub(crate) fn own(place: &str) -> Result<Self, Failure> {
        let file = format!("{place}.counts");
        File::options().write(true).open(&file).doing(&file).map(Self)
    }

    /// Both; 0 of what cannot be read.
    pub(crate) fn read(&self) -> [u64; 2] {
        [0, 8].map(|at| {
            let mut word = [0; 8];
            self.0.read_at(&mut word, at).map_or(0, |_| u64::from_ne_bytes(word))
        })
    }

    /// Writes both at once.
    pub(crate) fn write(&self, counts: [u64; 2]) -> Result<(), Errno> {
        let words = counts.map(u64::to_ne_bytes).concat();
        self.0.write_all_at(&words, 0).map_err(|_| Errno::IO)
    }
}

/// What the process is to do, as it finds it in a file.
pub(crate) fn task<T: DeserializeOwned>(place: &str) -> Result<T, Failure> {
    let file = format!("{place}.json");
    serde_json::from_slice(&fs::read(&file).doing(&file)?).doing(&file)
}
