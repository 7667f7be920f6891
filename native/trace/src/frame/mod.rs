//! The frames in the plaintext payload of a QUIC packet, read in place.
//!
//! For observation, once per packet: nothing is allocated, and stream data is passed over. Known
//! are all frames of RFC 9000 section 19, DATAGRAM (RFC 9221), and ACK_FREQUENCY and IMMEDIATE_ACK
//! (draft-ietf-quic-ack-frequency-12). An observer is told what is there: that a frame may not be
//! sent in this type of packet, or by this endpoint, is the transport's to notice.

mod ack;
mod ect;
mod error;
mod parse;
mod reader;

pub use ack::{AckRanges, EcnCounts};
pub use ect::ect_counts;
pub use error::{FrameError, FrameErrorKind};
pub use parse::Frames;

/// Which streams a frame about stream limits is for (RFC 9000 section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Both endpoints send.
    Bidirectional,
    /// Only the endpoint that opened the stream sends.
    Unidirectional,
}

/// A frame; its fields are those of RFC 9000 section 19 unless another source is told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame<'a> {
    /// Adjoining PADDING frames, which are one byte each, counted as one.
    Padding {
        /// How many bytes.
        length: u64,
    },
    /// PING.
    Ping,
    /// ACK.
    Ack {
        /// The largest packet number acknowledged.
        largest: u64,
        /// ACK Delay as sent: microseconds shifted right by the sender's ack_delay_exponent.
        delay_raw: u64,
        /// The packet numbers acknowledged, largest range first.
        ranges: AckRanges<'a>,
        /// ECN counts, if this is an ACK with them.
        ecn: Option<EcnCounts>,
    },
    /// RESET_STREAM.
    ResetStream {
        /// Stream ID.
        id: u64,
        /// Application protocol error code.
        error_code: u64,
        /// Final size of the stream in bytes.
        final_size: u64,
    },
    /// STOP_SENDING.
    StopSending {
        /// Stream ID.
        id: u64,
        /// Application protocol error code.
        error_code: u64,
    },
    /// CRYPTO.
    Crypto {
        /// Where in the handshake's byte stream the data begins.
        offset: u64,
        /// Bytes of data.
        length: u64,
    },
    /// NEW_TOKEN.
    NewToken {
        /// For the Initial packet of a later connection.
        token: &'a [u8],
    },
    /// STREAM.
    Stream {
        /// Stream ID.
        id: u64,
        /// Where in the stream the data begins.
        offset: u64,
        /// Bytes of data.
        length: u64,
        /// The stream ends after this data.
        fin: bool,
    },
    /// MAX_DATA.
    MaxData {
        /// Bytes that may be sent on the connection.
        maximum: u64,
    },
    /// MAX_STREAM_DATA.
    MaxStreamData {
        /// Stream ID.
        id: u64,
        /// Bytes that may be sent on the stream.
        maximum: u64,
    },
    /// MAX_STREAMS.
    MaxStreams {
        /// Which streams.
        direction: Direction,
        /// How many may be opened over the connection's lifetime.
        maximum: u64,
    },
    /// DATA_BLOCKED.
    DataBlocked {
        /// The connection's limit in bytes at which the sender was stopped.
        limit: u64,
    },
    /// STREAM_DATA_BLOCKED.
    StreamDataBlocked {
        /// Stream ID.
        id: u64,
        /// The stream's limit in bytes at which the sender was stopped.
        limit: u64,
    },
    /// STREAMS_BLOCKED.
    StreamsBlocked {
        /// Which streams.
        direction: Direction,
        /// The number of streams at which the sender was stopped.
        limit: u64,
    },
    /// NEW_CONNECTION_ID.
    NewConnectionId {
        /// Sequence number of the connection ID.
        sequence: u64,
        /// Connection IDs of smaller sequence numbers are to be retired.
        retire_prior_to: u64,
        /// The connection ID, 1 to 20 bytes.
        connection_id: &'a [u8],
        /// By which a stateless reset is known.
        reset_token: &'a [u8; 16],
    },
    /// RETIRE_CONNECTION_ID.
    RetireConnectionId {
        /// Sequence number of the connection ID.
        sequence: u64,
    },
    /// PATH_CHALLENGE.
    PathChallenge {
        /// What the response has to repeat.
        data: [u8; 8],
    },
    /// PATH_RESPONSE.
    PathResponse {
        /// What the challenge held.
        data: [u8; 8],
    },
    /// CONNECTION_CLOSE of type 0x1c: an error of the transport, or none.
    ConnectionClose {
        /// Transport error code (RFC 9000 section 20.1).
        error_code: u64,
        /// Type of the frame that caused it, 0 if it is unknown.
        frame_type: u64,
        /// Reason phrase, UTF-8 if its sender keeps to the RFC.
        reason: &'a [u8],
    },
    /// CONNECTION_CLOSE of type 0x1d: the application's.
    ApplicationClose {
        /// Application protocol error code.
        error_code: u64,
        /// Reason phrase, UTF-8 if its sender keeps to the RFC.
        reason: &'a [u8],
    },
    /// HANDSHAKE_DONE.
    HandshakeDone,
    /// DATAGRAM (RFC 9221 section 4).
    Datagram {
        /// Bytes of data.
        length: u64,
    },
    /// ACK_FREQUENCY (draft-ietf-quic-ack-frequency-12 section 4).
    AckFrequency {
        /// Sequence number of the request; the latest one counts.
        sequence: u64,
        /// How many ack-eliciting packets may go without an acknowledgement.
        ack_eliciting_threshold: u64,
        /// Requested maximum acknowledgement delay in microseconds.
        request_max_ack_delay_us: u64,
        /// Reordering by this many packets is acknowledged at once; 0 turns that off.
        reordering_threshold: u64,
    },
    /// IMMEDIATE_ACK (draft-ietf-quic-ack-frequency-12 section 5).
    ImmediateAck,
}

impl Frame<'_> {
    /// Whether a packet with this frame has to be acknowledged (RFC 9002 section 2).
    #[must_use]
    pub fn is_ack_eliciting(&self) -> bool {
        !matches!(
            self,
            Self::Ack { .. }
                | Self::Padding { .. }
                | Self::ConnectionClose { .. }
                | Self::ApplicationClose { .. }
        )
    }
}

#[cfg(test)]
mod tests;
