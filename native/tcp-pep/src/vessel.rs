use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};

use crate::limits::VESSEL_BYTES;
use crate::options::Copying;

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
    /// An empty one: of memory, too, if the kernel has no more pipes.
    fn new(copying: Copying) -> Self {
        let kind = match copying {
            Copying::Splice => Kind::pipe().unwrap_or_else(|_| Kind::memory()),
            Copying::Memory => Kind::memory(),
        };
        Self { kind, held: 0 }
    }

    fn is_pipe(&self) -> bool {
        matches!(self.kind, Kind::Pipe { .. })
    }

    /// Bytes that it holds.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Reads once from a socket; an empty vessel afterwards means the end.
    fn fill(&mut self, source: &TcpStream) -> io::Result<()> {
        debug_assert_eq!(self.held, 0, "a pipe with bytes may be full, which looks like no input");
        let mut read = self.kind.read(source);
        if self.is_pipe() && is_in_doubt(&read) && source.peek(&mut [0])? > 0 {
            self.kind = Kind::memory();
            read = self.kind.read(source);
        }
        self.held = read?;
        Ok(())
    }

    /// Writes once to a socket.
    pub(crate) fn drain(&mut self, sink: &TcpStream) -> io::Result<()> {
        self.held -= self.kind.write(sink, self.held)?;
        Ok(())
    }
}

impl Kind {
    fn pipe() -> io::Result<Self> {
        let (output, input) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // Refused where users may not have such pipes: a smaller one takes more turns.
        let _ = fcntl_setpipe_size(&input, PIPE_BYTES);
        Ok(Self::Pipe { input, output })
    }

    fn memory() -> Self {
        Self::Memory { bytes: vec![0; VESSEL_BYTES].into(), taken: 0 }
    }

    fn read(&mut self, mut source: &TcpStream) -> io::Result<usize> {
        match self {
            Self::Pipe { input, .. } => {
                Ok(splice(source, None, input, None, VESSEL_BYTES, SpliceFlags::NONBLOCK)?)
            }
            Self::Memory { bytes, taken } => {
                *taken = 0;
                source.read(bytes)
            }
        }
    }

    fn write(&mut self, mut sink: &TcpStream, held: usize) -> io::Result<usize> {
        match self {
            Self::Pipe { output, .. } => {
                Ok(splice(output, None, sink, None, held, SpliceFlags::NONBLOCK)?)
            }
            Self::Memory { bytes, taken } => {
                let written = sink.write(&bytes[*taken..*taken + held])?;
                *taken += written;
                Ok(written)
            }
        }
    }
}

/// The vessels of all connections. Few are in use at a time: most of what a socket receives is
/// taken at once by the other.
#[derive(Debug)]
pub(crate) struct Vessels {
    spare: Vec<Vessel>,
    /// Vessels that connections have.
    lent: usize,
    copying: Copying,
}

impl Vessels {
    /// No vessels yet.
    pub(crate) fn new(copying: Copying) -> Self {
        Self { spare: Vec::new(), lent: 0, copying }
    }

    /// A vessel with what a socket has received, an empty one at the end.
    pub(crate) fn filled(&mut self, source: &TcpStream) -> io::Result<Vessel> {
        let mut vessel = self.spare.pop().unwrap_or_else(|| Vessel::new(self.copying));
        self.lent += 1;
        match vessel.fill(source) {
            Ok(()) => Ok(vessel),
            Err(error) => {
                self.give_back(vessel);
                Err(error)
            }
        }
    }

    /// What vessels of connections may hold, in bytes.
    pub(crate) fn lent_bytes(&self) -> u64 {
        (self.lent * VESSEL_BYTES) as u64
    }

    /// So many vessels are lost with their connection.
    pub(crate) fn lose(&mut self, vessels: usize) {
        self.lent -= vessels;
    }

    /// Takes back an empty vessel.
    pub(crate) fn give_back(&mut self, vessel: Vessel) {
        debug_assert_eq!(vessel.held(), 0, "a vessel goes from connection to connection");
        self.lent -= 1;
        let is_usual = vessel.is_pipe() == (self.copying == Copying::Splice);
        if is_usual && self.spare.len() < SPARE_VESSELS {
            self.spare.push(vessel);
        }
    }
}

/// Whether a socket from which nothing was spliced may nevertheless be read.
///
/// splice(2) never gets past urgent data (RFC 9293, section 3.8.5), and even calls it the end of the
/// stream if the peer has sent everything. Some sandboxes do not have it at all.
fn is_in_doubt(spliced: &io::Result<usize>) -> bool {
    match spliced {
        Ok(length) => *length == 0,
        Err(error) => {
            let errno = Errno::from_io_error(error);
            matches!(errno, Some(Errno::AGAIN | Errno::INVAL | Errno::NOSYS))
        }
    }
}
