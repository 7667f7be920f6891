use std::io::{self, Read};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::low_level::pipe;

use crate::{Interest, Reactor, Token};

/// A signal that Headway's programs react to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM or SIGINT: end, with everything written.
    End,
    /// SIGUSR1: do what the program was told to do on command (migrate).
    Act,
}

/// Signals as file descriptors.
#[derive(Debug)]
pub struct Signals {
    end: UnixStream,
    act: UnixStream,
    end_token: Token,
    act_token: Token,
}

impl Signals {
    /// Catches signals from now on and has a reactor wait for them.
    ///
    /// # Errors
    /// The handlers cannot be installed.
    pub fn register(reactor: &Reactor, end_token: Token, act_token: Token) -> io::Result<Self> {
        let (end, end_writer) = UnixStream::pair()?;
        let (act, act_writer) = UnixStream::pair()?;
        pipe::register(SIGTERM, end_writer.try_clone()?)?;
        pipe::register(SIGINT, end_writer)?;
        pipe::register(SIGUSR1, act_writer)?;
        for (stream, token) in [(&end, end_token), (&act, act_token)] {
            stream.set_nonblocking(true)?;
            reactor.register(stream, token, Interest::Read)?;
        }
        Ok(Self { end, act, end_token, act_token })
    }

    /// The signal that a token stands for, if it is one of these; it will not be told again.
    pub fn take(&mut self, token: Token) -> Option<Signal> {
        let (stream, signal) = if token == self.end_token {
            (&mut self.end, Signal::End)
        } else if token == self.act_token {
            (&mut self.act, Signal::Act)
        } else {
            return None;
        };
        let mut bytes = [0; 16];
        // Level-triggered: what is left over wakes the reactor again.
        let read = stream.read(&mut bytes).unwrap_or(0);
        (read > 0).then_some(signal)
    }
}
