use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use headway_http::tcp::PipeError;
use headway_http::tls::TlsError;
use headway_quic::knobs::KnobError;
use headway_quic::{Close, ConnectFailed};
use headway_reactor::TooFewDescriptors;

/// Why the program cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// A knob of QUIC is wrong.
    #[error("--quic: {0}")]
    Knob(#[from] KnobError),
    /// Options do not go together.
    #[error("{0}")]
    Options(&'static str),
    /// The options need more open files than there may be.
    #[error("{0}; --max-connections is most of them")]
    Descriptors(#[from] TooFewDescriptors),
    /// An address cannot be listened on.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// Certificates or keys are of no use.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A file cannot be written.
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

/// Why a flow failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The TCP connection did.
    #[error(transparent)]
    Pipe(#[from] PipeError),
    /// No QUIC connection could be begun.
    #[error(transparent)]
    Begin(#[from] ConnectFailed),
    /// The QUIC connection was not established.
    #[error("cannot connect: {0}")]
    Connect(Close),
    /// The QUIC connection ended.
    #[error("connection lost: {0}")]
    Lost(Close),
    /// The peer gave its stream up.
    #[error("the peer gave the stream up with code {0:#x}")]
    Reset(u64),
    /// Less came than was asked for.
    #[error("the server ended after {received} of {wanted} bytes")]
    Short {
        /// Bytes that came.
        received: u64,
        /// Bytes asked for.
        wanted: u64,
    },
    /// More came than was asked for.
    #[error("the server sent {received} bytes of {wanted}")]
    Excess {
        /// Bytes that came.
        received: u64,
        /// Bytes asked for.
        wanted: u64,
    },
    /// The flow's time was over before it had a connection.
    #[error("cannot connect: no connection until the flow's time was over")]
    Late,
    /// The server ended although the client had not.
    #[error("the server ended before it was time")]
    Early,
    /// A limit was met, in words.
    #[error("{0}")]
    Limit(String),
    /// A signal ended the program.
    #[error("interrupted by a signal")]
    Interrupted,
    /// The socket is broken.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Failure {
    /// Whether the peer reset a TCP connection.
    pub(crate) fn is_reset(&self) -> bool {
        matches!(self, Self::Pipe(PipeError::Lost(error)) if error.kind() == io::ErrorKind::ConnectionReset)
    }

    /// Whether there is still a connection, which has to be ended.
    pub(crate) fn leaves_connection(&self) -> bool {
        matches!(
            self,
            Self::Short { .. }
                | Self::Excess { .. }
                | Self::Early
                | Self::Reset(_)
                | Self::Interrupted
        )
    }
}
