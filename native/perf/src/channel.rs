//! A stream of bytes in both directions, over QUIC or TCP.

use std::time::Instant;

use bytes::Bytes;
use headway_http::tcp::{Pipe, PipeError};
use headway_quic::{Connection, StreamId};

use crate::failure::Failure;
use crate::report::SenderState;

/// When a connection was established.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Established {
    /// TCP's handshake was over, or QUIC's.
    pub(crate) connected: Instant,
    /// TLS's handshake was over, QUIC's included.
    pub(crate) secured: Option<Instant>,
}

impl Established {
    /// Of a QUIC connection, whose handshake is TLS's, too.
    pub(crate) fn quic(at: Instant) -> Self {
        Self { connected: at, secured: Some(at) }
    }
}

/// Bytes that may wait to be sent on a QUIC stream: little, but at least so much.
const LEAST_QUEUE: u64 = 128 << 10;

/// The sending side of a stream of bytes.
pub(crate) trait Channel {
    /// How many bytes may be written now.
    fn room(&mut self) -> usize;

    /// Writes bytes for which there is room.
    fn write(&mut self, data: Bytes) -> Result<(), Failure>;

    /// Ends this side after what was written.
    fn finish(&mut self) -> Result<(), Failure>;

    /// Whether the peer can be told to send no more, without an end of this side.
    fn stops_peers(&self) -> bool;

    /// Bytes that were written and not sent yet.
    fn unsent(&self) -> u64;

    /// The transport's sender now.
    fn sender(&self) -> Option<SenderState>;
}

/// A stream of a QUIC connection.
pub(crate) struct QuicChannel<'a> {
    /// The connection.
    pub(crate) connection: &'a mut Connection,
    /// The stream.
    pub(crate) stream: StreamId,
}

impl Channel for QuicChannel<'_> {
    /// A window's worth waits: less could leave a burst of acknowledgments without data to send.
    fn room(&mut self) -> usize {
        let limit = self.connection.statistics().window.max(LEAST_QUEUE);
        let room = limit.saturating_sub(self.connection.queued(self.stream));
        usize::try_from(room).unwrap_or(usize::MAX)
    }

    fn write(&mut self, data: Bytes) -> Result<(), Failure> {
        self.connection.write(self.stream, data);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.connection.finish(self.stream);
        Ok(())
    }

    fn stops_peers(&self) -> bool {
        true
    }

    fn unsent(&self) -> u64 {
        self.connection.queued(self.stream)
    }

    fn sender(&self) -> Option<SenderState> {
        Some(self.connection.statistics().into())
    }
}

/// A TCP connection, with or without TLS.
pub(crate) struct TcpChannel {
    /// The connection.
    pub(crate) pipe: Pipe,
    /// This side is to end as soon as TLS lets it.
    finishing: bool,
}

impl TcpChannel {
    /// A channel over a pipe.
    pub(crate) fn new(pipe: Pipe) -> Self {
        Self { pipe, finishing: false }
    }

    /// Ends this side if it was to end and TLS's handshake, which was in the way, is over.
    pub(crate) fn settle(&mut self) -> Result<(), PipeError> {
        if self.finishing && self.pipe.is_established() { self.pipe.finish() } else { Ok(()) }
    }

    /// When the connection was established, if it is.
    pub(crate) fn established(&self) -> Option<Established> {
        let milestones = self.pipe.milestones();
        let connected = milestones.connected.filter(|_| self.pipe.is_established())?;
        Some(Established { connected, secured: milestones.secured })
    }
}

impl Channel for TcpChannel {
    fn room(&mut self) -> usize {
        self.pipe.room()
    }

    fn write(&mut self, data: Bytes) -> Result<(), Failure> {
        Ok(self.pipe.write(data)?)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.finishing = true;
        Ok(self.settle()?)
    }

    fn stops_peers(&self) -> bool {
        false
    }

    fn unsent(&self) -> u64 {
        self.pipe.info().map_or(0, |info| info.notsent_bytes.into())
    }

    fn sender(&self) -> Option<SenderState> {
        Some(self.pipe.info().ok()?.into())
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A channel that counts.
    #[derive(Debug, Default)]
    pub(crate) struct Sink {
        pub(crate) room: usize,
        pub(crate) written: u64,
        pub(crate) unsent: u64,
        pub(crate) finished: bool,
        pub(crate) stops_peers: bool,
    }

    impl Sink {
        pub(crate) fn with_room(room: usize) -> Self {
            Self { room, ..Self::default() }
        }
    }

    impl Channel for Sink {
        fn room(&mut self) -> usize {
            self.room
        }

        fn write(&mut self, data: Bytes) -> Result<(), Failure> {
            assert!(data.len() <= self.room && !self.finished);
            self.room -= data.len();
            self.written += data.len() as u64;
            Ok(())
        }

        fn finish(&mut self) -> Result<(), Failure> {
            assert!(!std::mem::replace(&mut self.finished, true));
            Ok(())
        }

        fn stops_peers(&self) -> bool {
            self.stops_peers
        }

        fn unsent(&self) -> u64 {
            self.unsent
        }

        fn sender(&self) -> Option<SenderState> {
            Some(SenderState { window_bytes: 12_000, ..SenderState::default() })
        }
    }
}
