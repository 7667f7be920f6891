//! Bodies that clients receive into files: their sizes and digests.
//!
//! The files are in memory, below `/tmp`. Where they are large, what has been digested is given back while
//! more comes, so that a body may be larger than the lab's memory. That happens when a sample is taken
//! anyway, and moves nothing.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};

use ring::digest::{Context, SHA256};
use rustix::fs::{CWD, FallocateFlags, Mode, OFlags, fallocate, fstatvfs, openat};
use rustix::io::Errno;

use crate::failure::{Doing, Failure};
use crate::orders::Received;
use crate::outcome::Body;
use crate::views::Views;

const PLACE: &str = "/tmp/";
const BLOCK_BYTES: usize = 1 << 20;
/// So much may lie in memory before any of it is given back.
const KEPT_BYTES: u64 = 64 << 20;
/// So much at the end of a large file stays: its program may still look at it.
const TAIL_BYTES: u64 = 4 << 20;

/// All bodies of a round.
#[derive(Debug)]
pub(crate) struct Bodies<'a> {
    each: Vec<Receiving<'a>>,
}

/// A body that is being received, in the directory that is its host's `/tmp`.
struct Receiving<'a> {
    received: &'a Received,
    directory: OwnedFd,
    digested: Digested,
}

impl std::fmt::Debug for Receiving<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Receiving").field(&self.received.path).finish()
    }
}

/// What has been digested of a file, which is known by its number.
struct Digested {
    inode: u64,
    size: u64,
    context: Context,
}

impl Digested {
    fn nothing() -> Self {
        Self { inode: 0, size: 0, context: Context::new(&SHA256) }
    }

    /// Digest what is new up to an end; a file that was replaced or cut begins anew.
    fn add(&mut self, file: &File, end: u64) -> io::Result<()> {
        let about = file.metadata()?;
        if about.ino() != self.inode || about.size() < self.size {
            *self = Self { inode: about.ino(), ..Self::nothing() };
        }
        let mut block = vec![0; BLOCK_BYTES];
        while self.size < end {
            let wanted = usize::try_from(end - self.size).unwrap_or(BLOCK_BYTES).min(BLOCK_BYTES);
            let count = file.read_at(&mut block[..wanted], self.size)?;
            if count == 0 {
                break;
            }
            self.context.update(&block[..count]);
            self.size += count as u64;
        }
        Ok(())
    }
}

impl<'a> Bodies<'a> {
    /// Those that a round is to leave, of which none are there yet.
    pub(crate) fn new(received: &'a [Received], views: &Views) -> Result<Self, Failure> {
        let begun = received.iter().map(|received| {
            let directory = views.inside(&received.namespace, || {
                let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
                openat(CWD, PLACE, flags, Mode::empty()).doing(PLACE)
            })?;
            Ok(Receiving { received, directory, digested: Digested::nothing() })
        });
        Ok(Self { each: begun.collect::<Result<_, _>>()? })
    }

    /// Give back the memory of what has come, if that is much.
    pub(crate) fn give_back(&mut self) -> Result<(), Failure> {
        for one in &mut self.each {
            let about = fstatvfs(&one.directory).doing(PLACE)?;
            if (about.f_blocks - about.f_bfree) * about.f_frsize < KEPT_BYTES {
                continue;
            }
            let Some(file) = one.open()? else { continue };
            let end = file.metadata().doing(&one.received.path)?.size().saturating_sub(TAIL_BYTES);
            one.digested.add(&file, end).doing(&one.received.path)?;
            if one.digested.size > 0 {
                let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                fallocate(&file, hole, 0, one.digested.size).doing(&one.received.path)?;
            }
        }
        Ok(())
    }

    /// What came in the end; bodies without a file are left out.
    pub(crate) fn conclude(self) -> Result<Vec<Body>, Failure> {
        let mut bodies = Vec::new();
        for mut one in self.each {
            let Some(file) = one.open()? else { continue };
            one.digested.add(&file, u64::MAX).doing(&one.received.path)?;
            let mut sha256 = String::new();
            for byte in one.digested.context.finish().as_ref() {
                let _ = write!(sha256, "{byte:02x}");
            }
            let Received { namespace, path } = one.received.clone();
            bodies.push(Body { namespace, path, size: one.digested.size, sha256 });
        }
        Ok(bodies)
    }
}

impl Receiving<'_> {
    /// Open the file, to which holes can be made; nothing if there is none, or what is there is no file.
    fn open(&self) -> Result<Option<File>, Failure> {
        let path = &self.received.path;
        let below =
            path.strip_prefix(PLACE).ok_or_else(|| Failure(format!("{path}: not in /tmp")))?;
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match openat(&self.directory, below, flags, Mode::empty()) {
            Ok(file) => {
                let file = File::from(file);
                let is_file = file.metadata().doing(path)?.is_file();
                Ok(is_file.then_some(file))
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ISDIR | Errno::NXIO) => {
                Ok(None)
            }
            Err(error) => Err(error).doing(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn hex(context: &Digested) -> String {
        let digest = context.context.clone().finish();
        digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn a_file_is_digested_piece_by_piece_and_anew_if_it_was_cut() {
        let place = std::env::temp_dir().join(format!("headway-bodies-{}", std::process::id()));
        fs::write(&place, "abXX").unwrap();
        let file = File::options().read(true).write(true).open(&place).unwrap();
        let mut digested = Digested::nothing();
        digested.add(&file, 2).unwrap();
        file.write_all_at(b"c", 2).unwrap();
        file.set_len(3).unwrap();
        digested.add(&file, u64::MAX).unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((digested.size, hex(&digested).as_str()), (3, abc));
        file.set_len(0).unwrap();
        digested.add(&file, u64::MAX).unwrap();
        file.write_all_at(b"abc", 0).unwrap();
        digested.add(&file, u64::MAX).unwrap();
        assert_eq!((digested.size, hex(&digested).as_str()), (3, abc));
        fs::remove_file(place).unwrap();
    }
}
