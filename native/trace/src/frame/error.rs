//! Why a frame could not be read.

use std::fmt;

/// A frame that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameError {
    /// Type of the frame; None if the payload ends within the type.
    pub frame_type: Option<u64>,
    /// What is wrong with it.
    pub kind: FrameErrorKind,
}

/// What is wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameErrorKind {
    /// The type is none that is known here, so its length is unknown too.
    UnknownType,
    /// The payload ends within the frame.
    Truncated,
    /// A field's value is one that RFC 9000 section 19 rules out.
    Invalid,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = match self.kind {
            FrameErrorKind::UnknownType => "is of unknown type",
            FrameErrorKind::Truncated => "is cut short",
            FrameErrorKind::Invalid => "has a field out of its range",
        };
        match self.frame_type {
            Some(frame_type) => write!(f, "frame 0x{frame_type:02x} {fault}"),
            None => write!(f, "frame {fault}"),
        }
    }
}

impl std::error::Error for FrameError {}
