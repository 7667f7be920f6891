//! Frames in packet events.

use std::time::Duration;

use super::json::{Items, Members};
use crate::frame::{AckRanges, Direction, EcnCounts, Frame, Frames};

/// Writes the frames of a payload, as far as they are readable.
pub(super) fn write_frames(items: &mut Items<'_>, payload: &[u8], ack_delay_exponent: u8) {
    for frame in Frames::new(payload) {
        items.object(|members| match frame {
            Ok(frame) => write_frame(members, &frame, ack_delay_exponent),
            Err(error) => {
                members.text("frame_type", "unknown");
                members.number("frame_type_value", error.frame_type.unwrap_or_default());
            }
        });
    }
}

fn write_frame(members: &mut Members<'_>, frame: &Frame<'_>, ack_delay_exponent: u8) {
    members.text("frame_type", frame_type(frame));
    match *frame {
        Frame::Stream { id, offset, length, fin } => {
            members.number("stream_id", id).number("offset", offset).number("length", length);
            if fin {
                members.flag("fin", true);
            }
        }
        Frame::Ack { delay_raw, ref ranges, ecn, .. } => {
            members.millis("ack_delay", ack_delay(delay_raw, ack_delay_exponent));
            write_acknowledged(members, ranges, ecn);
        }
        Frame::Crypto { offset, length } => {
            members.number("offset", offset).number("length", length);
        }
        Frame::Padding { length } => {
            members.number("payload_length", length);
        }
        Frame::Datagram { length } => {
            members.number("length", length);
        }
        Frame::PathChallenge { data } | Frame::PathResponse { data } => {
            members.hex("data", &data);
        }
        _ => write_control(members, frame),
    }
}

fn frame_type(frame: &Frame<'_>) -> &'static str {
    match frame {
        Frame::Padding { .. } => "padding",
        Frame::Ping => "ping",
        Frame::Ack { .. } => "ack",
        Frame::ResetStream { .. } => "reset_stream",
        Frame::StopSending { .. } => "stop_sending",
        Frame::Crypto { .. } => "crypto",
        Frame::NewToken { .. } => "new_token",
        Frame::Stream { .. } => "stream",
        Frame::MaxData { .. } => "max_data",
        Frame::MaxStreamData { .. } => "max_stream_data",
        Frame::MaxStreams { .. } => "max_streams",
        Frame::DataBlocked { .. } => "data_blocked",
        Frame::StreamDataBlocked { .. } => "stream_data_blocked",
        Frame::StreamsBlocked { .. } => "streams_blocked",
        Frame::NewConnectionId { .. } => "new_connection_id",
        Frame::RetireConnectionId { .. } => "retire_connection_id",
        Frame::PathChallenge { .. } => "path_challenge",
        Frame::PathResponse { .. } => "path_response",
        Frame::ConnectionClose { .. } | Frame::ApplicationClose { .. } => "connection_close",
        Frame::HandshakeDone => "handshake_done",
        Frame::Datagram { .. } => "datagram",
        Frame::AckFrequency { .. } => "ack_frequency",
        Frame::ImmediateAck => "immediate_ack",
    }
}

/// ACK Delay (RFC 9000 section 19.3); absurd ones are cut to what fits.
fn ack_delay(raw: u64, exponent: u8) -> Duration {
    Duration::from_micros(raw.saturating_mul(1 << exponent.min(20)))
}

/// As the smallest and the largest packet number of every range.
fn write_acknowledged(members: &mut Members<'_>, ranges: &AckRanges<'_>, ecn: Option<EcnCounts>) {
    members.array("acked_ranges", |items| {
        for range in ranges.clone() {
            items.pair(*range.start(), *range.end());
        }
    });
    if let Some(EcnCounts { ect0, ect1, ce }) = ecn {
        members.number("ect1", ect1).number("ect0", ect0).number("ce", ce);
    }
}

/// Of frames that carry neither data nor acknowledgements.
fn write_control(members: &mut Members<'_>, frame: &Frame<'_>) {
    match *frame {
        Frame::ResetStream { id, error_code, final_size } => {
            members.number("stream_id", id).number("error_code", error_code);
            members.number("final_size", final_size);
        }
        Frame::StopSending { id, error_code } => {
            members.number("stream_id", id).number("error_code", error_code);
        }
        Frame::NewToken { token } => {
            members.object("token", |members| {
                members.object("raw", |raw| {
                    raw.hex("data", token);
                });
            });
        }
        Frame::NewConnectionId { sequence, retire_prior_to, connection_id, reset_token } => {
            members.number("sequence_number", sequence);
            members.number("retire_prior_to", retire_prior_to);
            members.number("connection_id_length", connection_id.len() as u64);
            members.hex("connection_id", connection_id).hex("stateless_reset_token", reset_token);
        }
        Frame::RetireConnectionId { sequence } => {
            members.number("sequence_number", sequence);
        }
        Frame::ConnectionClose { error_code, frame_type, reason } => {
            write_close(members, "transport", error_code, reason);
            members.number("trigger_frame_type", frame_type);
        }
        Frame::ApplicationClose { error_code, reason } => {
            write_close(members, "application", error_code, reason);
        }
        _ => write_limit(members, frame),
    }
}

fn write_close(members: &mut Members<'_>, space: &str, error_code: u64, reason: &[u8]) {
    members.text("error_space", space).number("error_code", error_code).lossy("reason", reason);
}

/// Of the frames that tell of limits; others have no fields.
fn write_limit(members: &mut Members<'_>, frame: &Frame<'_>) {
    match *frame {
        Frame::MaxData { maximum } => members.number("maximum", maximum),
        Frame::MaxStreamData { id, maximum } => {
            members.number("stream_id", id).number("maximum", maximum)
        }
        Frame::MaxStreams { direction, maximum } => {
            members.text("stream_type", stream_type(direction)).number("maximum", maximum)
        }
        Frame::DataBlocked { limit } => members.number("limit", limit),
        Frame::StreamDataBlocked { id, limit } => {
            members.number("stream_id", id).number("limit", limit)
        }
        Frame::StreamsBlocked { direction, limit } => {
            members.text("stream_type", stream_type(direction)).number("limit", limit)
        }
        Frame::AckFrequency {
            sequence,
            ack_eliciting_threshold,
            request_max_ack_delay_us,
            reordering_threshold,
        } => {
            let delay = Duration::from_micros(request_max_ack_delay_us);
            members.number("sequence_number", sequence);
            members.number("ack_eliciting_threshold", ack_eliciting_threshold);
            members.millis("request_max_ack_delay", delay);
            members.number("reordering_threshold", reordering_threshold)
        }
        _ => members,
    };
}

fn stream_type(direction: Direction) -> &'static str {
    match direction {
        Direction::Bidirectional => "bidirectional",
        Direction::Unidirectional => "unidirectional",
    }
}
