//! From a packet's payload to its frames.

use std::iter::FusedIterator;

use super::ack::{AckRanges, EcnCounts};
use super::error::{FrameError, FrameErrorKind};
use super::reader::Reader;
use super::{Direction, Frame};

const VARINT_MAX: u64 = (1 << 62) - 1;
/// Identifiers of a type allow no more streams (RFC 9000 section 19.11).
const STREAMS_MAX: u64 = 1 << 60;
const CONNECTION_ID_MAX_BYTES: u8 = 20;

/// The frames of a payload, in order; an error is the last item, as what follows is unreadable.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    reader: Reader<'a>,
}

type Read<'a> = Result<Frame<'a>, FrameErrorKind>;

impl<'a> Frames<'a> {
    /// Of the decrypted payload of one packet, without its header and authentication tag.
    #[must_use]
    pub fn new(payload: &'a [u8]) -> Self {
        Self { reader: Reader::new(payload) }
    }

    /// Bytes of the payload that are not read yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.reader.remaining().len()
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, FrameError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.remaining().is_empty() {
            return None;
        }
        let frame_type = self.reader.varint();
        let frame = frame_type.and_then(|known| read(&mut self.reader, known));
        Some(frame.map_err(|kind| {
            self.reader.take_rest();
            FrameError { frame_type: frame_type.ok(), kind }
        }))
    }
}

impl FusedIterator for Frames<'_> {}

/// A frame's fields, after its type.
#[inline]
fn read<'a>(reader: &mut Reader<'a>, frame_type: u64) -> Read<'a> {
    match frame_type {
        0x08..=0x0f => stream(reader, frame_type),
        0x02 | 0x03 => ack(reader, frame_type == 0x03),
        0x10..=0x17 => limit(reader, frame_type),
        _ => rare(reader, frame_type),
    }
}

#[inline]
fn stream<'a>(reader: &mut Reader<'a>, frame_type: u64) -> Read<'a> {
    let id = reader.varint()?;
    let offset = if frame_type & 0x04 == 0 { 0 } else { reader.varint()? };
    let length = pass_data(reader, frame_type & 0x02 != 0)?;
    let fin = frame_type & 0x01 != 0;
    check(offset + length <= VARINT_MAX)?;
    Ok(Frame::Stream { id, offset, length, fin })
}

fn ack<'a>(reader: &mut Reader<'a>, has_ecn: bool) -> Read<'a> {
    let largest = reader.varint()?;
    let delay_raw = reader.varint()?;
    let more = reader.varint()?;
    let ranges = AckRanges::read(reader, largest, more)?;
    let ecn = if has_ecn { Some(ecn_counts(reader)?) } else { None };
    Ok(Frame::Ack { largest, delay_raw, ranges, ecn })
}

fn ecn_counts(reader: &mut Reader<'_>) -> Result<EcnCounts, FrameErrorKind> {
    Ok(EcnCounts { ect0: reader.varint()?, ect1: reader.varint()?, ce: reader.varint()? })
}

/// The frames of flow control and stream limits.
fn limit<'a>(reader: &mut Reader<'a>, frame_type: u64) -> Read<'a> {
    let direction =
        if frame_type & 1 == 0 { Direction::Bidirectional } else { Direction::Unidirectional };
    Ok(match frame_type {
        0x10 => Frame::MaxData { maximum: reader.varint()? },
        0x11 => Frame::MaxStreamData { id: reader.varint()?, maximum: reader.varint()? },
        0x12 | 0x13 => Frame::MaxStreams { direction, maximum: stream_count(reader)? },
        0x14 => Frame::DataBlocked { limit: reader.varint()? },
        0x15 => Frame::StreamDataBlocked { id: reader.varint()?, limit: reader.varint()? },
        _ => Frame::StreamsBlocked { direction, limit: stream_count(reader)? },
    })
}

fn stream_count(reader: &mut Reader<'_>) -> Result<u64, FrameErrorKind> {
    let count = reader.varint()?;
    check(count <= STREAMS_MAX)?;
    Ok(count)
}

fn rare<'a>(reader: &mut Reader<'a>, frame_type: u64) -> Read<'a> {
    Ok(match frame_type {
        0x00 => Frame::Padding { length: 1 + reader.zeros() },
        0x01 => Frame::Ping,
        0x04 => Frame::ResetStream {
            id: reader.varint()?,
            error_code: reader.varint()?,
            final_size: reader.varint()?,
        },
        0x05 => Frame::StopSending { id: reader.varint()?, error_code: reader.varint()? },
        0x06 => return crypto(reader),
        0x07 => return new_token(reader),
        0x18 => return new_connection_id(reader),
        0x19 => Frame::RetireConnectionId { sequence: reader.varint()? },
        0x1a => Frame::PathChallenge { data: *reader.array()? },
        0x1b => Frame::PathResponse { data: *reader.array()? },
        0x1c => Frame::ConnectionClose {
            error_code: reader.varint()?,
            frame_type: reader.varint()?,
            reason: reader.prefixed()?,
        },
        0x1d => {
            Frame::ApplicationClose { error_code: reader.varint()?, reason: reader.prefixed()? }
        }
        0x1e => Frame::HandshakeDone,
        0x1f => Frame::ImmediateAck,
        0x30 | 0x31 => Frame::Datagram { length: pass_data(reader, frame_type == 0x31)? },
        0xaf => Frame::AckFrequency {
            sequence: reader.varint()?,
            ack_eliciting_threshold: reader.varint()?,
            request_max_ack_delay_us: reader.varint()?,
            reordering_threshold: reader.varint()?,
        },
        _ => return Err(FrameErrorKind::UnknownType),
    })
}

fn crypto<'a>(reader: &mut Reader<'a>) -> Read<'a> {
    let offset = reader.varint()?;
    let length = pass_data(reader, true)?;
    check(offset + length <= VARINT_MAX)?;
    Ok(Frame::Crypto { offset, length })
}

fn new_token<'a>(reader: &mut Reader<'a>) -> Read<'a> {
    let token = reader.prefixed()?;
    check(!token.is_empty())?;
    Ok(Frame::NewToken { token })
}

fn new_connection_id<'a>(reader: &mut Reader<'a>) -> Read<'a> {
    let sequence = reader.varint()?;
    let retire_prior_to = reader.varint()?;
    let [length] = *reader.array()?;
    check(retire_prior_to <= sequence && (1..=CONNECTION_ID_MAX_BYTES).contains(&length))?;
    let connection_id = reader.bytes(u64::from(length))?;
    let reset_token = reader.array()?;
    Ok(Frame::NewConnectionId { sequence, retire_prior_to, connection_id, reset_token })
}

/// Passes over data, which is the payload's rest if it has no length; its number of bytes.
#[inline]
fn pass_data(reader: &mut Reader<'_>, has_length: bool) -> Result<u64, FrameErrorKind> {
    let passed = if has_length { reader.prefixed()? } else { reader.take_rest() };
    Ok(passed.len() as u64)
}

fn check(holds: bool) -> Result<(), FrameErrorKind> {
    if holds { Ok(()) } else { Err(FrameErrorKind::Invalid) }
}
