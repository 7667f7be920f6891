//! The errors of HTTP/3 (RFC 9114 §8, RFC 9204 §6).

use crate::error_codes::error_codes;
use crate::fields::Malformed;

error_codes! {
    /// The error codes of HTTP/3 (RFC 9114 §8.1) and QPACK (RFC 9204 §6). An unknown one counts as
    /// [`ErrorCode::NoError`] (RFC 9114 §8).
    enum ErrorCode: u64 {
        /// Nothing went wrong.
        NoError = 0x100, "H3_NO_ERROR";
        /// A violation that no other code names.
        GeneralProtocolError = 0x101, "H3_GENERAL_PROTOCOL_ERROR";
        /// An error inside this endpoint.
        InternalError = 0x102, "H3_INTERNAL_ERROR";
        /// A stream that this endpoint will not accept.
        StreamCreationError = 0x103, "H3_STREAM_CREATION_ERROR";
        /// The control stream or a QPACK stream was closed.
        ClosedCriticalStream = 0x104, "H3_CLOSED_CRITICAL_STREAM";
        /// A frame that is not permitted here or now.
        FrameUnexpected = 0x105, "H3_FRAME_UNEXPECTED";
        /// A frame that breaks its layout.
        FrameError = 0x106, "H3_FRAME_ERROR";
        /// The peer generates more load than is acceptable.
        ExcessiveLoad = 0x107, "H3_EXCESSIVE_LOAD";
        /// A stream or push id out of its range.
        IdError = 0x108, "H3_ID_ERROR";
        /// An error in the payload of SETTINGS.
        SettingsError = 0x109, "H3_SETTINGS_ERROR";
        /// The control stream does not start with SETTINGS.
        MissingSettings = 0x10a, "H3_MISSING_SETTINGS";
        /// A server did not process the request at all.
        RequestRejected = 0x10b, "H3_REQUEST_REJECTED";
        /// The request or its response is no longer wanted.
        RequestCancelled = 0x10c, "H3_REQUEST_CANCELLED";
        /// The client's stream ended before the request did.
        RequestIncomplete = 0x10d, "H3_REQUEST_INCOMPLETE";
        /// A malformed message.
        MessageError = 0x10e, "H3_MESSAGE_ERROR";
        /// The connection made for CONNECT was reset or closed.
        ConnectError = 0x10f, "H3_CONNECT_ERROR";
        /// The request should be made again over HTTP/1.1.
        VersionFallback = 0x110, "H3_VERSION_FALLBACK";
        /// A field section that cannot be decoded.
        QpackDecompressionFailed = 0x200, "QPACK_DECOMPRESSION_FAILED";
        /// An error on the peer's encoder stream.
        QpackEncoderStreamError = 0x201, "QPACK_ENCODER_STREAM_ERROR";
        /// An error on the peer's decoder stream.
        QpackDecoderStreamError = 0x202, "QPACK_DECODER_STREAM_ERROR";
    }
}

/// What an error puts an end to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The connection (RFC 9114 §8).
    Connection,
    /// The stream on which it occurred.
    Stream,
}

/// A peer's violation of HTTP/3 and what follows from it.
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

    /// An error of the stream.
    #[must_use]
    pub const fn stream(code: ErrorCode, reason: &'static str) -> Self {
        Self { code, scope: Scope::Stream, reason }
    }
}

impl From<Malformed> for Error {
    fn from(malformed: Malformed) -> Self {
        Self::stream(ErrorCode::MessageError, malformed.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_numbers() {
        for &code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_code(code.code()), Some(code));
        }
        assert_eq!(ErrorCode::from_code(0x10e).unwrap().name(), "H3_MESSAGE_ERROR");
        assert_eq!(ErrorCode::from_code(0x33), None);
    }

    #[test]
    fn malformed_messages() {
        let error = Error::from(Malformed("a reason"));
        assert_eq!((error.code, error.scope), (ErrorCode::MessageError, Scope::Stream));
        assert_eq!(error.to_string(), "H3_MESSAGE_ERROR: a reason");
    }
}
