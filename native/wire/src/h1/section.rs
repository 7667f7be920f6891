//! Lines up to an empty one: heads and trailers (RFC 9112 §2.1).

use bytes::{Buf, Bytes, BytesMut};

use super::Error;
use super::error::malformed;
use crate::fields::{Field, Fields};

/// Fields a section may have.
pub(super) const MAX_FIELDS: usize = 128;

/// Collects the lines of a section; without a copy if they come in one piece.
#[derive(Debug)]
pub(super) struct SectionReader {
    kept: BytesMut,
    max_len: usize,
    /// Whether empty lines in front of it are dropped (RFC 9112 §2.2).
    skips_empty_lines: bool,
    progress: Progress,
}

/// Where in a section its end is looked for.
#[derive(Clone, Copy, Debug)]
struct Progress {
    has_begun: bool,
    line_is_empty: bool,
    has_line: bool,
}

impl Progress {
    const START: Self = Self { has_begun: false, line_is_empty: true, has_line: false };

    /// Whether the section ends with this byte.
    fn ends_with(&mut self, byte: u8) -> bool {
        match byte {
            b'\n' if self.line_is_empty => return true,
            b'\n' => (self.line_is_empty, self.has_line) = (true, true),
            b'\r' => {}
            _ => self.line_is_empty = false,
        }
        false
    }
}

impl SectionReader {
    /// For the head of a message.
    pub(super) fn head(max_len: usize) -> Self {
        Self { skips_empty_lines: true, ..Self::trailers(max_len) }
    }

    /// For the trailers of a message.
    pub(super) fn trailers(max_len: usize) -> Self {
        Self { kept: BytesMut::new(), max_len, skips_empty_lines: false, progress: Progress::START }
    }

    /// Whether nothing has come yet.
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Memory that a section which is not whole takes, in bytes.
    pub(super) fn kept(&self) -> usize {
        self.kept.capacity()
    }

    /// Takes bytes off `input` and returns the section, with its empty line, once it is whole. It has memory
    /// of its own, and does not keep all that came with it.
    pub(super) fn read(&mut self, input: &mut Bytes) -> Result<Option<Bytes>, Error> {
        if self.skips_empty_lines && !self.progress.has_begun {
            let empty = input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            input.advance(empty);
        }
        self.progress.has_begun |= !input.is_empty();
        let room = self.max_len - self.kept.len();
        let window = &input[..input.len().min(room)];
        let end = window.iter().position(|&byte| self.progress.ends_with(byte));
        let Some(end) = end else {
            if input.len() > room {
                return Err(if self.progress.has_line {
                    Error::HeadTooLarge
                } else {
                    Error::TargetTooLong
                });
            }
            self.kept.extend_from_slice(input);
            input.clear();
            return Ok(None);
        };
        let last = input.split_to(end + 1);
        self.progress = Progress::START;
        if self.kept.is_empty() {
            return Ok(Some(Bytes::copy_from_slice(&last)));
        }
        self.kept.extend_from_slice(&last);
        Ok(Some(std::mem::take(&mut self.kept).freeze()))
    }
}

/// The fields of a section, whose values share its memory.
pub(super) fn fields(section: &Bytes, headers: &[httparse::Header<'_>]) -> Fields {
    headers
        .iter()
        .map(|header| Field {
            name: lower_case(section, header.name),
            value: section.slice_ref(header.value.trim_ascii()),
        })
        .collect()
}

fn lower_case(section: &Bytes, name: &str) -> Bytes {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        name.to_ascii_lowercase().into()
    } else {
        section.slice_ref(name.as_bytes())
    }
}

/// The trailers a section holds.
pub(super) fn parse_trailers(section: &Bytes) -> Result<Fields, Error> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_FIELDS];
    match httparse::parse_headers(section, &mut headers)? {
        httparse::Status::Complete((_, headers)) => Ok(fields(section, headers)),
        httparse::Status::Partial => Err(malformed("an empty line that is not one")),
    }
}
