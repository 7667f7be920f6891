//! Unidirectional streams and their types (RFC 9114 §6.2).

use bytes::{Buf, Bytes};

use super::{Error, ErrorCode, Role};
use crate::varint;

const CONTROL: u64 = 0x00;
const PUSH: u64 = 0x01;
const QPACK_ENCODER: u64 = 0x02;
const QPACK_DECODER: u64 = 0x03;

/// What a unidirectional stream is for. A push stream is always an error: see [`UniStreams::open`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamType {
    /// The control stream.
    Control,
    /// The QPACK encoder stream (RFC 9204 §4.2).
    QpackEncoder,
    /// The QPACK decoder stream (RFC 9204 §4.2).
    QpackDecoder,
    /// Something else, to be ignored: drop its bytes, or ask the peer with H3_STREAM_CREATION_ERROR to
    /// stop sending.
    Unknown(u64),
}

impl StreamType {
    /// The number at the start of the stream.
    #[must_use]
    pub const fn code(self) -> u64 {
        match self {
            Self::Control => CONTROL,
            Self::QpackEncoder => QPACK_ENCODER,
            Self::QpackDecoder => QPACK_DECODER,
            Self::Unknown(code) => code,
        }
    }

    /// What it means that a stream of this type was closed or reset.
    ///
    /// # Errors
    ///
    /// H3_CLOSED_CRITICAL_STREAM if the connection cannot do without it.
    pub const fn closed(self) -> Result<(), Error> {
        match self {
            Self::Unknown(_) => Ok(()),
            _ => Err(Error::connection(
                ErrorCode::ClosedCriticalStream,
                "the control stream or a QPACK stream was closed",
            )),
        }
    }
}

/// Reads the type at the start of a unidirectional stream.
#[derive(Debug, Default)]
pub struct StreamTypeReader {
    kept: [u8; varint::MAX_LEN],
    kept_len: usize,
}

impl StreamTypeReader {
    /// At the start of the stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the type off `input`; `None` if that needs more bytes. A stream may end before that.
    pub fn read(&mut self, input: &mut Bytes) -> Option<u64> {
        let added = input.len().min(varint::MAX_LEN - self.kept_len);
        let filled = self.kept_len + added;
        self.kept[self.kept_len..filled].copy_from_slice(&input[..added]);
        let Some((code, len)) = varint::decode(&self.kept[..filled]) else {
            input.advance(added);
            self.kept_len = filled;
            return None;
        };
        input.advance(len - self.kept_len);
        Some(code)
    }
}

/// The unidirectional streams a peer has opened: of some types there may be one only.
#[derive(Debug)]
pub struct UniStreams {
    role: Role,
    control: bool,
    qpack_encoder: bool,
    qpack_decoder: bool,
}

impl UniStreams {
    /// For the peer of an endpoint in this role.
    #[must_use]
    pub const fn new(role: Role) -> Self {
        Self { role, control: false, qpack_encoder: false, qpack_decoder: false }
    }

    /// Notes a stream of the type with this number.
    ///
    /// # Errors
    ///
    /// H3_STREAM_CREATION_ERROR for a second stream of a type that may exist once, or a push by a
    /// client; H3_ID_ERROR for a push by a server, which was not permitted any (RFC 9114 §4.6).
    pub fn open(&mut self, code: u64) -> Result<StreamType, Error> {
        let (stream_type, opened) = match (code, self.role) {
            (CONTROL, _) => (StreamType::Control, &mut self.control),
            (QPACK_ENCODER, _) => (StreamType::QpackEncoder, &mut self.qpack_encoder),
            (QPACK_DECODER, _) => (StreamType::QpackDecoder, &mut self.qpack_decoder),
            (PUSH, Role::Server) => {
                return Err(Error::connection(
                    ErrorCode::StreamCreationError,
                    "a push stream from a client",
                ));
            }
            (PUSH, Role::Client) => {
                return Err(Error::connection(
                    ErrorCode::IdError,
                    "a push stream without MAX_PUSH_ID",
                ));
            }
            _ => return Ok(StreamType::Unknown(code)),
        };
        if std::mem::replace(opened, true) {
            let reason = "a second control stream or QPACK stream";
            return Err(Error::connection(ErrorCode::StreamCreationError, reason));
        }
        Ok(stream_type)
    }
}
