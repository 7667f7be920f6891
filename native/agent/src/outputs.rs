//! What programs print: kept in memory while they run, bounded, and copied to the run's directory at the end.
//!
//! A file of the host would take what a program prints into the lab's memory until the file is closed, and a
//! program that prints without end would take all of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::statvfs;
use rustix::mount::{MountFlags, mount, mount_bind};

use crate::failure::{Doing, Failure};
use crate::files::RUN_DIRECTORY;

/// Every root tree of a host shows `/lab`.
const PLACE: &str = "/lab/output";
const LIMIT_MIB: u64 = 64;
/// So much stays of each file if the limit was reached.
const EXCERPT_BYTES: u64 = 1 << 20;

/// Make the place, before the first program is started.
pub(crate) fn make() -> Result<(), Failure> {
    fs::create_dir_all(PLACE).doing(PLACE)?;
    let size = std::ffi::CString::new(format!("size={LIMIT_MIB}m")).doing(PLACE)?;
    mount("tmpfs", PLACE, "tmpfs", MountFlags::empty(), size.as_c_str()).doing(PLACE)
}

/// In a mount namespace whose run's directory is one below that, show what is printed there in place of all.
pub(crate) fn confine(directory: &str) -> Result<(), Failure> {
    mount_bind(place_of(directory), PLACE).doing(PLACE)
}

/// Where a program prints to that finds the run's directory, or one in it, under a name.
pub(crate) fn file(directory: &str, name: &str) -> String {
    format!("{}/{name}", place_of(directory))
}

/// Make the place for programs that print to a directory of the run.
pub(crate) fn prepare(directory: &str) -> Result<(), Failure> {
    let place = place_of(directory);
    fs::create_dir_all(&place).doing(&place)
}

fn place_of(directory: &str) -> String {
    format!("{PLACE}{}", directory.strip_prefix(RUN_DIRECTORY).unwrap_or_default())
}

/// That programs printed more than is kept, and which one the most; nothing if they did not.
pub(crate) fn excess() -> Result<Option<String>, Failure> {
    let about = statvfs(PLACE).doing(PLACE)?;
    if about.f_bfree > 0 {
        return Ok(None);
    }
    let size = |path: &PathBuf| path.symlink_metadata().map_or(0, |about| about.size());
    let largest = files(Path::new(PLACE)).into_iter().max_by_key(size);
    let name = largest.as_deref().and_then(Path::file_stem).unwrap_or_default().to_string_lossy();
    Ok(Some(format!(
        "{name} printed too much: a run keeps {LIMIT_MIB} MiB of what its programs print"
    )))
}

/// Copy all to the run's directory; of too much, the beginnings.
pub(crate) fn keep() -> Result<(), Failure> {
    let most = if excess()?.is_some() { EXCERPT_BYTES } else { u64::MAX };
    for file in files(Path::new(PLACE)) {
        let below = file.strip_prefix(PLACE).unwrap_or(&file);
        let target = Path::new(RUN_DIRECTORY).join(below);
        copy(&file, &target, most).doing(target.display())?;
    }
    Ok(())
}

fn copy(file: &Path, target: &Path, most: u64) -> io::Result<()> {
    let from = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(file)?;
    let mut to =
        File::options().append(true).create(true).custom_flags(libc::O_NOFOLLOW).open(target)?;
    io::copy(&mut from.take(most), &mut to).map(drop)
}

/// The files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files(&entry.path())),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found.sort_unstable();
    found
}
