//! The unidirectional streams of a connection, which are the same on both sides.

use std::collections::BTreeMap;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_quic::{Connection, Dir, Read, StreamId};
use headway_wire::h3::{
    ControlFrame, ControlStream, Error, ErrorCode, Role, Settings, StreamType, StreamTypeReader,
    UniStreams, encode,
};
use headway_wire::qpack::{DecoderStream, EncoderStream};

/// A stream that the peer opened.
enum Incoming {
    Untyped(StreamTypeReader),
    Control(ControlStream),
    QpackEncoder(EncoderStream),
    QpackDecoder(DecoderStream),
    /// Of a type that is not known, and therefore to be ignored (RFC 9114 section 6.2).
    Unknown,
}

impl Incoming {
    /// What the end of such a stream means.
    fn closed(&self) -> Result<(), Error> {
        match self {
            Self::Untyped(_) | Self::Unknown => Ok(()),
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
        self.control = connection.open(Dir::Uni);
        let mut bytes = BytesMut::new();
        encode::stream_type(StreamType::Control, &mut bytes);
        encode::settings(&Settings::default(), &mut bytes);
        self.send(connection, bytes.freeze());
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

    /// Reads a unidirectional stream.
    pub(super) fn read(
        &mut self,
        now: Instant,
        connection: &mut Connection,
        stream: StreamId,
        frames: &mut Vec<ControlFrame>,
    ) -> Result<(), Error> {
        loop {
            match connection.read(now, stream) {
                Read::Data(data) => self.data(stream, data, frames)?,
                Read::Blocked => return Ok(()),
                Read::Finished | Read::Reset(_) => {
                    connection.forget(stream);
                    return self.incoming.remove(&stream).map_or(Ok(()), |s| s.closed());
                }
            }
        }
    }

    fn data(
        &mut self,
        stream: StreamId,
        mut data: Bytes,
        frames: &mut Vec<ControlFrame>,
    ) -> Result<(), Error> {
        let Some(incoming) = self.incoming.get_mut(&stream) else { return Ok(()) };
        if let Incoming::Untyped(reader) = incoming {
            let Some(code) = reader.read(&mut data) else { return Ok(()) };
            *incoming = match self.types.open(code)? {
                StreamType::Control => Incoming::Control(ControlStream::new(self.role)),
                StreamType::QpackEncoder => Incoming::QpackEncoder(EncoderStream::new()),
                StreamType::QpackDecoder => Incoming::QpackDecoder(DecoderStream::new()),
                StreamType::Unknown(_) => Incoming::Unknown,
            };
        }
        match incoming {
            Incoming::Control(control) => {
                while let Some(frame) = control.decode(&mut data)? {
                    frames.push(frame);
                }
                Ok(())
            }
            Incoming::QpackEncoder(encoder) => encoder.read(data).map_err(Error::from),
            Incoming::QpackDecoder(decoder) => decoder.read(data).map_err(Error::from),
            Incoming::Untyped(_) | Incoming::Unknown => Ok(()),
        }
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
