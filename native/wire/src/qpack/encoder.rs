//! The encoder: what it inserts, and what it refers to.

use bytes::{Bytes, BytesMut};

use super::instructions::{DecoderInstruction, EncoderInstruction, Instructions, NameReference};
use super::outstanding::{Outstanding, Section};
use super::section::{Name, Prefix, put_dynamic, put_literal, put_static};
use super::static_table::TABLE;
use crate::dynamic_table::{DynamicTable, line_size};
use crate::fields::{Field, LINE_OVERHEAD, Line};
use crate::h3::{Error, ErrorCode, Settings};
use crate::indexing::{Indexing, indexing};
use crate::primitive::Invalid;
use crate::static_table::{self, Match};

/// The part of the table whose entries are soon to go: they are inserted anew rather than held on to
/// (RFC 9204 §2.1.1.1).
const DRAINING: u64 = 4;

/// Writes the field sections of a connection.
///
/// What it returns of [`Encoder::instructions`] belongs on the encoder stream, in front of the sections
/// that were written before.
#[derive(Debug, Default)]
pub struct Encoder {
    table: DynamicTable,
    /// Bytes the table may have, whatever the decoder allows.
    limit: u64,
    /// SETTINGS_QPACK_MAX_TABLE_CAPACITY of the decoder, in bytes.
    max_capacity: u64,
    /// SETTINGS_QPACK_BLOCKED_STREAMS of the decoder.
    max_blocked: u64,
    outstanding: Outstanding,
    decoder_stream: Instructions,
    instructions: BytesMut,
}

/// A section that is being written.
struct Draft {
    base: u64,
    /// Whether it may refer to what the decoder perhaps does not have yet.
    may_block: bool,
    /// Insertions that the decoder has.
    known_received: u64,
    /// Whether it may refer to the dynamic table at all.
    may_refer: bool,
    refers: Option<Section>,
    lines: BytesMut,
}

impl Draft {
    /// Whether the section may refer to an entry.
    fn allows(&self, index: u64) -> bool {
        self.may_refer && (self.may_block || index < self.known_received)
    }

    fn note(&mut self, index: u64) {
        let Section { required, oldest } =
            self.refers.unwrap_or(Section { required: 0, oldest: index });
        self.refers =
            Some(Section { required: required.max(index + 1), oldest: oldest.min(index) });
    }
}

impl Encoder {
    /// At the start of a connection, with a dynamic table of at most `limit` bytes. There is none until
    /// the peer's settings [have come](Self::allow).
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Heeds the peer's settings, which come once.
    pub fn allow(&mut self, settings: &Settings) {
        self.max_capacity = settings.qpack_max_table_capacity;
        self.max_blocked = settings.qpack_blocked_streams;
        let capacity = self.limit.min(self.max_capacity);
        if capacity >= LINE_OVERHEAD {
            self.table.resize(capacity);
            EncoderInstruction::SetCapacity(capacity).encode(&mut self.instructions);
        }
    }

    /// Reads the next bytes of the peer's decoder stream.
    ///
    /// # Errors
    ///
    /// QPACK_DECODER_STREAM_ERROR for an acknowledgment of what was not sent.
    pub fn read(&mut self, input: &Bytes) -> Result<(), Error> {
        self.decoder_stream.push(input);
        self.acknowledged()
            .map_err(|invalid| Error::connection(ErrorCode::QpackDecoderStreamError, invalid.0))
    }

    fn acknowledged(&mut self) -> Result<(), Invalid> {
        while let Some(instruction) = self.decoder_stream.next_of_decoder()? {
            match instruction {
                DecoderInstruction::SectionAcknowledgment(stream) => {
                    self.outstanding.acknowledge(stream)?;
                }
                DecoderInstruction::StreamCancellation(stream) => self.outstanding.cancel(stream),
                DecoderInstruction::InsertCountIncrement(by) => {
                    self.outstanding.increment(by, self.table.inserted())?;
                }
            }
        }
        Ok(())
    }

    /// Takes what is to be sent on the encoder stream, perhaps nothing.
    pub fn instructions(&mut self) -> Bytes {
        self.instructions.split().freeze()
    }

    /// Writes a field section for a stream. It must be sent, and those of a stream in their order.
    pub fn encode<'a>(
        &mut self,
        stream: u64,
        lines: impl IntoIterator<Item = Line<'a>>,
        out: &mut BytesMut,
    ) {
        let mut draft = Draft {
            base: self.table.inserted(),
            may_block: self.outstanding.may_block(stream, self.max_blocked),
            known_received: self.outstanding.known_received(),
            may_refer: self.table.capacity() > 0 && self.outstanding.has_room(),
            refers: None,
            lines: BytesMut::new(),
        };
        for (name, value) in lines {
            self.encode_line(&mut draft, name, value);
        }
        let required = draft.refers.map_or(0, |section| section.required);
        Prefix { required, base: draft.base }.encode(self.max_capacity, out);
        out.extend_from_slice(&draft.lines);
        if let Some(section) = draft.refers {
            self.outstanding.push(stream, section);
        }
    }

    fn encode_line(&mut self, draft: &mut Draft, name: &[u8], value: &[u8]) {
        let indexing = indexing(name, value);
        let fixed = static_table::find(TABLE, name, value);
        if let (Match::Line(index), true) = (fixed, indexing != Indexing::Never) {
            return put_static(index as u64, &mut draft.lines);
        }
        if let Some(index) = self.entry(draft, fixed, indexing, name, value) {
            draft.note(index);
            return put_dynamic(index, draft.base, &mut draft.lines);
        }
        let name = match (fixed, self.table.find(name, value)) {
            (Match::Line(index) | Match::Name(index), _) => Name::Static(index as u64),
            (_, Match::Line(index) | Match::Name(index)) if draft.allows(index as u64) => {
                draft.note(index as u64);
                Name::Dynamic(index as u64)
            }
            _ => Name::Literal(name),
        };
        put_literal(name, value, indexing == Indexing::Never, draft.base, &mut draft.lines);
    }

    /// The entry of the dynamic table to refer to, if there is one, perhaps made for this.
    fn entry(
        &mut self,
        draft: &Draft,
        fixed: Match,
        indexing: Indexing,
        name: &[u8],
        value: &[u8],
    ) -> Option<u64> {
        if !draft.may_refer || indexing == Indexing::Never {
            return None;
        }
        let index = match (self.table.find(name, value), indexing) {
            (Match::Line(index), _) => self.refresh(draft, index as u64),
            (found, Indexing::Insert) if self.has_room(draft, line_size(name, value)) => {
                self.insert(fixed, found, name, value)
            }
            _ => return None,
        };
        draft.allows(index).then_some(index)
    }

    /// Whether nothing has to be evicted for `size` bytes that must not be (§2.1.1).
    fn has_room(&self, draft: &Draft, size: u64) -> bool {
        let oldest = self.outstanding.oldest();
        let oldest = draft.refers.map_or(oldest, |section| section.oldest.min(oldest));
        size <= self.table.capacity() && self.table.oldest_after(size) <= oldest
    }

    fn insert(&mut self, fixed: Match, found: Match, name: &[u8], value: &[u8]) -> u64 {
        let index = self.table.inserted();
        let owned = Bytes::copy_from_slice(value);
        let reference = match (fixed, found) {
            (Match::Line(index) | Match::Name(index), _) => {
                Some(NameReference::Static(index as u64))
            }
            (_, Match::Line(entry) | Match::Name(entry)) => {
                Some(NameReference::Dynamic(index - 1 - entry as u64))
            }
            _ => None,
        };
        let instruction = match reference {
            Some(name) => EncoderInstruction::InsertWithName { name, value: owned },
            None => EncoderInstruction::Insert { name: Bytes::copy_from_slice(name), value: owned },
        };
        instruction.encode(&mut self.instructions);
        self.table.insert(name, value);
        index
    }

    /// Inserts an entry anew that is soon to go, if the section could refer to the new one.
    ///
    /// # Returns
    /// The index to refer to.
    fn refresh(&mut self, draft: &Draft, index: u64) -> u64 {
        let is_draining = index < self.table.oldest_after(self.table.capacity() / DRAINING);
        let Some(Field { name, value }) = self.table.get(index).cloned() else { return index };
        let has_room = self.has_room(draft, line_size(&name, &value));
        if !(is_draining && draft.may_block && has_room) {
            return index;
        }
        let new = self.table.inserted();
        EncoderInstruction::Duplicate(new - 1 - index).encode(&mut self.instructions);
        self.table.insert(&name, &value);
        new
    }
}

/// Writes a field section that refers to no dynamic table.
pub fn encode_section<'a>(lines: impl IntoIterator<Item = Line<'a>>, out: &mut BytesMut) {
    Encoder::default().encode(0, lines, out);
}
