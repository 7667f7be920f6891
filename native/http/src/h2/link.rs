//! What both sides of a connection do alike.

use bytes::{Bytes, BytesMut};
use headway_wire::fields::Line;
use headway_wire::h2::{
    DEFAULT_MAX_FRAME_SIZE, DEFAULT_WINDOW, Decoder, Error, ErrorCode, Frame, Limits, MAX_WINDOW,
    Role, Scope, Settings, encode,
};
use headway_wire::{Dependency, Fields, hpack};

use super::flow::{ReceiveWindow, SendWindow};
use crate::counts::HeaderCounts;

/// Bytes of a frame header (RFC 9113, section 4.1).
pub(super) const FRAME_HEADER_BYTES: usize = 9;
/// Fields of one message, as RFC 9113, section 6.5.2 counts them.
const MAX_FIELDS_BYTES: u64 = 64 << 10;
/// A peer that does not read its answers must wait with its questions.
const MAX_QUEUED_BYTES: usize = 64 << 10;
/// Streams before the peer has said how many (RFC 9113, section 6.5.2: no fewer than 100).
const FIRST_STREAMS: u32 = 100;

/// Frames in, frames but for content out, settings, and the connection's flow control.
pub(super) struct Link {
    decoder: Decoder,
    fields_decoder: hpack::Decoder,
    fields_encoder: hpack::Encoder,
    /// What is sent before any content.
    queue: BytesMut,
    pub(super) header_counts: HeaderCounts,
    /// SETTINGS_MAX_FRAME_SIZE of the peer.
    pub(super) max_frame_bytes: usize,
    /// SETTINGS_INITIAL_WINDOW_SIZE of the peer.
    pub(super) initial_window: u32,
    /// SETTINGS_MAX_CONCURRENT_STREAMS of the peer.
    pub(super) max_streams: u32,
    /// Whether the peer takes an extended CONNECT, once its settings are there.
    pub(super) takes_protocols: Option<bool>,
    pub(super) send_window: SendWindow,
    receive_window: ReceiveWindow,
    /// SETTINGS_INITIAL_WINDOW_SIZE of this side, from the start.
    stream_window: u32,
    /// The peer knows this side's settings: a client's go before its requests, a server's are acknowledged.
    is_known: bool,
    has_settings: bool,
    /// PING frames that were answered.
    pub(super) pings: u64,
    failed: bool,
}

impl Link {
    /// The start of a connection: the preface, SETTINGS, and a WINDOW_UPDATE for the connection's
    /// window, which SETTINGS do not touch.
    ///
    /// # Arguments
    /// * `table_bytes` - of HPACK's dynamic table: what this side makes use of at most, and what it lets
    ///   the peer use if that is more than the default.
    pub(super) fn new(
        role: Role,
        settings: &Settings,
        connection_window: u32,
        table_bytes: u32,
    ) -> Self {
        let mut queue = BytesMut::new();
        if role == Role::Client {
            encode::preface(&mut queue);
        }
        let larger_table = Some(table_bytes).filter(|&b| u64::from(b) > hpack::DEFAULT_TABLE_SIZE);
        let settings = Settings {
            header_table_size: larger_table,
            max_header_list_size: u32::try_from(MAX_FIELDS_BYTES).ok(),
            ..*settings
        };
        encode::settings(&settings, &mut queue);
        let connection_window = connection_window.clamp(DEFAULT_WINDOW, MAX_WINDOW);
        if connection_window > DEFAULT_WINDOW {
            encode::window_update(0, connection_window - DEFAULT_WINDOW, &mut queue);
        }
        Self {
            decoder: Decoder::new(role, Limits::default()),
            fields_decoder: hpack::Decoder::with_table(
                larger_table.map_or(hpack::DEFAULT_TABLE_SIZE, u64::from),
                MAX_FIELDS_BYTES,
            ),
            fields_encoder: hpack::Encoder::new(table_bytes.into()),
            queue,
            header_counts: HeaderCounts::default(),
            max_frame_bytes: DEFAULT_MAX_FRAME_SIZE,
            initial_window: DEFAULT_WINDOW,
            max_streams: FIRST_STREAMS,
            takes_protocols: None,
            send_window: SendWindow::new(DEFAULT_WINDOW),
            receive_window: ReceiveWindow::new(connection_window),
            stream_window: settings.initial_window_size.unwrap_or(DEFAULT_WINDOW),
            is_known: role == Role::Client,
            has_settings: false,
            pings: 0,
            failed: false,
        }
    }

    /// The next frame; those about the connection alone have taken effect already.
    ///
    /// # Arguments
    /// * `keeps` - whether content of a stream is kept until somebody [reads](Self::read) it.
    pub(super) fn decode(
        &mut self,
        input: &mut Bytes,
        keeps: impl Fn(u32) -> bool,
    ) -> Result<Option<Frame>, Error> {
        while let Some(frame) = self.decoder.decode(input)? {
            match frame {
                Frame::Ping { ack: false, payload } => {
                    self.pings += 1;
                    encode::ping(true, payload, &mut self.queue);
                }
                Frame::Ping { .. } => {}
                Frame::WindowUpdate { stream: 0, increment } => {
                    let changed = self.send_window.widen(increment);
                    changed.map_err(|_| window_too_large(Scope::Connection))?;
                }
                Frame::Data { stream, flow, .. } => {
                    self.count_content(flow, keeps(stream))?;
                    return Ok(Some(frame));
                }
                frame => return Ok(Some(frame)),
            }
        }
        Ok(None)
    }

    fn count_content(&mut self, flow: u32, is_kept: bool) -> Result<(), Error> {
        self.receive_window.arrive(flow).map_err(|_| {
            let reason = "more content than the connection's window allows";
            Error::connection(ErrorCode::FlowControlError, reason)
        })?;
        if !is_kept {
            self.read(flow);
        }
        Ok(())
    }

    /// Content that came was read: the connection has room for more.
    pub(super) fn read(&mut self, bytes: u32) {
        if let Some(increment) = self.receive_window.read(bytes) {
            encode::window_update(0, increment, &mut self.queue);
        }
    }

    /// Counts content against a stream's window that is kept until somebody reads it.
    pub(super) fn keep(stream: u32, window: &mut ReceiveWindow, flow: u32) -> Result<(), Error> {
        window.arrive(flow).map_err(|_| stream_exceeded(stream))
    }

    /// Content of a stream that was kept was read: the stream and the connection have room for more.
    pub(super) fn read_stream(&mut self, stream: u32, window: &mut ReceiveWindow, bytes: u32) {
        self.read(bytes);
        if let Some(increment) = window.read(bytes) {
            encode::window_update(stream, increment, &mut self.queue);
        }
    }

    /// Counts content of a stream against its window.
    pub(super) fn count_stream_content(
        &mut self,
        stream: u32,
        window: &mut ReceiveWindow,
        flow: u32,
    ) -> Result<(), Error> {
        let due = window.receive(flow).map_err(|_| stream_exceeded(stream))?;
        if let Some(increment) = due {
            encode::window_update(stream, increment, &mut self.queue);
        }
        Ok(())
    }

    /// Takes over the peer's settings, and acknowledges them.
    pub(super) fn apply(&mut self, settings: &Settings) {
        encode::settings_ack(&mut self.queue);
        if let Some(bytes) = settings.header_table_size {
            self.fields_encoder.allow(bytes.into());
        }
        if let Some(bytes) = settings.max_frame_size {
            self.max_frame_bytes = bytes as usize;
        }
        // Without the setting there is no limit.
        let first = !std::mem::replace(&mut self.has_settings, true);
        let unlimited = first.then_some(u32::MAX);
        self.max_streams =
            settings.max_concurrent_streams.or(unlimited).unwrap_or(self.max_streams);
        self.initial_window = settings.initial_window_size.unwrap_or(self.initial_window);
        let before = self.takes_protocols.unwrap_or(false);
        self.takes_protocols = Some(settings.enable_connect_protocol.unwrap_or(before));
    }

    pub(super) fn new_receive_window(&self) -> ReceiveWindow {
        // Until the peer knows of a smaller window it has the usual one (RFC 9113, section 6.9.3).
        let least = if self.is_known { 0 } else { DEFAULT_WINDOW };
        ReceiveWindow::new(self.stream_window.max(least))
    }

    /// The peer knows this side's settings.
    pub(super) fn known(&mut self) {
        self.is_known = true;
    }

    /// A stream's window is that of the settings from now on.
    pub(super) fn resize(&mut self, stream: u32, window: &mut ReceiveWindow) {
        if let Some(increment) = window.resize(self.stream_window) {
            encode::window_update(stream, increment, &mut self.queue);
        }
    }

    pub(super) fn decode_fields(&mut self, block: Bytes) -> Result<Fields, Error> {
        let coded = block.len();
        let fields = self.fields_decoder.decode(block)?;
        self.header_counts.received.coded(coded);
        self.header_counts.received.fields(&fields);
        Ok(fields)
    }

    pub(super) fn queue_headers<'a>(
        &mut self,
        stream: u32,
        lines: impl Iterator<Item = Line<'a>>,
        dependency: Option<&Dependency>,
        end_stream: bool,
    ) {
        let mut block = BytesMut::new();
        let sent = &mut self.header_counts.sent;
        self.fields_encoder.encode(lines.inspect(|&line| sent.line(line)), &mut block);
        sent.coded(block.len());
        let limit = self.max_frame_bytes;
        encode::headers(stream, &block, dependency, end_stream, limit, &mut self.queue);
    }

    /// A stream ends with what was sent.
    pub(super) fn queue_end(&mut self, stream: u32) {
        encode::data_header(stream, 0, true, &mut self.queue);
    }

    pub(super) fn queue_reset(&mut self, stream: u32, code: ErrorCode) {
        encode::reset_stream(stream, code, &mut self.queue);
    }

    pub(super) fn queue_goaway(&mut self, last_stream: u32) {
        encode::goaway(last_stream, ErrorCode::NoError, &[], &mut self.queue);
    }

    /// Tells the peer why the connection ends; nothing is sent after that.
    pub(super) fn fail(&mut self, last_stream: u32, error: &Error) {
        if !self.failed {
            self.failed = true;
            encode::goaway_for(last_stream, error, &mut self.queue);
        }
    }

    /// Ends the connection for a reason that the peer is told in words; nothing is sent after that.
    pub(super) fn end(&mut self, last_stream: u32, code: ErrorCode, reason: &str) {
        if !self.failed {
            self.failed = true;
            encode::goaway(last_stream, code, reason.as_bytes(), &mut self.queue);
        }
    }

    /// Memory that the peer makes it keep, in bytes.
    pub(super) fn kept(&self) -> usize {
        self.decoder.kept() + self.queue.len()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Whether the peer takes the answers to what it sends.
    pub(super) fn wants_input(&self) -> bool {
        !self.failed && self.queue.len() < MAX_QUEUED_BYTES
    }

    pub(super) fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Moves what is queued to `out`, up to `limit` bytes.
    pub(super) fn send_queued(&mut self, limit: usize, out: &mut BytesMut) {
        let length = limit.min(self.queue.len());
        out.unsplit(self.queue.split_to(length));
    }
}

fn stream_exceeded(stream: u32) -> Error {
    let reason = "more content than the stream's window allows";
    Error::stream(stream, ErrorCode::FlowControlError, reason)
}

pub(super) fn window_too_large(scope: Scope) -> Error {
    let reason = "a window above 2^31-1";
    Error { code: ErrorCode::FlowControlError, scope, reason }
}
