//! `headway-perf`: bulk flows over QUIC, TLS over TCP and TCP, and what became of them over time.

mod answer;
mod channel;
mod client;
mod failure;
mod flow;
mod limits;
mod options;
mod progress;
mod protocol;
mod report;
mod series;
mod server;
mod tls;

use std::process::ExitCode;

use clap::Parser;
use headway_reactor::say;

use crate::failure::StartError;
use crate::options::{Command, Options};

/// Exit status for options that are wrong; clap's own.
const WRONG_OPTIONS: u8 = 2;

fn main() -> ExitCode {
    let result = match Options::parse().command {
        Command::Server(options) => server::serve(&options).map(|()| true),
        Command::Client(options) => client::measure(&options),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say!("headway-perf: {error}");
            match error {
                StartError::Knob(_) | StartError::Options(_) => WRONG_OPTIONS.into(),
                _ => ExitCode::FAILURE,
            }
        }
    }
}
