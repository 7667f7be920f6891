use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};

use crate::options::Copying;

/// What a vessel takes, at most.
pub(crate) const VESSEL_BYTES: usize = 256 << 10;
/// A pipe refers to the kernel's packets, one in each of its slots, which count 4 KiB each here.
/// Packets may be as small as a segment, hence more slots than full packets would need.
const PIPE_BYTES: usize = 1 << 20;
/// Empty vessels that are kept for later; beyond that they are given back to the kernel.
const SPARE_VESSELS: usize = 64;

/// Holds bytes that one socket has received and another has not taken yet.
#[derive(Debug)]
pub(crate) struct Vessel {
    kind: Kind,
    held: usize,
}

#[derive(Debug)]
enum Kind {
    Pipe { input: OwnedFd, output: OwnedFd },
    Memory { bytes: Box<[u8]>, taken: usize },
}

impl Vessel {
    fn pipe() -> io::Result<Self> {
        let (output, input) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // Refused where users may not have such pipes: a smaller one takes more turns.
        let _ = fcntl_setpipe_size(&input, PIPE_BYTES);
        Ok(Self { kind: Kind::Pipe { input, output }, held: 0 })
    }

    fn memory() -> Self {
        let bytes = vec![0; VESSEL_BYTES].into();
        Self { kind: Kind::Memory { bytes, taken: 0 }, held: 0 }
    }

    fn is_pipe(&self) -> bool {
        matches!(self.kind, Kind::Pipe { .. })
    }

    /// Bytes that it holds.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Reads once from a socket into the empty vessel; afterwards an empty one means the end.
    pub(crate) fn fill(&mut self, source: &TcpStream) -> io::Result<()> {
        debug_assert_eq!(self.held, 0, "a pipe with bytes may be full, which looks like no input");
        self.held = match &mut self.kind {
            Kind::Pipe { input, .. } => {
                splice(source, None, input, None, VESSEL_BYTES, SpliceFlags::NONBLOCK)?
            }
            Kind::Memory { bytes, taken } => {
                *taken = 0;
                (&*source).read(bytes)?
            }
        };
        Ok(())
    }

    /// Writes once to a socket.
    pub(crate) fn drain(&mut self, mut sink: &TcpStream) -> io::Result<()> {
        self.held -= match &mut self.kind {
            Kind::Pipe { output, .. } => {
                splice(output, None, sink, None, self.held, SpliceFlags::NONBLOCK)?
            }
            Kind::Memory { bytes, taken } => {
                let written = sink.write(&bytes[*taken..*taken + self.held])?;
                *taken += written;
                written
            }
        };
        Ok(())
    }
}

/// The vessels of all connections. Few are in use at a time: most of what a socket receives is
/// taken at once by the other.
#[derive(Debug)]
pub(crate) struct Vessels {
    spare: Vec<Vessel>,
    copying: Copying,
}

impl Vessels {
    /// No vessels yet.
    pub(crate) fn new(copying: Copying) -> Self {
        Self { spare: Vec::new(), copying }
    }

    /// A vessel with what a socket has received, an empty one at the end.
    pub(crate) fn filled(&mut self, source: &TcpStream) -> io::Result<Vessel> {
        let mut vessel = self.spare.pop().unwrap_or_else(|| self.new_vessel());
        match vessel.fill(source) {
            Ok(()) if vessel.held > 0 || !vessel.is_pipe() => return Ok(vessel),
            Err(error) if !(vessel.is_pipe() && is_in_doubt(&error)) => {
                self.give_back(vessel);
                return Err(error);
            }
            _ => {}
        }
        if source.peek(&mut [0])? == 0 {
            return Ok(vessel);
        }
        self.give_back(vessel);
        let mut vessel = Vessel::memory();
        vessel.fill(source)?;
        Ok(vessel)
    }

    /// Takes back an empty vessel.
    pub(crate) fn give_back(&mut self, vessel: Vessel) {
        debug_assert_eq!(vessel.held(), 0, "a vessel goes from connection to connection");
        let is_usual = vessel.is_pipe() == (self.copying == Copying::Splice);
        if is_usual && self.spare.len() < SPARE_VESSELS {
            self.spare.push(vessel);
        }
    }

    /// A new vessel: of memory if the kernel has no more pipes.
    fn new_vessel(&self) -> Vessel {
        match self.copying {
            Copying::Splice => Vessel::pipe().unwrap_or_else(|_| Vessel::memory()),
            Copying::Memory => Vessel::memory(),
        }
    }
}

/// Whether a socket from which nothing can be spliced may nevertheless be read.
///
/// splice(2) never gets past urgent data (RFC 9293, section 3.8.5), and even calls it the end of the
/// stream if the peer has sent everything. Some sandboxes do not have it at all.
fn is_in_doubt(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::AGAIN | Errno::INVAL | Errno::NOSYS))
}
