//! The unidirectional streams of a connection, which are the same on both sides.

use std::collections::BTreeMap;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_knobs::compression::Tables;
use headway_quic::{Close, Connection, Dir, Read, Side, StreamId};
use headway_wire::Fields;
use headway_wire::fields::{LINE_OVERHEAD, Line};
use headway_wire::h3::{
    ControlFrame, ControlStream, Error, ErrorCode, Role, Settings, StreamType, StreamTypeReader,
    UniStreams, encode, frame_type,
};
use headway_wire::qpack::{Decoder, Encoder};

use crate::counts::HeaderCounts;

/// Largest encoded field section, and largest decoded one, of a request or a response.
pub(super) const MAX_SECTION: usize = 64 << 10;

/// A stream that the peer opened.
enum Incoming {
    Untyped(StreamTypeReader),
    Control(ControlStream),
    QpackEncoder,
    QpackDecoder,
}

impl Incoming {
    /// What the end of such a stream means.
    fn closed(&self) -> Result<(), Error> {
        match self {
            Self::Untyped(_) => Ok(()),
            Self::Control(stream) => Err(stream.finish()),
            Self::QpackEncoder => StreamType::QpackEncoder.closed(),
            Self::QpackDecoder => StreamType::QpackDecoder.closed(),
        }
    }
}

/// How fields are compressed (RFC 9204 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compression {
    /// Bytes of the dynamic table, at most, in each direction; without one there are no more streams
    /// than the control stream.
    pub table_bytes: u64,
    /// Streams that the peer may let wait for the table.
    pub blocked_streams: usize,
}

impl From<Tables> for Compression {
    fn from(tables: Tables) -> Self {
        Self {
            table_bytes: tables.qpack_bytes.into(),
            blocked_streams: tables.qpack_blocked_streams.into(),
        }
    }
}

impl Compression {
    /// Whether there can be such a compression.
    ///
    /// # Errors
    ///
    /// In words, if there cannot.
    pub fn check(&self) -> Result<(), String> {
        let Self { table_bytes, blocked_streams } = *self;
        if (1..LINE_OVERHEAD).contains(&table_bytes) {
            return Err(format!(
                "a dynamic table of {table_bytes} bytes holds nothing: an entry takes {LINE_OVERHEAD} \
                 bytes and more; 0 is no table"
            ));
        }
        if table_bytes == 0 && blocked_streams > 0 {
            return Err(format!(
                "{blocked_streams} streams cannot wait for a dynamic table of 0 bytes: give the table \
                 a capacity, or let 0 streams wait"
            ));
        }
        Ok(())
    }
}

/// Control and QPACK streams.
pub(super) struct Link {
    role: Role,
    compression: Compression,
    /// This side takes WebSocket (RFC 9220).
    takes_websockets: bool,
    /// Whether the peer takes an extended CONNECT, once its settings are there.
    pub(super) takes_protocols: Option<bool>,
    control: Option<StreamId>,
    encoder: Encoder,
    encoder_stream: Option<StreamId>,
    decoder: Decoder,
    decoder_stream: Option<StreamId>,
    types: UniStreams,
    incoming: BTreeMap<StreamId, Incoming>,
    header_counts: HeaderCounts,
    /// Streams whose fields wait, and since when.
    waiting: BTreeMap<StreamId, Instant>,
}

impl Link {
    pub(super) fn new(role: Role, compression: Compression) -> Self {
        let Compression { table_bytes, blocked_streams } = compression;
        Self {
            role,
            compression,
            takes_websockets: false,
            takes_protocols: None,
            control: None,
            encoder: Encoder::new(table_bytes),
            encoder_stream: None,
            decoder: Decoder::new(table_bytes, blocked_streams, MAX_SECTION as u64),
            decoder_stream: None,
            types: UniStreams::new(role),
            incoming: BTreeMap::new(),
            header_counts: HeaderCounts::default(),
            waiting: BTreeMap::new(),
        }
    }

    /// The same of a side that takes WebSocket, which its settings say.
    pub(super) fn with_websockets(self, takes_websockets: bool) -> Self {
        Self { takes_websockets, ..self }
    }

    /// Opens the control stream, if that was not done and the peer allows it.
    pub(super) fn start(&mut self, connection: &mut Connection) {
        if self.control.is_some() {
            return;
        }
        let Some(stream) = connection.open(Dir::Uni) else { return };
        self.control = Some(stream);
        let settings = Settings {
            max_field_section_size: Some(MAX_SECTION as u64),
            qpack_max_table_capacity: self.compression.table_bytes,
            qpack_blocked_streams: self.compression.blocked_streams as u64,
            enable_connect_protocol: self.takes_websockets,
        };
        let mut bytes = BytesMut::new();
        encode::stream_type(StreamType::Control, &mut bytes);
        encode::settings(&settings, &mut bytes);
        self.send(connection, bytes.freeze());
    }

    /// Whether the control stream is there.
    pub(super) fn has_started(&self) -> bool {
        self.control.is_some()
    }

    /// Forgets the streams that went with the early data that the server rejected. Nothing has come from
    /// it yet, so that the dynamic tables are still empty.
    pub(super) fn restart(&mut self, connection: &mut Connection) {
        (self.control, self.decoder_stream) = (None, None);
        self.start(connection);
    }

    /// Writes HEADERS of a stream, to be sent on it.
    pub(super) fn headers<'a>(
        &mut self,
        connection: &mut Connection,
        stream: StreamId,
        lines: impl IntoIterator<Item = Line<'a>>,
    ) -> BytesMut {
        let (mut section, mut frame) = (BytesMut::new(), BytesMut::new());
        let sent = &mut self.header_counts.sent;
        let lines = lines.into_iter().inspect(|&line| sent.line(line));
        self.encoder.encode(stream.into(), lines, &mut section);
        sent.coded(section.len());
        encode::frame(frame_type::HEADERS, &section, &mut frame);
        self.send_insertions(connection);
        frame
    }

    /// Reads a field section of a stream; `None` if that has to wait, and nothing more of the stream may
    /// be read until it is [unblocked](Self::unblocked).
    pub(super) fn decode(
        &mut self,
        now: Instant,
        stream: StreamId,
        section: Bytes,
    ) -> Result<Option<Fields>, Error> {
        self.header_counts.received.coded(section.len());
        let fields = self.decoder.decode(stream.into(), section)?;
        match &fields {
            Some(fields) => self.header_counts.received.fields(fields),
            None => drop(self.waiting.insert(stream, now)),
        }
        Ok(fields)
    }

    /// What header fields took.
    pub(super) fn header_counts(&self) -> HeaderCounts {
        self.header_counts
    }

    /// A request's stream that need not wait any longer, and its section.
    pub(super) fn unblocked(&mut self, now: Instant) -> Option<(StreamId, Result<Fields, Error>)> {
        let (stream, fields) = self.decoder.unblocked()?;
        let stream = request_stream(stream);
        // What came together, in whatever order it is read, has not waited.
        if let Some(since) = self.waiting.remove(&stream).filter(|&since| since < now) {
            self.header_counts.blocked += 1;
            self.header_counts.blocked_time += now.duration_since(since);
        }
        if let Ok(fields) = &fields {
            self.header_counts.received.fields(fields);
        }
        Some((stream, fields))
    }

    /// What comes of a stream is not read to its end.
    pub(super) fn cancel(&mut self, stream: StreamId) {
        self.decoder.cancel(stream.into());
        self.waiting.remove(&stream);
    }

    /// Tells the peer's encoder what was received. To be called after all events.
    pub(super) fn acknowledge(&mut self, connection: &mut Connection) {
        if self.compression.table_bytes == 0 || self.control.is_none() {
            return;
        }
        if self.decoder_stream.is_none() {
            self.decoder_stream = open(connection, StreamType::QpackDecoder);
        }
        if let Some(stream) = self.decoder_stream {
            let instructions = self.decoder.instructions();
            self.header_counts.received.coded(instructions.len());
            write(connection, stream, instructions);
        }
    }

    /// The peer's settings say whether there is a dynamic table, and whether it takes an extended CONNECT.
    fn apply(&mut self, connection: &mut Connection, settings: &Settings) {
        self.takes_protocols = Some(settings.enable_connect_protocol);
        if self.compression.table_bytes > 0 && settings.qpack_max_table_capacity > 0 {
            self.encoder_stream = open(connection, StreamType::QpackEncoder);
        }
        // A peer that allows no stream to insert on gets by without.
        if self.encoder_stream.is_some() {
            self.encoder.allow(settings);
            self.send_insertions(connection);
        }
    }

    /// Insertions go in front of the sections that refer to them.
    fn send_insertions(&mut self, connection: &mut Connection) {
        if let Some(stream) = self.encoder_stream {
            let instructions = self.encoder.instructions();
            self.header_counts.sent.coded(instructions.len());
            write(connection, stream, instructions);
        }
    }

    /// Sends a frame on the control stream.
    pub(super) fn send(&mut self, connection: &mut Connection, frame: Bytes) {
        if let Some(stream) = self.control {
            connection.write(stream, frame);
        }
    }

    /// Memory that the peer makes it keep, in bytes.
    pub(super) fn kept(&self) -> u64 {
        let frames = self.incoming.values().map(|incoming| match incoming {
            Incoming::Control(control) => control.kept(),
            Incoming::Untyped(_) | Incoming::QpackEncoder | Incoming::QpackDecoder => 0,
        });
        (self.decoder.kept() + frames.sum::<usize>()) as u64
    }

    /// The peer opened a unidirectional stream.
    pub(super) fn opened(&mut self, stream: StreamId) {
        self.incoming.insert(stream, Incoming::Untyped(StreamTypeReader::new()));
    }

    /// The peer wants no more of a stream, which it must not ask for the control stream (RFC 9114
    /// section 6.2.1) or those of QPACK (RFC 9204 section 4.2).
    pub(super) fn stopped(&self, stream: StreamId) -> Result<(), Error> {
        let critical = [self.control, self.encoder_stream, self.decoder_stream];
        if critical.contains(&Some(stream)) { StreamType::Control.closed() } else { Ok(()) }
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
                StreamType::QpackEncoder => Incoming::QpackEncoder,
                StreamType::QpackDecoder => Incoming::QpackDecoder,
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
            Incoming::QpackEncoder => {
                self.header_counts.received.coded(data.len());
                self.decoder.read(&data)?;
            }
            Incoming::QpackDecoder => {
                self.header_counts.sent.coded(data.len());
                self.encoder.read(&data)?;
            }
            Incoming::Untyped(_) => {}
        }
        for frame in &frames {
            if let ControlFrame::Settings(settings) = frame {
                self.apply(connection, settings);
            }
        }
        Ok(frames)
    }
}

/// Opens a stream of the given type, if the peer allows it.
fn open(connection: &mut Connection, stream_type: StreamType) -> Option<StreamId> {
    let stream = connection.open(Dir::Uni)?;
    let mut bytes = BytesMut::new();
    encode::stream_type(stream_type, &mut bytes);
    connection.write(stream, bytes.freeze());
    Some(stream)
}

fn write(connection: &mut Connection, stream: StreamId, bytes: Bytes) {
    if !bytes.is_empty() {
        connection.write(stream, bytes);
    }
}

/// The stream of a request, by its identifier (RFC 9000 section 2.1).
pub(super) fn request_stream(id: u64) -> StreamId {
    StreamId::new(Side::Client, Dir::Bi, id / 4)
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

/// Writes content of a stream; none is no frame.
pub(super) fn data_frame(connection: &mut Connection, stream: StreamId, content: Bytes) {
    if !content.is_empty() {
        let mut header = BytesMut::new();
        encode::data_header(content.len() as u64, &mut header);
        connection.write(stream, header.freeze());
        connection.write(stream, content);
    }
}
