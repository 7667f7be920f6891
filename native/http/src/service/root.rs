use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;

/// How paths are followed.
const RESOLVE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

/// A directory with the files that clients may have.
///
/// Nothing leads out of it: the kernel follows no symbolic link to elsewhere, nor an absolute one
/// (RESOLVE_BENEATH of openat2(2)).
#[derive(Debug)]
pub(super) struct Root(OwnedFd);

/// A file, and what it was when it was opened.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) file: File,
    pub(super) size: u64,
    pub(super) changed: SystemTime,
}

impl Root {
    /// Opens the directory.
    ///
    /// # Errors
    /// There is none, or the kernel has no openat2(2).
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(path, flags, Mode::empty())?;
        openat2(&root, ".", flags, Mode::empty(), RESOLVE)?;
        Ok(Self(root))
    }

    /// What there is at a path: a regular file, or a directory with an `index.html`.
    ///
    /// # Errors
    /// The kernel is short of descriptors or memory, or the disk fails.
    pub(super) fn locate(&self, path: &Path) -> io::Result<Option<Located>> {
        Ok(match self.look(path)? {
            Looked::File => Some(Located { file: path.to_path_buf(), is_directory: false }),
            Looked::Directory => {
                let file = path.join("index.html");
                let is_there = self.is_file(&file)?;
                is_there.then_some(Located { file, is_directory: true })
            }
            Looked::Nothing => None,
        })
    }

    /// Whether there is a regular file.
    ///
    /// # Errors
    /// As of [`locate`](Self::locate).
    pub(super) fn is_file(&self, path: &Path) -> io::Result<bool> {
        Ok(self.look(path)? == Looked::File)
    }

    /// What there is, without opening it: to open a device may do something, and to open a FIFO
    /// waits for another program.
    fn look(&self, path: &Path) -> io::Result<Looked> {
        let Some(there) = self.try_open(path, OFlags::PATH)? else { return Ok(Looked::Nothing) };
        let kind = File::from(there).metadata()?.file_type();
        Ok(match (kind.is_file(), kind.is_dir()) {
            (true, _) => Looked::File,
            (_, true) => Looked::Directory,
            _ => Looked::Nothing,
        })
    }

    /// Opens a regular file; none if it is gone, or not for this program to read.
    ///
    /// # Errors
    /// As of [`locate`](Self::locate).
    pub(super) fn read(&self, path: &Path) -> io::Result<Option<Found>> {
        // Should it have become something else meanwhile, opening it does not wait.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let Some(file) = self.try_open(path, flags)?.map(File::from) else { return Ok(None) };
        let about = file.metadata()?;
        let (size, changed) = (about.len(), about.modified()?);
        Ok(about.is_file().then_some(Found { file, size, changed }))
    }

    fn try_open(&self, path: &Path, flags: OFlags) -> io::Result<Option<OwnedFd>> {
        match openat2(self.0.as_fd(), path, flags | OFlags::CLOEXEC, Mode::empty(), RESOLVE) {
            Ok(file) => Ok(Some(file)),
            Err(error) if is_shortage(error) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }
}

/// Where a file is, relative to the root.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) file: PathBuf,
    /// It is the index of the directory that was asked for.
    pub(super) is_directory: bool,
}

/// What a path leads to.
#[derive(PartialEq, Eq)]
enum Looked {
    Nothing,
    File,
    Directory,
}

/// Errors of openat2(2) that say nothing of whether there is a file.
fn is_shortage(error: Errno) -> bool {
    matches!(
        error,
        Errno::AGAIN | Errno::INTR | Errno::IO | Errno::MFILE | Errno::NFILE | Errno::NOMEM
    )
}
