use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use headway_trace::compact::Compact;
use headway_trace::qlog::{Header, Qlog, Vantage};
use quinn_proto::Side;

use super::Subject;
use crate::config::Config;

/// A connection's trace could not be begun.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the trace {}: {error}", path.display())]
pub struct TraceFailed {
    path: PathBuf,
    #[source]
    error: io::Error,
}

/// The qlog file, if one is wanted.
pub(super) fn qlog(config: &Config, subject: &Subject) -> Result<Option<Qlog<File>>, TraceFailed> {
    let Some(directory) = &config.qlog_directory else { return Ok(None) };
    let vantage = match subject.side {
        Side::Client => Vantage::Client,
        Side::Server => Vantage::Server,
    };
    let header = Header {
        title: "Headway",
        program: "headway-quic",
        vantage,
        original_destination_cid: &subject.original_cid,
        start: SystemTime::now(),
    };
    Ok(Some(Qlog::new(create(directory, subject, "sqlog")?, &header)))
}

/// The compact trace's file, if one is wanted.
pub(super) fn compact(
    config: &Config,
    subject: &Subject,
) -> Result<Option<Compact<File>>, TraceFailed> {
    let Some(directory) = &config.trace_directory else { return Ok(None) };
    Ok(Some(Compact::new(create(directory, subject, "hwtrace")?, SystemTime::now())))
}

/// Creates a file, and the directory if need be.
fn create(directory: &Path, subject: &Subject, extension: &str) -> Result<File, TraceFailed> {
    let side = match subject.side {
        Side::Client => "client",
        Side::Server => "server",
    };
    let path = directory.join(format!("{}_{side}.{extension}", subject.original_cid));
    fs::create_dir_all(directory)
        .and_then(|()| File::create(&path))
        .map_err(|error| TraceFailed { path, error })
}
