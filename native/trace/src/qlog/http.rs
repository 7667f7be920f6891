//! Events of HTTP/3.

use std::io::Write;
use std::time::Duration;

use super::Qlog;
use super::json::Members;

/// Which way a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Made here, to be sent.
    Created,
    /// Received, and read.
    Parsed,
}

/// An HTTP/3 frame (RFC 9114 section 7.2), or PRIORITY_UPDATE (RFC 9218 section 7.2).
#[derive(Clone, Copy, Debug)]
pub enum HttpFrame<'a> {
    /// DATA.
    Data,
    /// HEADERS.
    Headers(&'a [(&'a [u8], &'a [u8])]),
    /// SETTINGS: identifiers and values.
    Settings(&'a [(u64, u64)]),
    /// GOAWAY, with the identifier that it names.
    Goaway(u64),
    /// PRIORITY_UPDATE.
    PriorityUpdate {
        /// The stream it is about.
        stream: u64,
        /// Priority Field Value.
        value: &'a [u8],
    },
    /// Another type.
    Other(u64),
}

impl<W: Write> Qlog<W> {
    /// A frame was made or read on a stream; `length` is that of its payload in bytes.
    pub fn http_frame(
        &mut self,
        at: Duration,
        way: Way,
        stream: u64,
        length: u64,
        frame: &HttpFrame<'_>,
    ) {
        let name = match way {
            Way::Created => "http:frame_created",
            Way::Parsed => "http:frame_parsed",
        };
        self.event(at, name, |data| {
            data.number("stream_id", stream).number("length", length);
            data.object("frame", |members| write_frame(members, frame));
        });
    }

    /// A response's priority changed; both are Priority Field Values (RFC 9218 section 4).
    pub fn priority_updated(&mut self, at: Duration, stream: u64, old: Option<&str>, new: &str) {
        self.event(at, "http:priority_updated", |data| {
            data.number("stream_id", stream);
            if let Some(old) = old {
                data.text("old", old);
            }
            data.text("new", new);
        });
    }
}

fn write_frame(members: &mut Members<'_>, frame: &HttpFrame<'_>) {
    match *frame {
        HttpFrame::Data => {
            members.text("frame_type", "data");
        }
        HttpFrame::Headers(fields) => {
            members.text("frame_type", "headers");
            members.array("headers", |items| {
                for (name, value) in fields {
                    items.object(|field| {
                        field.lossy("name", name).lossy("value", value);
                    });
                }
            });
        }
        HttpFrame::Settings(settings) => write_settings(members, settings),
        HttpFrame::Goaway(id) => {
            members.text("frame_type", "goaway").number("id", id);
        }
        HttpFrame::PriorityUpdate { stream, value } => {
            members.text("frame_type", "priority_update").number("stream_id", stream);
            members.lossy("priority_field_value", value);
        }
        HttpFrame::Other(frame_type) => {
            members.text("frame_type", "unknown").number("frame_type_value", frame_type);
        }
    }
}

fn write_settings(members: &mut Members<'_>, settings: &[(u64, u64)]) {
    members.text("frame_type", "settings");
    members.array("settings", |items| {
        for &(id, value) in settings {
            items.object(|setting| {
                match id {
                    0x01 => setting.text("name", "SETTINGS_QPACK_MAX_TABLE_CAPACITY"),
                    0x06 => setting.text("name", "SETTINGS_MAX_FIELD_SECTION_SIZE"),
                    0x07 => setting.text("name", "SETTINGS_QPACK_BLOCKED_STREAMS"),
                    _ => setting.text("name", &format!("0x{id:x}")),
                };
                setting.number("value", value);
            });
        }
    });
}
