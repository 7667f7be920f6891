use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use crate::say;

/// What waits for a reader, at most, in bytes.
const MAX_WAITING_BYTES: usize = 1 << 20;
/// What a pipe that has any room takes without waiting (PIPE_BUF).
const PIPE_BYTES: usize = 4096;

/// JSON lines for a file, or for whoever reads the standard output, which never wait: what nobody reads
/// is dropped, and counted.
#[derive(Debug)]
pub struct Log {
    /// Before messages on the standard error.
    name: &'static str,
    start: Instant,
    out: Option<File>,
    is_regular: bool,
    waiting: Vec<u8>,
    dropped: u64,
}

impl Log {
    /// A log to a file, to the standard output (`-`), or nowhere.
    ///
    /// # Arguments
    /// * `name` - of program and log, for messages on the standard error.
    /// * `start` - of the program, from which the log counts seconds.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn open(name: &'static str, path: Option<&Path>, start: Instant) -> io::Result<Self> {
        let out = match path {
            None => None,
            Some(path) if path == Path::new("-") => {
                Some(File::from(io::stdout().as_fd().try_clone_to_owned()?))
            }
            Some(path) => Some(File::create(path)?),
        };
        let is_regular = match &out {
            Some(file) => file.metadata()?.is_file(),
            None => false,
        };
        Ok(Self { name, start, out, is_regular, waiting: Vec::new(), dropped: 0 })
    }

    /// Seconds since the program's start; 0 if it was before.
    #[must_use]
    pub fn seconds(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.start).as_secs_f64()
    }

    /// Whether lines go anywhere.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.out.is_some()
    }

    /// Writes a line, which is made only if it goes anywhere. If nothing can be written any more, that is said
    /// once on the standard error.
    pub fn write<T: Serialize>(&mut self, entry: impl FnOnce(&Self) -> T) {
        if self.out.is_none() {
            return;
        }
        let line = serde_json::to_vec(&entry(self)).unwrap_or_default();
        if !self.waiting.is_empty() {
            self.flush();
        }
        if self.waiting.len() + line.len() >= MAX_WAITING_BYTES {
            self.dropped += 1;
            return;
        }
        self.waiting.extend_from_slice(&line);
        self.waiting.push(b'\n');
        self.flush();
    }

    /// Writes what waits, as far as that is possible at once.
    pub fn flush(&mut self) {
        let Some(out) = &mut self.out else { return };
        let mut written = 0;
        let result = loop {
            let rest = &self.waiting[written..];
            if rest.is_empty() {
                break Ok(());
            }
            match write_some(out, rest, self.is_regular) {
                Ok(0) => break Ok(()),
                Ok(bytes) => written += bytes,
                Err(error) => break Err(error),
            }
        };
        self.waiting.drain(..written);
        if let Err(error) = result {
            say!("{}: {error}", self.name);
            self.out = None;
        }
    }

    /// Writes what still can be, and says on the standard error how many lines were dropped.
    pub fn end(&mut self) {
        self.flush();
        if self.out.is_none() {
            return;
        }
        let unread = self.waiting.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let dropped = self.dropped + unread;
        if dropped > 0 {
            say!("{}: {dropped} lines were dropped, as nobody read them", self.name);
        }
        self.out = None;
    }
}

/// Writes what does not have to wait.
fn write_some(out: &mut File, bytes: &[u8], is_regular: bool) -> io::Result<usize> {
    if is_regular {
        return out.write(bytes);
    }
    let mut polled = [PollFd::new(out, PollFlags::OUT)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut polled, Some(&at_once)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(0),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    match out.write(&bytes[..bytes.len().min(PIPE_BYTES)]) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        result => result,
    }
}
