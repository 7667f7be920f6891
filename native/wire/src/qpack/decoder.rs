//! The decoder: sections that can be read, and those that have to wait.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

use super::instructions::{DecoderInstruction, EncoderInstruction, Instructions, NameReference};
use super::section::{Prefix, decode_lines, static_entry};
use crate::dynamic_table::DynamicTable;
use crate::fields::{Field, Fields};
use crate::h3::{Error, ErrorCode};
use crate::primitive::{Invalid, Reader};

/// Reads the field sections of a connection.
///
/// What it returns of [`Decoder::instructions`] belongs on the decoder stream.
#[derive(Debug)]
pub struct Decoder {
    table: DynamicTable,
    /// SETTINGS_QPACK_MAX_TABLE_CAPACITY, in bytes.
    max_capacity: u64,
    /// SETTINGS_QPACK_BLOCKED_STREAMS.
    max_blocked: usize,
    /// Bytes of a decoded section, as [`Fields::size`] counts them.
    max_section: u64,
    /// At most one for each stream: what comes after it has to wait, too.
    blocked: BTreeMap<u64, (Prefix, Reader)>,
    /// Insertions that the encoder knows to have arrived.
    acknowledged: u64,
    encoder_stream: Instructions,
    instructions: BytesMut,
}

impl Decoder {
    /// At the start of a connection: the settings that the peer is told, and the bytes that a section may
    /// have when decoded.
    #[must_use]
    pub fn new(max_capacity: u64, max_blocked: usize, max_section: u64) -> Self {
        Self {
            table: DynamicTable::new(0),
            max_capacity,
            max_blocked,
            max_section,
            blocked: BTreeMap::new(),
            acknowledged: 0,
            encoder_stream: Instructions::default(),
            instructions: BytesMut::new(),
        }
    }

    /// Reads the next bytes of the peer's encoder stream. Sections may be
    /// [unblocked](Self::unblocked) by that.
    ///
    /// # Errors
    ///
    /// QPACK_ENCODER_STREAM_ERROR for an instruction that cannot be followed.
    pub fn read(&mut self, input: &Bytes) -> Result<(), Error> {
        self.encoder_stream.push(input);
        self.follow()
            .map_err(|invalid| Error::connection(ErrorCode::QpackEncoderStreamError, invalid.0))
    }

    fn follow(&mut self) -> Result<(), Invalid> {
        while let Some(instruction) = self.encoder_stream.next_of_encoder(self.table.capacity())? {
            match instruction {
                EncoderInstruction::SetCapacity(capacity) if capacity > self.max_capacity => {
                    return Err(Invalid("a dynamic table capacity above the maximum"));
                }
                EncoderInstruction::SetCapacity(capacity) => self.table.resize(capacity),
                EncoderInstruction::InsertWithName { name, value } => {
                    let Field { name, .. } = match name {
                        NameReference::Static(index) => static_entry(index)?,
                        NameReference::Dynamic(index) => self.entry(index)?,
                    };
                    self.insert(&Field { name, value })?;
                }
                EncoderInstruction::Insert { name, value } => {
                    self.insert(&Field { name, value })?;
                }
                EncoderInstruction::Duplicate(index) => self.insert(&self.entry(index)?)?,
            }
        }
        Ok(())
    }

    /// The entry at a relative index of the encoder stream (§3.2.5).
    fn entry(&self, index: u64) -> Result<Field, Invalid> {
        let index = self.table.inserted().checked_sub(index).and_then(|index| index.checked_sub(1));
        let entry = index.and_then(|index| self.table.get(index)).cloned();
        entry.ok_or(Invalid("an instruction about an entry that is not there"))
    }

    fn insert(&mut self, field: &Field) -> Result<(), Invalid> {
        if self.table.insert(&field.name, &field.value) {
            Ok(())
        } else {
            Err(Invalid("an entry larger than the dynamic table"))
        }
    }

    /// Reads a field section of a stream.
    ///
    /// # Returns
    /// Nothing if it has to wait for the encoder stream: then nothing else of the stream may be read
    /// until it is [unblocked](Self::unblocked).
    ///
    /// # Errors
    ///
    /// QPACK_DECOMPRESSION_FAILED on the connection if the section cannot be decoded, or one more stream
    /// would wait than may; H3_EXCESSIVE_LOAD on the stream if it is too large.
    pub fn decode(&mut self, stream: u64, section: Bytes) -> Result<Option<Fields>, Error> {
        let mut reader = Reader::new(section);
        let inserted = self.table.inserted();
        let prefix = Prefix::decode(&mut reader, self.max_capacity, inserted)?;
        if prefix.required <= inserted {
            return self.decode_lines(stream, prefix, reader).map(Some);
        }
        if self.blocked.len() >= self.max_blocked {
            let reason = "more blocked streams than SETTINGS_QPACK_BLOCKED_STREAMS";
            return Err(Error::connection(ErrorCode::QpackDecompressionFailed, reason));
        }
        self.blocked.insert(stream, (prefix, reader));
        Ok(None)
    }

    /// The next stream whose section need not wait any longer, and the section.
    ///
    /// # Errors
    ///
    /// See [`Self::decode`].
    pub fn unblocked(&mut self) -> Option<(u64, Result<Fields, Error>)> {
        let inserted = self.table.inserted();
        let is_free = |(_, (prefix, _)): &(&u64, &(Prefix, Reader))| prefix.required <= inserted;
        let stream = self.blocked.iter().find(is_free).map(|(stream, _)| *stream)?;
        let (prefix, reader) = self.blocked.remove(&stream)?;
        Some((stream, self.decode_lines(stream, prefix, reader)))
    }

    fn decode_lines(
        &mut self,
        stream: u64,
        prefix: Prefix,
        mut reader: Reader,
    ) -> Result<Fields, Error> {
        let fields = decode_lines(&mut reader, prefix, &self.table, self.max_section)?;
        if prefix.required > 0 {
            DecoderInstruction::SectionAcknowledgment(stream).encode(&mut self.instructions);
            self.acknowledged = self.acknowledged.max(prefix.required);
        }
        Ok(fields)
    }

    /// The stream was reset, or is not read to its end: sections of it will not be decoded (§2.2.2.2).
    pub fn cancel(&mut self, stream: u64) {
        self.blocked.remove(&stream);
        if self.max_capacity > 0 {
            DecoderInstruction::StreamCancellation(stream).encode(&mut self.instructions);
        }
    }

    /// Memory that the peer's sections and instructions take, in bytes: those that wait, and the table.
    #[must_use]
    pub fn kept(&self) -> usize {
        let sections = self.blocked.values().map(|(_, reader)| reader.remaining());
        let table = usize::try_from(self.table.size()).unwrap_or(usize::MAX);
        sections.sum::<usize>() + self.encoder_stream.kept() + self.instructions.len() + table
    }

    /// How many streams wait.
    #[must_use]
    pub fn blocked(&self) -> usize {
        self.blocked.len()
    }

    /// Takes what is to be sent on the decoder stream, perhaps nothing. To be called when all that has
    /// arrived was read, so that insertions are acknowledged together.
    pub fn instructions(&mut self) -> Bytes {
        let inserted = self.table.inserted();
        if inserted > self.acknowledged {
            let increment = inserted - self.acknowledged;
            DecoderInstruction::InsertCountIncrement(increment).encode(&mut self.instructions);
            self.acknowledged = inserted;
        }
        self.instructions.split().freeze()
    }
}
