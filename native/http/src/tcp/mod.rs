//! TCP connections on the reactor, with or without TLS, as byte pipes that never block.

mod held;
mod lowat;
mod options;
mod pipe;
mod secured;

pub use headway_sockopt::TcpInfo;
pub use held::{HeldBytes, Release};
pub use options::{SocketOptions, listen};
pub use pipe::{Milestones, Pipe, PipeError, Reading};
pub use secured::{Security, TlsSide};
