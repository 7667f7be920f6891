//! `headway-call`: datagrams at a constant rate, as a call sends them, and how late they come.

mod client;
mod message;
mod options;
mod receiver;
mod report;
mod sender;
mod server;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use headway_reactor::say;

use crate::options::{Command, Options};

/// Exit status for options that are wrong; clap's own.
const WRONG_OPTIONS: u8 = 2;

/// Why the program cannot start or go on.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// Options do not go together.
    #[error("{0}")]
    Options(&'static str),
    /// An address cannot be used.
    #[error("cannot use {0}: {1}")]
    Bind(SocketAddr, #[source] io::Error),
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    Report {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The server never answered.
    #[error("{0} does not answer")]
    Silent(SocketAddr),
    /// A signal ended the program.
    #[error("interrupted")]
    Interrupted,
    /// The reactor fails.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn main() -> ExitCode {
    let result = match Options::parse().command {
        Command::Server(options) => server::serve(&options),
        Command::Client(options) => client::call(&options),
    };
    let Err(failure) = result else { return ExitCode::SUCCESS };
    say!("headway-call: {failure}");
    match failure {
        Failure::Options(_) => WRONG_OPTIONS.into(),
        _ => ExitCode::FAILURE,
    }
}
