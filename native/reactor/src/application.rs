use std::io;
use std::time::Instant;

use crate::{Reactor, Ready};

/// A program of one thread: it reacts to what is ready, then sends what is due.
pub trait Application {
    /// What can end it.
    type Error: From<io::Error>;

    /// A registered file descriptor is ready.
    ///
    /// # Errors
    /// The program cannot go on.
    fn ready(&mut self, reactor: &Reactor, now: Instant, ready: Ready) -> Result<(), Self::Error>;

    /// Everything that was ready has been told, or a deadline has come: act.
    ///
    /// # Errors
    /// The program cannot go on.
    fn turn(&mut self, reactor: &Reactor, now: Instant) -> Result<(), Self::Error>;

    /// When it wants its next turn if nothing becomes ready before.
    fn deadline(&self) -> Option<Instant>;

    /// Whether it is done.
    fn finished(&self) -> bool;
}

/// Runs a program to its end.
///
/// # Errors
/// Those of the program, and a failing epoll.
pub fn run<A: Application>(reactor: &mut Reactor, application: &mut A) -> Result<(), A::Error> {
    let mut ready = Vec::new();
    let mut now = Instant::now();
    application.turn(reactor, now)?;
    while !application.finished() {
        reactor.wait(application.deadline(), &mut ready)?;
        now = Instant::now();
        for &ready in &ready {
            application.ready(reactor, now, ready)?;
        }
        application.turn(reactor, now)?;
    }
    Ok(())
}
