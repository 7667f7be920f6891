//! From the bytes of a connection to its frames.

use bytes::{Buf, Bytes};

use super::header_block::{self, HeaderBlock};
use super::payload::{self, frame_size_error, protocol_error};
use super::{
    DEFAULT_MAX_FRAME_SIZE, Error, Frame, HEADER_LEN, Header, MAX_STREAM, PREFACE, Role, flag,
    frame_type,
};
use crate::gather::Gather;

/// What a decoder accepts.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest payload in bytes: SETTINGS_MAX_FRAME_SIZE as announced, once acknowledged.
    pub max_frame_size: usize,
    /// The largest compressed field block in bytes, over all its frames.
    pub max_block: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_frame_size: DEFAULT_MAX_FRAME_SIZE, max_block: 4 * DEFAULT_MAX_FRAME_SIZE }
    }
}

/// A DATA frame of which something is still to come.
#[derive(Clone, Copy, Debug)]
struct DataFrame {
    stream: u32,
    end_stream: bool,
    data: usize,
    padding: usize,
    /// Bytes of padding that have come and were not yet reported to flow control.
    unreported: u32,
}

#[derive(Debug)]
enum State {
    /// Behind so many bytes of the client's preface.
    Preface(usize),
    Header,
    /// In front of the length of a DATA frame's padding.
    PadLength(Header),
    Data(DataFrame),
    Whole(Header),
    /// In a frame of unknown type, with so many bytes to come.
    Skip(usize),
}

/// Decodes what the peer sends. It keeps at most one payload and one field block.
///
/// After an error of a stream it can be used further; after one of the connection it cannot.
#[derive(Debug)]
pub struct Decoder {
    role: Role,
    limits: Limits,
    state: State,
    gather: Gather,
    has_settings: bool,
    header_block: Option<HeaderBlock>,
}

impl Decoder {
    /// At the start of the connection. A server expects the client's preface first.
    #[must_use]
    pub fn new(role: Role, limits: Limits) -> Self {
        let state = match role {
            Role::Server => State::Preface(0),
            Role::Client => State::Header,
        };
        let gather = Gather::default();
        Self { role, limits, state, gather, has_settings: false, header_block: None }
    }

    /// Takes bytes off `input` until there is a frame, or a piece of one; `None` if that needs more.
    ///
    /// # Errors
    ///
    /// FRAME_SIZE_ERROR, PROTOCOL_ERROR, FLOW_CONTROL_ERROR, and ENHANCE_YOUR_CALM for too large a
    /// field block, as RFC 9113 §6 has them for each frame.
    pub fn decode(&mut self, input: &mut Bytes) -> Result<Option<Frame>, Error> {
        loop {
            match self.state {
                State::Preface(matched) => {
                    self.preface(matched, input)?;
                    if input.is_empty() {
                        return Ok(None);
                    }
                }
                State::Header => {
                    let Some(bytes) = self.gather.take(input, HEADER_LEN) else { return Ok(None) };
                    self.start(parse_header(bytes))?;
                }
                State::PadLength(_) | State::Skip(1..) if input.is_empty() => return Ok(None),
                State::PadLength(header) => {
                    self.state = State::Data(padded(header, input.get_u8())?);
                }
                State::Data(frame) => return Ok(self.data(frame, input)),
                State::Skip(remaining) => {
                    let skipped = remaining.min(input.len());
                    input.advance(skipped);
                    self.state = match remaining - skipped {
                        0 => State::Header,
                        remaining => State::Skip(remaining),
                    };
                }
                State::Whole(header) => {
                    let Some(payload) = self.gather.take(input, header.len) else {
                        return Ok(None);
                    };
                    self.state = State::Header;
                    if let Some(frame) = self.parse(header, payload)? {
                        return Ok(Some(frame));
                    }
                }
            }
        }
    }

    /// Memory that a frame or a field block which is not whole takes, in bytes.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.gather.kept() + self.header_block.as_ref().map_or(0, HeaderBlock::kept)
    }

    /// Compares what comes with the rest of the preface.
    fn preface(&mut self, matched: usize, input: &mut Bytes) -> Result<(), Error> {
        let expected = &PREFACE[matched..];
        let len = expected.len().min(input.len());
        if input.split_to(len) != expected[..len] {
            return Err(protocol_error("not the preface of HTTP/2"));
        }
        self.state =
            if len == expected.len() { State::Header } else { State::Preface(matched + len) };
        Ok(())
    }

    /// Decides what to do with a frame.
    fn start(&mut self, header: Header) -> Result<(), Error> {
        if header.len > self.limits.max_frame_size {
            return Err(frame_size_error("a frame larger than SETTINGS_MAX_FRAME_SIZE"));
        }
        self.check_order(header)?;
        check_stream(header)?;
        self.state = match header.frame_type {
            frame_type::DATA if header.has(flag::PADDED) => {
                if header.len == 0 {
                    return Err(frame_size_error("DATA without the length of its padding"));
                }
                State::PadLength(header)
            }
            frame_type::DATA => State::Data(DataFrame {
                stream: header.stream,
                end_stream: header.has(flag::END_STREAM),
                data: header.len,
                padding: 0,
                unreported: 0,
            }),
            frame_type::PUSH_PROMISE => return Err(protocol_error("PUSH_PROMISE")),
            frame_type::PRIORITY_UPDATE if self.role == Role::Client => {
                return Err(protocol_error("PRIORITY_UPDATE from a server"));
            }
            0..=frame_type::CONTINUATION | frame_type::PRIORITY_UPDATE => State::Whole(header),
            _ => State::Skip(header.len),
        };
        Ok(())
    }

    /// SETTINGS come first (RFC 9113 §3.4), and nothing comes between the frames of a field block
    /// (RFC 9113 §4.3).
    fn check_order(&mut self, header: Header) -> Result<(), Error> {
        let is_settings = header.frame_type == frame_type::SETTINGS && !header.has(flag::ACK);
        if !self.has_settings && !is_settings {
            return Err(protocol_error("a connection that does not start with SETTINGS"));
        }
        self.has_settings = true;
        let open = self.header_block.as_ref().map(|block| block.stream);
        let continued = (header.frame_type == frame_type::CONTINUATION).then_some(header.stream);
        if open != continued {
            return Err(protocol_error("a field block that is interrupted or was never begun"));
        }
        Ok(())
    }

    /// A piece of a DATA frame, unless nothing is to be said about what has come of it.
    fn data(&mut self, mut frame: DataFrame, input: &mut Bytes) -> Option<Frame> {
        let data = input.split_to(frame.data.min(input.len()));
        frame.data -= data.len();
        let padding = frame.padding.min(input.len());
        input.advance(padding);
        frame.padding -= padding;
        frame.unreported += padding as u32;

        let complete = frame.data == 0 && frame.padding == 0;
        if !complete && data.is_empty() {
            self.state = State::Data(frame);
            return None;
        }
        let flow = data.len() as u32 + std::mem::take(&mut frame.unreported);
        self.state = if complete { State::Header } else { State::Data(frame) };
        let end_stream = complete && frame.end_stream;
        Some(Frame::Data { stream: frame.stream, data, flow, end_stream })
    }

    /// The frame a payload makes; of HEADERS and CONTINUATION only the last does.
    fn parse(&mut self, header: Header, payload: Bytes) -> Result<Option<Frame>, Error> {
        let stream = header.stream;
        let frame = match header.frame_type {
            frame_type::HEADERS => return self.headers(header, payload),
            frame_type::CONTINUATION => return self.continuation(header, &payload),
            frame_type::PRIORITY => payload::priority(stream, payload),
            frame_type::RST_STREAM => payload::reset_stream(stream, payload),
            frame_type::SETTINGS => payload::settings(header, payload, self.role),
            frame_type::PING => payload::ping(header, &payload),
            frame_type::GOAWAY => payload::goaway(payload),
            frame_type::WINDOW_UPDATE => payload::window_update(stream, payload),
            _ => payload::priority_update(payload),
        };
        frame.map(Some)
    }

    fn headers(&mut self, header: Header, payload: Bytes) -> Result<Option<Frame>, Error> {
        let stream = header.stream;
        let payload::Headers { dependency, fragment } = payload::headers(header, payload)?;
        header_block::check_size(fragment.len(), self.limits.max_block)?;
        let end_stream = header.has(flag::END_STREAM);
        if header.has(flag::END_HEADERS) {
            return Ok(Some(Frame::Headers { stream, block: fragment, dependency, end_stream }));
        }
        self.header_block = Some(HeaderBlock::new(stream, dependency, end_stream, &fragment));
        Ok(None)
    }

    fn continuation(&mut self, header: Header, fragment: &Bytes) -> Result<Option<Frame>, Error> {
        let open = self.header_block.as_mut();
        open.expect("checked when the frame began").add(fragment, self.limits.max_block)?;
        if !header.has(flag::END_HEADERS) {
            return Ok(None);
        }
        Ok(self.header_block.take().map(HeaderBlock::into_frame))
    }
}

/// RFC 9113 §4.1; `bytes` has [`HEADER_LEN`] bytes.
fn parse_header(mut bytes: Bytes) -> Header {
    Header {
        len: bytes.get_uint(3) as usize,
        frame_type: bytes.get_u8(),
        flags: bytes.get_u8(),
        stream: bytes.get_u32() & MAX_STREAM,
    }
}

/// Some frames are about a stream, some about the connection (RFC 9113 §6).
fn check_stream(header: Header) -> Result<(), Error> {
    let of_stream = match header.frame_type {
        frame_type::DATA
        | frame_type::HEADERS
        | frame_type::PRIORITY
        | frame_type::RST_STREAM
        | frame_type::CONTINUATION => true,
        frame_type::SETTINGS
        | frame_type::PING
        | frame_type::GOAWAY
        | frame_type::PRIORITY_UPDATE => false,
        _ => return Ok(()),
    };
    match (of_stream, header.stream) {
        (true, 0) => Err(protocol_error("a frame that needs a stream on stream 0")),
        (false, 1..) => Err(protocol_error("a frame of the connection on a stream")),
        _ => Ok(()),
    }
}

/// A DATA frame with `padding` (RFC 9113 §6.1).
fn padded(header: Header, padding: u8) -> Result<DataFrame, Error> {
    let padding = usize::from(padding);
    let data =
        (header.len - 1).checked_sub(padding).ok_or(protocol_error("more padding than payload"))?;
    Ok(DataFrame {
        stream: header.stream,
        end_stream: header.has(flag::END_STREAM),
        data,
        padding,
        unreported: 1, // the length of the padding
    })
}
