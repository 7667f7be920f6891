//! SETTINGS (RFC 9114 §7.2.4, RFC 9204 §5, RFC 9220 §3).

use std::collections::BTreeSet;

use bytes::{Bytes, BytesMut};

use super::{Error, ErrorCode, reserved};
use crate::varint;

const QPACK_MAX_TABLE_CAPACITY: u64 = 0x01;
const MAX_FIELD_SECTION_SIZE: u64 = 0x06;
const QPACK_BLOCKED_STREAMS: u64 = 0x07;
const ENABLE_CONNECT_PROTOCOL: u64 = 0x08;

/// The settings Headway knows; others are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// SETTINGS_MAX_FIELD_SECTION_SIZE in bytes; unlimited if it is absent.
    pub max_field_section_size: Option<u64>,
    /// SETTINGS_QPACK_MAX_TABLE_CAPACITY in bytes.
    pub qpack_max_table_capacity: u64,
    /// SETTINGS_QPACK_BLOCKED_STREAMS.
    pub qpack_blocked_streams: u64,
    /// SETTINGS_ENABLE_CONNECT_PROTOCOL.
    pub enable_connect_protocol: bool,
}

impl Settings {
    /// Reads the payload of a SETTINGS frame.
    ///
    /// # Errors
    ///
    /// H3_FRAME_ERROR if it is cut short; H3_SETTINGS_ERROR if a setting comes twice or is one that
    /// HTTP/2 had and HTTP/3 does not.
    pub fn decode(mut payload: Bytes) -> Result<Self, Error> {
        let mut settings = Self::default();
        let mut seen = BTreeSet::new();
        while !payload.is_empty() {
            let (id, value) = varint::take(&mut payload)
                .zip(varint::take(&mut payload))
                .ok_or(Error::connection(ErrorCode::FrameError, "SETTINGS cut short"))?;
            if !seen.insert(id) {
                return Err(Error::connection(ErrorCode::SettingsError, "a setting twice"));
            }
            settings.set(id, value)?;
        }
        Ok(settings)
    }

    fn set(&mut self, id: u64, value: u64) -> Result<(), Error> {
        match id {
            QPACK_MAX_TABLE_CAPACITY => self.qpack_max_table_capacity = value,
            MAX_FIELD_SECTION_SIZE => self.max_field_section_size = Some(value),
            QPACK_BLOCKED_STREAMS => self.qpack_blocked_streams = value,
            ENABLE_CONNECT_PROTOCOL => {
                let wrong = "SETTINGS_ENABLE_CONNECT_PROTOCOL that is neither 0 nor 1";
                let wrong = Error::connection(ErrorCode::SettingsError, wrong);
                self.enable_connect_protocol = [false, true]
                    .get(usize::try_from(value).unwrap_or(usize::MAX))
                    .copied()
                    .ok_or(wrong)?;
            }
            // RFC 9114 §7.2.4.1 and §11.2.2.
            0x00 | 0x02..=0x05 => {
                return Err(Error::connection(ErrorCode::SettingsError, "a setting of HTTP/2"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes the payload of a SETTINGS frame: what is not at its default, and one reserved setting
    /// as RFC 9114 §7.2.4.1 recommends.
    pub(super) fn encode(&self, out: &mut BytesMut) {
        let known = [
            (
                QPACK_MAX_TABLE_CAPACITY,
                Some(self.qpack_max_table_capacity).filter(|&size| size > 0),
            ),
            (MAX_FIELD_SECTION_SIZE, self.max_field_section_size),
            (QPACK_BLOCKED_STREAMS, Some(self.qpack_blocked_streams).filter(|&count| count > 0)),
            (ENABLE_CONNECT_PROTOCOL, self.enable_connect_protocol.then_some(1)),
            (reserved(1), Some(0)),
        ];
        for (id, value) in known {
            if let Some(value) = value {
                varint::encode(id, out);
                varint::encode(value, out);
            }
        }
    }
}
