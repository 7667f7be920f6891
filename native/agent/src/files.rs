//! Files that a round leaves: received bodies, and what programs logged of QUIC connections.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use ring::digest::{Context, SHA256};

use crate::failure::{Doing, Failure};
use crate::outcome::Body;

/// In a run's directory: a directory for each host, which holds its programs' qlog files.
const QLOG_DIRECTORY: &str = "qlog";
const BLOCK_BYTES: usize = 1 << 20;

/// Size and SHA-256 of a file.
pub(crate) fn body(path: &str) -> Result<Body, Failure> {
    let mut file = File::open(path).doing(path)?;
    let (mut digest, mut size) = (Context::new(&SHA256), 0);
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = file.read(&mut block).doing(path)?;
        if read == 0 {
            break;
        }
        digest.update(&block[..read]);
        size += read as u64;
    }
    let mut sha256 = String::new();
    for byte in digest.finish().as_ref() {
        let _ = write!(sha256, "{byte:02x}");
    }
    Ok(Body { path: path.to_owned(), size, sha256 })
}

/// Move the qlogs that were begun since the last call from the directory of all rounds to that of one.
///
/// A connection that is still open goes on in its file.
pub(crate) fn take_qlogs(shared: &str, directory: &str) -> Result<(), Failure> {
    let logs = Path::new(shared).join(QLOG_DIRECTORY);
    for host in names(&logs) {
        let target = Path::new(directory).join(QLOG_DIRECTORY).join(&host);
        fs::create_dir_all(&target).doing(target.display())?;
        for name in names(&logs.join(&host)) {
            fs::rename(logs.join(&host).join(&name), target.join(&name)).doing(&name)?;
        }
    }
    Ok(())
}

/// What is in a directory, sorted; nothing if there is none.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> std::path::PathBuf {
        let directory =
            std::env::temp_dir().join(format!("headway-agent-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).expect("a scratch directory");
        directory
    }

    #[test]
    fn a_body_is_told_by_size_and_digest() {
        let directory = scratch("body");
        let file = directory.join("abc");
        fs::write(&file, "abc").expect("written");
        let path = file.display().to_string();
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".into();
        assert_eq!(body(&path).expect("read"), Body { path, size: 3, sha256 });
        fs::remove_dir_all(directory).expect("removed");
    }

    #[test]
    fn qlogs_belong_to_the_round_that_began_them() {
        let directory = scratch("qlogs");
        let (shared, first) = (directory.display().to_string(), directory.join("first"));
        let logs = directory.join("qlog/client");
        fs::create_dir_all(&logs).expect("made");
        fs::write(logs.join("a.sqlog"), "1").expect("written");
        take_qlogs(&shared, &first.display().to_string()).expect("taken");
        assert_eq!(names(&first.join("qlog/client")), ["a.sqlog"]);
        assert!(names(&logs).is_empty());
        fs::remove_dir_all(directory).expect("removed");
    }
}
