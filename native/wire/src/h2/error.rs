//! The errors of HTTP/2 (RFC 9113 §5.4, §7).

use crate::error_codes::error_codes;
use crate::fields::Malformed;

error_codes! {
    /// The error codes of HTTP/2 (RFC 9113 §7).
    enum ErrorCode: u32 {
        /// Nothing went wrong.
        NoError = 0x0, "NO_ERROR";
        /// A violation that no other code names.
        ProtocolError = 0x1, "PROTOCOL_ERROR";
        /// An error inside this endpoint.
        InternalError = 0x2, "INTERNAL_ERROR";
        /// More was sent than flow control permits.
        FlowControlError = 0x3, "FLOW_CONTROL_ERROR";
        /// SETTINGS were not acknowledged in time.
        SettingsTimeout = 0x4, "SETTINGS_TIMEOUT";
        /// A frame for a stream that was already half-closed.
        StreamClosed = 0x5, "STREAM_CLOSED";
        /// A frame of an invalid size.
        FrameSizeError = 0x6, "FRAME_SIZE_ERROR";
        /// The stream was refused before any processing.
        RefusedStream = 0x7, "REFUSED_STREAM";
        /// The stream is no longer needed.
        Cancel = 0x8, "CANCEL";
        /// The state of field compression is lost.
        CompressionError = 0x9, "COMPRESSION_ERROR";
        /// The connection made for CONNECT was reset or closed.
        ConnectError = 0xa, "CONNECT_ERROR";
        /// The peer generates more load than is acceptable.
        EnhanceYourCalm = 0xb, "ENHANCE_YOUR_CALM";
        /// The transport is not secure enough.
        InadequateSecurity = 0xc, "INADEQUATE_SECURITY";
        /// HTTP/1.1 is wanted instead.
        Http11Required = 0xd, "HTTP_1_1_REQUIRED";
    }
}

/// What an error puts an end to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The connection, with GOAWAY (RFC 9113 §5.4.1).
    Connection,
    /// This stream, with RST_STREAM (RFC 9113 §5.4.2).
    Stream(u32),
}

/// A peer's violation of HTTP/2 and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {reason}")]
pub struct Error {
    /// The code to close or reset with.
    pub code: ErrorCode,
    /// What to close or reset.
    pub scope: Scope,
    /// What the peer did.
    pub reason: &'static str,
}

impl Error {
    /// An error of the connection.
    #[must_use]
    pub const fn connection(code: ErrorCode, reason: &'static str) -> Self {
        Self { code, scope: Scope::Connection, reason }
    }

    /// An error of a stream.
    #[must_use]
    pub const fn stream(stream: u32, code: ErrorCode, reason: &'static str) -> Self {
        Self { code, scope: Scope::Stream(stream), reason }
    }

    /// What a malformed message on a stream means (RFC 9113 §8.1.1).
    #[must_use]
    pub const fn malformed(stream: u32, malformed: Malformed) -> Self {
        Self::stream(stream, ErrorCode::ProtocolError, malformed.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_numbers() {
        for (number, &code) in (0..).zip(ErrorCode::ALL) {
            assert_eq!(code.code(), number);
            assert_eq!(ErrorCode::from_code(number), Some(code));
        }
        assert_eq!(ErrorCode::from_code(0xb).unwrap().to_string(), "ENHANCE_YOUR_CALM");
        assert_eq!(ErrorCode::from_code(0xe), None);
    }

    #[test]
    fn malformed_messages() {
        let error = Error::malformed(5, Malformed("a reason"));
        assert_eq!((error.code, error.scope), (ErrorCode::ProtocolError, Scope::Stream(5)));
    }
}
