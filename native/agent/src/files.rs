//! Files that a round leaves: what programs logged of QUIC connections.

use std::fs;
use std::path::Path;

use crate::failure::{Doing, Failure};

/// The boot's directory on the host.
pub(crate) const RUN_DIRECTORY: &str = "/lab/run";
/// In a run's directory: a directory for each host, which holds its programs' qlog files.
const QLOG_DIRECTORY: &str = "qlog";

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
