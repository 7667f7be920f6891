//! One thread that waits: for sockets, for a moment, for signals.
//!
//! Headway's endpoints run in labs, in virtual time, where a system call costs wall time and a late
//! timer is a wrong result. Hence no asynchronous runtime: one epoll and one timer that is
//! exact to the nanosecond, one reading of the clock per turn and one per new deadline,
//! level-triggered readiness.

mod accept;
mod addresses;
mod application;
mod budget;
mod clock;
mod cpu;
mod descriptors;
mod log;
mod patience;
mod poll;
mod say;
mod signals;
mod timer;
mod udp;

pub use accept::Acceptor;
pub use addresses::Addresses;
pub use application::{Application, run};
pub use budget::{Budget, Memory};
pub use clock::Clock;
pub use cpu::CpuCost;
pub use descriptors::{TooFewDescriptors, need_descriptors, raise_descriptors};
pub use log::Log;
pub use patience::{Looks, Patience};
pub use poll::{Interest, Reactor, Ready, Token};
#[doc(hidden)]
pub use say::say_line;
pub use signals::{Signal, Signals};
pub use udp::{Datagram, MAX_DATAGRAM, Route, UdpSocket};
