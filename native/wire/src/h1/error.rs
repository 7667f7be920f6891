//! What is wrong with a message, and what a server answers.

use crate::fields::Malformed;

/// A message that cannot be used. The connection must be closed after it: where the next message
/// starts is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The message breaks the grammar or the rules of framing.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The request line alone exceeds the limit.
    #[error("a request target longer than the limit")]
    TargetTooLong,
    /// The head, or the trailers, exceed the limit.
    #[error("a head larger than the limit")]
    HeadTooLarge,
    /// A transfer coding other than chunked.
    #[error("a transfer coding other than chunked")]
    UnknownCoding,
    /// A version other than 1.0 and 1.1.
    #[error("a version that is neither HTTP/1.0 nor HTTP/1.1")]
    Version,
}

impl Error {
    /// The status code to answer with (RFC 9110 §15, RFC 6585 §5, RFC 9112 §6.1).
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Malformed(_) => 400,
            Self::TargetTooLong => 414,
            Self::HeadTooLarge => 431,
            Self::UnknownCoding => 501,
            Self::Version => 505,
        }
    }
}

/// Shorthand.
pub(super) const fn malformed(reason: &'static str) -> Error {
    Error::Malformed(Malformed(reason))
}

impl From<httparse::Error> for Error {
    fn from(error: httparse::Error) -> Self {
        match error {
            httparse::Error::TooManyHeaders => Self::HeadTooLarge,
            httparse::Error::Version => Self::Version,
            httparse::Error::HeaderName => malformed("a field name that is not a token"),
            httparse::Error::HeaderValue => malformed("a field value with control characters"),
            httparse::Error::NewLine => malformed("a line break that is not one"),
            httparse::Error::Status => malformed("a status line that is not one"),
            httparse::Error::Token => malformed("a request line that is not one"),
        }
    }
}
