//! `headway-quic-pep`: a performance-enhancing proxy that splits QUIC connections.

mod log;
mod options;
mod port;
mod program;

use std::process::ExitCode;

use clap::Parser;
use headway_reactor::{Reactor, run, say};

use crate::options::{Options, StartError};
use crate::program::Program;

fn main() -> ExitCode {
    let options = Options::parse();
    match relay(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say!("headway-quic-pep: {error}");
            ExitCode::FAILURE
        }
    }
}

fn relay(options: &Options) -> Result<(), StartError> {
    let mut reactor = Reactor::new()?;
    let mut program = Program::start(options, &reactor)?;
    Ok(run(&mut reactor, &mut program)?)
}
