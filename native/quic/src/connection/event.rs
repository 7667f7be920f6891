//! What happens on a connection, and its numbers.

use std::time::Duration;

use quinn_proto::{ConnectionError, Dir, StreamId};

/// Something happened on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Connected {
        /// Whether the server took 0-RTT data; if a client sent some and it was not taken, its
        /// streams are gone and have to be opened again.
        early_data_accepted: bool,
    },
    /// The peer opened a stream.
    Opened(StreamId),
    /// `read` has news.
    Readable(StreamId),
    /// Little is left to send on a stream: it can take more.
    Writable(StreamId),
    /// All of a finished stream was acknowledged.
    Sent(StreamId),
    /// The peer wants no more of a stream, with this code. The stream was reset with it.
    Stopped(StreamId, u64),
    /// A stream's [`Source`] has failed, in words; nothing more is sent on the stream, which is to be
    /// reset.
    Failed(StreamId, String),
    /// More streams of a kind can be opened.
    Available(Dir),
    /// The connection is over.
    Closed(Close),
}

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Close {
    /// This side closed it.
    Local,
    /// The peer's application closed it, with this code.
    Application {
        /// The application protocol's error code.
        code: u64,
        /// In words.
        reason: String,
    },
    /// Nothing came for as long as the idle timeout.
    TimedOut,
    /// An error of the transport, of either side, or of TLS.
    Transport(String),
}

impl std::fmt::Display for Close {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Local => f.write_str("closed"),
            Self::Application { code, reason } if reason.is_empty() => {
                write!(f, "closed by the peer with code {code:#x}")
            }
            Self::Application { code, reason } => {
                write!(f, "closed by the peer with code {code:#x}: {reason}")
            }
            Self::TimedOut => f.write_str("nothing came until the idle timeout"),
            Self::Transport(reason) => f.write_str(reason),
        }
    }
}

/// Numbers of a connection at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// The congestion window in bytes.
    pub window: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// The smoothed round-trip time; zero before the first sample.
    pub smoothed_rtt: Duration,
    /// The least round-trip time.
    pub min_rtt: Duration,
    /// Bytes that the path took in a least round-trip time lately, for Careful Resume; none before a
    /// whole round trip.
    pub capacity: Option<u64>,
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Of these, packets that were acknowledged after all.
    pub spurious_losses: u64,
}

impl From<ConnectionError> for Close {
    fn from(error: ConnectionError) -> Self {
        match error {
            ConnectionError::LocallyClosed => Close::Local,
            ConnectionError::TimedOut => Close::TimedOut,
            ConnectionError::ApplicationClosed(close) => Close::Application {
                code: close.error_code.into(),
                reason: String::from_utf8_lossy(&close.reason).into_owned(),
            },
            other => Close::Transport(other.to_string()),
        }
    }
}
