//! `headway-tcp-pep`: a performance-enhancing proxy (RFC 3135) that splits TCP connections.
//!
//! It is transparent: a client connects to the server's address, the server is connected to from
//! the client's, and neither is told that two connections carry what it sends. PEPsal is the model
//! (Caini, Firrincieli and Lacamera, "PEPsal: a Performance Enhancing Proxy designed for TCP
//! satellite connections", VTC 2006).

mod connection;
mod flow;
mod half;
mod limits;
mod log;
mod options;
mod pep;
mod socket;
mod vessel;

use std::process::ExitCode;

use clap::Parser;
use headway_reactor::{Reactor, run, say};

use crate::options::Options;
use crate::pep::{Pep, StartError};

fn main() -> ExitCode {
    let options = Options::parse();
    match relay(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say!("headway-tcp-pep: {error}");
            ExitCode::FAILURE
        }
    }
}

fn relay(options: &Options) -> Result<(), StartError> {
    let mut reactor = Reactor::new()?;
    let mut pep = Pep::start(options, &reactor)?;
    Ok(run(&mut reactor, &mut pep)?)
}
