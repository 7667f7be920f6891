//! `headway-server`: a server of files, of generated bodies or of a recorded site over HTTP/1.1,
//! HTTP/2 and HTTP/3.

mod access_log;
mod context;
mod exchanges;
mod header_log;
mod limits;
mod listener;
mod options;
mod patience;
mod quic;
mod server;
mod talks;
mod tcp;
mod thought;
mod work;

use std::process::ExitCode;

use headway_reactor::{Reactor, run, say};

use crate::options::{Options, StartError};
use crate::server::Server;

fn main() -> ExitCode {
    let options = Options::from_command_line();
    match serve(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say!("headway-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(options: &Options) -> Result<(), StartError> {
    let mut reactor = Reactor::new()?;
    let mut server = Server::start(options, &reactor)?;
    Ok(run(&mut reactor, &mut server)?)
}
