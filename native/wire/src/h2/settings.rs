//! SETTINGS (RFC 9113 §6.5, RFC 8441 §3, RFC 9218 §2.1).

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::{DEFAULT_MAX_FRAME_SIZE, Error, ErrorCode, MAX_WINDOW, Role};

const HEADER_TABLE_SIZE: u16 = 0x1;
const ENABLE_PUSH: u16 = 0x2;
const MAX_CONCURRENT_STREAMS: u16 = 0x3;
const INITIAL_WINDOW_SIZE: u16 = 0x4;
const MAX_FRAME_SIZE: u16 = 0x5;
const MAX_HEADER_LIST_SIZE: u16 = 0x6;
const ENABLE_CONNECT_PROTOCOL: u16 = 0x8;
const NO_RFC7540_PRIORITIES: u16 = 0x9;

/// Bytes of one setting: identifier and value.
const SETTING_LEN: usize = 6;

/// The settings of one frame; what it does not mention stays as it was. Unknown ones are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// SETTINGS_HEADER_TABLE_SIZE in bytes.
    pub header_table_size: Option<u32>,
    /// SETTINGS_ENABLE_PUSH.
    pub enable_push: Option<bool>,
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    pub max_concurrent_streams: Option<u32>,
    /// SETTINGS_INITIAL_WINDOW_SIZE in bytes.
    pub initial_window_size: Option<u32>,
    /// SETTINGS_MAX_FRAME_SIZE in bytes.
    pub max_frame_size: Option<u32>,
    /// SETTINGS_MAX_HEADER_LIST_SIZE in bytes.
    pub max_header_list_size: Option<u32>,
    /// SETTINGS_ENABLE_CONNECT_PROTOCOL.
    pub enable_connect_protocol: Option<bool>,
    /// SETTINGS_NO_RFC7540_PRIORITIES.
    pub no_rfc7540_priorities: Option<bool>,
}

impl Settings {
    /// Reads the payload of a SETTINGS frame; of a setting that comes twice the last counts.
    pub(super) fn decode(mut payload: Bytes, role: Role) -> Result<Self, Error> {
        if payload.len() % SETTING_LEN != 0 {
            let reason = "SETTINGS that are not whole settings";
            return Err(Error::connection(ErrorCode::FrameSizeError, reason));
        }
        let mut settings = Self::default();
        while payload.has_remaining() {
            settings.set(payload.get_u16(), payload.get_u32(), role)?;
        }
        Ok(settings)
    }

    fn set(&mut self, id: u16, value: u32, role: Role) -> Result<(), Error> {
        match id {
            HEADER_TABLE_SIZE => self.header_table_size = Some(value),
            ENABLE_PUSH => {
                let push = boolean(value, "SETTINGS_ENABLE_PUSH that is neither 0 nor 1")?;
                if push && role == Role::Client {
                    return Err(protocol_error("SETTINGS_ENABLE_PUSH from a server"));
                }
                self.enable_push = Some(push);
            }
            MAX_CONCURRENT_STREAMS => self.max_concurrent_streams = Some(value),
            INITIAL_WINDOW_SIZE => {
                if value > MAX_WINDOW {
                    let reason = "SETTINGS_INITIAL_WINDOW_SIZE above 2^31-1";
                    return Err(Error::connection(ErrorCode::FlowControlError, reason));
                }
                self.initial_window_size = Some(value);
            }
            MAX_FRAME_SIZE => {
                if !(DEFAULT_MAX_FRAME_SIZE as u32..1 << 24).contains(&value) {
                    return Err(protocol_error("SETTINGS_MAX_FRAME_SIZE out of range"));
                }
                self.max_frame_size = Some(value);
            }
            MAX_HEADER_LIST_SIZE => self.max_header_list_size = Some(value),
            ENABLE_CONNECT_PROTOCOL => {
                let reason = "SETTINGS_ENABLE_CONNECT_PROTOCOL that is neither 0 nor 1";
                self.enable_connect_protocol = Some(boolean(value, reason)?);
            }
            NO_RFC7540_PRIORITIES => {
                let reason = "SETTINGS_NO_RFC7540_PRIORITIES that is neither 0 nor 1";
                self.no_rfc7540_priorities = Some(boolean(value, reason)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes the payload of a SETTINGS frame.
    pub(super) fn encode(&self, out: &mut BytesMut) {
        let settings = [
            (HEADER_TABLE_SIZE, self.header_table_size),
            (ENABLE_PUSH, self.enable_push.map(u32::from)),
            (MAX_CONCURRENT_STREAMS, self.max_concurrent_streams),
            (INITIAL_WINDOW_SIZE, self.initial_window_size),
            (MAX_FRAME_SIZE, self.max_frame_size),
            (MAX_HEADER_LIST_SIZE, self.max_header_list_size),
            (ENABLE_CONNECT_PROTOCOL, self.enable_connect_protocol.map(u32::from)),
            (NO_RFC7540_PRIORITIES, self.no_rfc7540_priorities.map(u32::from)),
        ];
        for (id, value) in settings {
            if let Some(value) = value {
                out.put_u16(id);
                out.put_u32(value);
            }
        }
    }
}

fn boolean(value: u32, reason: &'static str) -> Result<bool, Error> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(protocol_error(reason)),
    }
}

const fn protocol_error(reason: &'static str) -> Error {
    Error::connection(ErrorCode::ProtocolError, reason)
}
