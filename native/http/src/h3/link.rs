//! The unidirectional streams of a connection, which are the same on both sides.

use std::collections::BTreeMap;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_quic::{Close, Connection, Dir, Read, StreamId};
use headway_wire::h3::{
    ControlFrame, ControlStream, Error, ErrorCode, Role, Settings, StreamType, StreamTypeReader,
    UniStreams, encode,
};
use headway_wire::qpack::{DecoderStream, EncoderStream};

/// Largest encoded field section, and largest decoded one, of a request or a response.
pub(super) const MAX_SECTION: usize = 64 << 10;

/// A stream that the peer opened.
enum Incoming {
    Untyped(StreamTypeReader),
    Control(ControlStream),
    QpackEncoder(EncoderStream),
    QpackDecoder(DecoderStream),
}

impl Incoming {
    /// What the end of such a stream means.
    fn closed(&self) -> Result<(), Error> {
        match self {
            Self::Untyped(_) => Ok(()),
            Self::Control(stream) => Err(stream.finish()),
            Self::QpackEncoder(_) => StreamType::QpackEncoder.closed(),
            Self::QpackDecoder(_) => StreamType::QpackDecoder.closed(),
        }
    }
}

/// Control and QPACK streams. The dynamic table is not used, so there is nothing to send on the
/// latter, and they are not opened (RFC 9204 section 4.2).
pub(super) struct Link {
    role: Role,
    control: Option<StreamId>,
    types: UniStreams,
    incoming: BTreeMap<StreamId, Incoming>,
}

impl Link {
    pub(super) fn new(role: Role) -> Self {
        let types = UniStreams::new(role);
        Self { role, control: None, types, incoming: BTreeMap::new() }
    }

    /// Opens the control stream, if that was not done and the peer allows it.
    pub(super) fn start(&mut self, connection: &mut Connection) {
        if self.control.is_some() {
            return;
        }
        let Some(stream) = connection.open(Dir::Uni) else { return };
        self.control = Some(stream);
        let settings =
            Settings { max_field_section_size: Some(MAX_SECTION as u64), ..Settings::default() };
        let mut bytes = BytesMut::new();
        encode::stream_type(StreamType::Control, &mut bytes);
        encode::settings(&settings, &mut bytes);
        self.send(connection, bytes.freeze());
    }

    /// Whether the control stream is there.
    pub(super) fn has_started(&self) -> bool {
        self.control.is_some()
    }

    /// Forgets the control stream, which went with the early data that the server rejected.
    pub(super) fn restart(&mut self, connection: &mut Connection) {
        self.control = None;
        self.start(connection);
    }

    /// Sends a frame on the control stream.
    pub(super) fn send(&mut self, connection: &mut Connection, frame: Bytes) {
        if let Some(stream) = self.control {
            connection.write(stream, frame);
        }
    }

    /// The peer opened a unidirectional stream.
    pub(super) fn opened(&mut self, stream: StreamId) {
        self.incoming.insert(stream, Incoming::Untyped(StreamTypeReader::new()));
    }

    /// The peer wants no more of a stream, which it must not ask for the control stream (RFC 9114
    /// section 6.2.1).
    pub(super) fn stopped(&self, stream: StreamId) -> Result<(), Error> {
        if self.control == Some(stream) { StreamType::Control.closed() } else { Ok(()) }
    }

    /// Reads the next piece of a unidirectional stream.
    ///
    /// # Returns
    /// The frames that are complete with it; `None` if there is no piece.
    pub(super) fn read(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        stream: StreamId,
    ) -> Result<Option<Vec<ControlFrame>>, Error> {
        match connection.read(now, stream) {
            Read::Data(data) => self.data(connection, stream, data).map(Some),
            Read::Blocked => Ok(None),
            Read::Finished | Read::Reset(_) => {
                connection.forget(stream);
                self.incoming.remove(&stream).map_or(Ok(()), |incoming| incoming.closed())?;
                Ok(None)
            }
        }
    }

    fn data(
        &mut self,
        connection: &mut Connection,
        stream: StreamId,
        mut data: Bytes,
    ) -> Result<Vec<ControlFrame>, Error> {
        let mut frames = Vec::new();
        let Some(incoming) = self.incoming.get_mut(&stream) else { return Ok(frames) };
        if let Incoming::Untyped(reader) = incoming {
            let Some(code) = reader.read(&mut data) else { return Ok(frames) };
            *incoming = match self.types.open(code)? {
                StreamType::Control => Incoming::Control(ControlStream::new(self.role)),
                StreamType::QpackEncoder => Incoming::QpackEncoder(EncoderStream::new()),
                StreamType::QpackDecoder => Incoming::QpackDecoder(DecoderStream::new()),
                StreamType::Unknown(_) => {
                    // RFC 9114 section 6.2: what it carries cannot be of use.
                    connection.stop(stream, ErrorCode::StreamCreationError.code());
                    self.incoming.remove(&stream);
                    return Ok(frames);
                }
            };
        }
        match incoming {
            Incoming::Control(control) => {
                while let Some(frame) = control.decode(&mut data)? {
                    frames.push(frame);
                }
            }
            Incoming::QpackEncoder(encoder) => encoder.read(data)?,
            Incoming::QpackDecoder(decoder) => decoder.read(data)?,
            Incoming::Untyped(_) => {}
        }
        Ok(frames)
    }
}

/// Closes a connection because of what the peer did.
pub(super) fn close(now: Instant, connection: &mut Connection, error: &Error) {
    connection.close(now, error.code.code(), error.reason);
}

/// The name of an error code, or its number.
pub(super) fn code_name(code: u64) -> String {
    match ErrorCode::from_code(code) {
        Some(known) => known.to_string(),
        None => format!("code {code:#x}"),
    }
}

/// Why a connection is over, with the name of the code that the peer closed it with.
pub(super) fn closing_words(close: &Close) -> String {
    match close {
        Close::Application { code, reason } if reason.is_empty() => {
            format!("closed by the peer with {}", code_name(*code))
        }
        Close::Application { code, reason } => {
            format!("closed by the peer with {}: {reason}", code_name(*code))
        }
        other => other.to_string(),
    }
}
