//! `headway-dns`: a resolver that answers from a file, and tells what it was asked.

mod answer;
mod https;
mod idle;
mod options;
mod query;
mod server;
mod stream;
mod zone;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use headway_http::tls::TlsError;
use headway_reactor::say;

use crate::options::Options;
use crate::zone::ZoneError;

/// Exit status for options that are wrong; clap's own.
const WRONG_OPTIONS: u8 = 2;

/// Why the program cannot start or go on.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// The zone file cannot be read.
    #[error("{}: {source}", path.display())]
    Unread {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The zone file is wrong.
    #[error("{}: {source}", path.display())]
    Zone {
        /// Which.
        path: PathBuf,
        /// Why.
        source: ZoneError,
    },
    /// An address cannot be used.
    #[error("cannot use {0}: {1}")]
    Bind(SocketAddr, #[source] io::Error),
    /// Certificate or key are of no use.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The report cannot be written.
    #[error("{}: {source}", path.display())]
    Report {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The reactor fails.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn main() -> ExitCode {
    let Err(failure) = server::serve(&Options::parse()) else { return ExitCode::SUCCESS };
    say!("headway-dns: {failure}");
    match failure {
        Failure::Zone { .. } | Failure::Unread { .. } | Failure::Tls(_) => WRONG_OPTIONS.into(),
        _ => ExitCode::FAILURE,
    }
}
