//! QPACK's encoder and decoder, by the examples of RFC 9204 and against each other.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::{Bytes, BytesMut};
use headway_wire::h3::{Error, ErrorCode, Settings};
use headway_wire::qpack::{Decoder, Encoder};
use headway_wire::{Field, Fields};
use proptest::prelude::*;
use proptest::sample::Index;

fn hex(text: &str) -> Bytes {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| char::from(byte).to_digit(16).unwrap() as u8)
        .collect();
    digits.chunks(2).map(|pair| (pair[0] << 4) | pair[1]).collect()
}

fn fields(lines: &[(&'static str, &'static str)]) -> Fields {
    lines.iter().map(|&(name, value)| Field::new(name, value)).collect()
}

const AUTHORITY: (&str, &str) = (":authority", "www.example.com");
const CUSTOM: (&str, &str) = ("custom-key", "custom-value");

/// RFC 9204 §B.2 to §B.5.
#[test]
fn decoder_by_the_examples_of_the_rfc() {
    let mut decoder = Decoder::new(220, 1, 1000);
    let first = hex("03 81 10 11");
    assert_eq!(decoder.decode(4, first).unwrap(), None, "the table is empty");
    assert_eq!(decoder.blocked(), 1);
    decoder.read(&hex("3fbd01 c00f 7777 772e 6578 616d 706c 652e 636f 6d")).unwrap();
    assert!(decoder.unblocked().is_none(), "one entry is not enough");
    decoder.read(&hex("c10c 2f73 616d 706c 652f 7061 7468")).unwrap();
    let (stream, section) = decoder.unblocked().unwrap();
    assert_eq!(stream, 4);
    assert_eq!(section.unwrap(), fields(&[AUTHORITY, (":path", "/sample/path")]));
    assert_eq!(decoder.instructions(), hex("84"));

    decoder.read(&hex("4a63 7573 746f 6d2d 6b65 790c 6375 7374 6f6d 2d76 616c 7565")).unwrap();
    assert_eq!(decoder.instructions(), hex("01"));

    let second = hex("0500 80 c1 81");
    assert_eq!(decoder.decode(8, second.clone()).unwrap(), None);
    decoder.cancel(8);
    assert_eq!(decoder.instructions(), hex("48"));
    decoder.read(&hex("02")).unwrap();
    assert!(decoder.unblocked().is_none(), "it was cancelled");
    let expected = fields(&[AUTHORITY, (":path", "/"), CUSTOM]);
    assert_eq!(decoder.decode(12, second.clone()).unwrap(), Some(expected));
    assert_eq!(decoder.instructions(), hex("8c"));

    decoder.read(&hex("810d 6375 7374 6f6d 2d76 616c 7565 32")).unwrap();
    // Base 5, all but the first entry, which was evicted.
    let last =
        fields(&[("custom-key", "custom-value2"), AUTHORITY, CUSTOM, (":path", "/sample/path")]);
    assert_eq!(decoder.decode(16, hex("0600 80 81 82 83")).unwrap(), Some(last));
    let error = decoder.decode(20, hex("0600 84")).unwrap_err();
    assert_eq!(error.code, ErrorCode::QpackDecompressionFailed);
}

fn settings(capacity: u64, blocked: u64) -> Settings {
    Settings {
        qpack_max_table_capacity: capacity,
        qpack_blocked_streams: blocked,
        ..Settings::default()
    }
}

/// RFC 9204 §B.2 and §B.3, with Huffman encoding where that is shorter.
#[test]
fn encoder_by_the_examples_of_the_rfc() {
    let mut encoder = Encoder::new(220);
    encoder.allow(&settings(220, 1));
    assert_eq!(encoder.instructions(), hex("3fbd01"));
    let mut section = BytesMut::new();
    encoder.encode(4, fields(&[AUTHORITY, CUSTOM]).lines(), &mut section);
    assert_eq!(section, hex("03 81 10 11"));
    let inserted = encoder.instructions();
    assert_eq!(inserted[..2], [0xc0, 0x8c], "a name of the static table, and 12 bytes");
    assert_eq!(inserted[14..15], [0x68], "a name of 8 bytes");
    encoder.read(&hex("84")).unwrap();

    let mut section = BytesMut::new();
    encoder.encode(8, fields(&[CUSTOM, AUTHORITY]).lines(), &mut section);
    assert_eq!(section, hex("03 00 80 81"));
    assert!(encoder.instructions().is_empty());
}

#[test]
fn without_blocked_streams_entries_are_used_once_they_are_acknowledged() {
    let mut encoder = Encoder::new(4096);
    encoder.allow(&settings(4096, 0));
    let mut encoded = || {
        let mut section = BytesMut::new();
        encoder.encode(0, fields(&[CUSTOM]).lines(), &mut section);
        (section, encoder.instructions())
    };
    let (first, insertions) = encoded();
    assert!(insertions.len() > 4 && first.len() > 4, "inserted, and literal");
    let (second, insertions) = encoded();
    assert_eq!((second, insertions), (first, Bytes::new()), "not inserted twice");
    encoder.read(&hex("01")).unwrap();
    let mut section = BytesMut::new();
    encoder.encode(0, fields(&[CUSTOM]).lines(), &mut section);
    assert_eq!(section, hex("0200 80"));
}

#[test]
fn secrets_are_never_indexed() {
    let mut encoder = Encoder::new(4096);
    encoder.allow(&settings(4096, 100));
    encoder.instructions();
    let secrets = [
        ("authorization", "Basic c2VjcmV0"),
        ("cookie", "a=1"),
        ("proxy-authorization", "Basic c2VjcmV0"),
    ];
    for secret in secrets {
        let mut section = BytesMut::new();
        encoder.encode(0, fields(&[secret]).lines(), &mut section);
        let never = if section[2] & 0b0100_0000 != 0 { 0b0010_0000 } else { 0b0001_0000 };
        assert_ne!(section[2] & never, 0, "{secret:?}");
        assert!(encoder.instructions().is_empty());
    }
}

#[test]
fn encoder_stream_errors() {
    let bad = [
        "3f be 01",             // a capacity of 221
        "3f bd 01 80 01 61",    // a name that is not there
        "3f bd 01 00",          // a duplicate of nothing
        "3f bd 01 ff 24 01 61", // static name 99
        "80",                   // an insertion without capacity
        "40",
        "00",
        "3f 01 41 61 00",    // an entry of 33 bytes in a table of 32
        "3f bd 01 61 ff 00", // not Huffman
        "3f 80 80 80 80 80 80 80 80 80 80 80", // endless
    ];
    for bytes in bad {
        let mut decoder = Decoder::new(220, 0, 1000);
        let pieces = hex(bytes);
        let error = pieces.iter().find_map(|&byte| decoder.read(&vec![byte].into()).err());
        assert_eq!(error.map(|e| e.code), Some(ErrorCode::QpackEncoderStreamError), "{bytes}");
        assert_eq!(Decoder::new(220, 0, 1000).read(&pieces).err(), error, "{bytes}");
    }
    Decoder::new(0, 0, 1000).read(&hex("20 20 20")).unwrap();
}

#[test]
fn decoder_stream_errors() {
    let bad = [
        "80",                                     // a section that was not sent
        "84 84",                                  // acknowledged twice
        "00",                                     // an increment of nothing
        "02",                                     // more than was inserted
        "44 84",                                  // cancelled before
        "7f 80 80 80 80 80 80 80 80 80 80 80 80", // endless
    ];
    for bytes in bad {
        let mut encoder = Encoder::new(220);
        encoder.allow(&settings(220, 1));
        encoder.encode(4, fields(&[CUSTOM]).lines(), &mut BytesMut::new());
        let error = hex(bytes).iter().find_map(|&byte| encoder.read(&vec![byte].into()).err());
        assert_eq!(error.map(|e| e.code), Some(ErrorCode::QpackDecoderStreamError), "{bytes}");
    }
    // Cancellations of whatever streams.
    Encoder::new(0).read(&hex("40 44 7f 81 01 40")).unwrap();
}

#[test]
fn too_many_blocked_streams() {
    let mut decoder = Decoder::new(220, 2, 1000);
    for stream in [0, 4] {
        assert_eq!(decoder.decode(stream, hex("0200 80")).unwrap(), None);
    }
    let error = decoder.decode(8, hex("0200 80")).unwrap_err();
    assert_eq!(error.code, ErrorCode::QpackDecompressionFailed);
}

/// Encoder and decoder, and what is on its way between them.
struct Pair {
    encoder: Encoder,
    decoder: Decoder,
    encoder_stream: VecDeque<u8>,
    decoder_stream: VecDeque<u8>,
    sections: BTreeMap<u64, VecDeque<(Bytes, Fields)>>,
    waiting: BTreeMap<u64, Fields>,
    /// Streams that were reset, on which nothing more is sent.
    cancelled: BTreeSet<u64>,
    max_blocked: usize,
    /// All that was sent on the encoder stream and in sections, for mutants.
    log: Vec<Sent>,
}

#[derive(Clone, Debug)]
enum Sent {
    Instructions(Bytes),
    Section(u64, Bytes),
}

#[derive(Clone, Debug)]
enum Step {
    Encode(u64, Fields),
    EncoderStream(usize),
    Section(Index),
    DecoderStream(usize),
    Cancel(Index),
}

impl Pair {
    fn new(capacity: u64, max_blocked: usize) -> Self {
        let mut encoder = Encoder::new(capacity);
        encoder.allow(&settings(capacity, max_blocked as u64));
        Self {
            encoder,
            decoder: Decoder::new(capacity, max_blocked, u64::MAX),
            encoder_stream: VecDeque::new(),
            decoder_stream: VecDeque::new(),
            sections: BTreeMap::new(),
            waiting: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            max_blocked,
            log: Vec::new(),
        }
    }

    fn step(&mut self, step: Step) -> Result<(), Error> {
        match step {
            Step::Encode(stream, fields) => self.encode(stream, fields),
            Step::EncoderStream(bytes) => self.deliver_instructions(bytes)?,
            Step::DecoderStream(bytes) => {
                let bytes = bytes.min(self.decoder_stream.len());
                self.encoder.read(&self.decoder_stream.drain(..bytes).collect())?;
            }
            Step::Section(index) => self.deliver_section(|len| index.index(len))?,
            Step::Cancel(index) => self.cancel(&index),
        }
        assert!(self.decoder.blocked() <= self.max_blocked);
        assert_eq!(self.decoder.blocked(), self.waiting.len());
        Ok(())
    }

    fn encode(&mut self, stream: u64, fields: Fields) {
        if self.cancelled.contains(&stream) {
            return;
        }
        let mut section = BytesMut::new();
        self.encoder.encode(stream, fields.lines(), &mut section);
        let (section, instructions) = (section.freeze(), self.encoder.instructions());
        self.log.push(Sent::Instructions(instructions.clone()));
        self.log.push(Sent::Section(stream, section.clone()));
        self.encoder_stream.extend(instructions);
        self.sections.entry(stream).or_default().push_back((section, fields));
    }

    fn deliver_instructions(&mut self, bytes: usize) -> Result<(), Error> {
        let bytes = bytes.min(self.encoder_stream.len());
        self.decoder.read(&self.encoder_stream.drain(..bytes).collect())?;
        while let Some((stream, fields)) = self.decoder.unblocked() {
            assert_eq!(self.waiting.remove(&stream), Some(fields?));
        }
        self.decoder_stream.extend(self.decoder.instructions());
        Ok(())
    }

    /// Streams whose next section may arrive: it has to wait for one that waits.
    fn ready(&self) -> Vec<u64> {
        let free = self.sections.iter().filter(|(stream, sections)| {
            !sections.is_empty() && !self.waiting.contains_key(stream)
        });
        free.map(|(stream, _)| *stream).collect()
    }

    fn deliver_section(&mut self, choose: impl Fn(usize) -> usize) -> Result<(), Error> {
        let ready = self.ready();
        if ready.is_empty() {
            return Ok(());
        }
        let stream = ready[choose(ready.len())];
        let (section, fields) = self.sections.get_mut(&stream).unwrap().pop_front().unwrap();
        match self.decoder.decode(stream, section)? {
            Some(decoded) => assert_eq!(decoded, fields),
            None => drop(self.waiting.insert(stream, fields)),
        }
        self.decoder_stream.extend(self.decoder.instructions());
        Ok(())
    }

    /// A stream is reset: of its sections no more arrive.
    fn cancel(&mut self, index: &Index) {
        if self.sections.is_empty() {
            return;
        }
        let stream = *self.sections.keys().nth(index.index(self.sections.len())).unwrap();
        self.sections.remove(&stream);
        self.waiting.remove(&stream);
        self.cancelled.insert(stream);
        self.decoder.cancel(stream);
        self.decoder_stream.extend(self.decoder.instructions());
    }

    /// All that is on its way arrives, the encoder stream first or last.
    fn drain(&mut self, instructions_first: bool) -> Result<(), Error> {
        loop {
            if instructions_first || self.ready().is_empty() {
                self.step(Step::EncoderStream(usize::MAX))?;
            }
            if self.ready().is_empty() {
                break;
            }
            self.deliver_section(|_| 0)?;
        }
        self.step(Step::EncoderStream(usize::MAX))?;
        while !self.ready().is_empty() {
            self.deliver_section(|_| 0)?;
        }
        self.step(Step::DecoderStream(usize::MAX))?;
        assert_eq!(self.waiting.len(), 0);
        Ok(())
    }
}

fn any_field() -> impl Strategy<Value = Field> {
    let name = prop::sample::select(vec![
        ":status",
        ":path",
        "server",
        "date",
        "x-a",
        "x-b",
        "content-type",
        "cookie",
        "x-long-name",
    ]);
    let value = prop_oneof![
        8 => prop::sample::select(vec!["", "200", "a", "text/html", "some value or other"])
            .prop_map(|value| Bytes::from_static(value.as_bytes())),
        1 => prop::collection::vec(any::<u8>(), 0..300).prop_map(Bytes::from),
    ];
    (name, value).prop_map(|(name, value)| Field::new(name, value))
}

fn any_step() -> impl Strategy<Value = Step> {
    let fields = prop::collection::vec(any_field(), 0..8).prop_map(Fields::from);
    let bytes = || prop_oneof![1..20_usize, Just(usize::MAX)];
    prop_oneof![
        6 => (0..150_u64, fields).prop_map(|(stream, fields)| Step::Encode(4 * stream, fields)),
        4 => bytes().prop_map(Step::EncoderStream),
        6 => any::<Index>().prop_map(Step::Section),
        4 => bytes().prop_map(Step::DecoderStream),
        1 => any::<Index>().prop_map(Step::Cancel),
    ]
}

fn any_pair() -> impl Strategy<Value = (u64, usize)> {
    let capacity = prop::sample::select(vec![0, 256, 4096]);
    (capacity, prop::sample::select(vec![0, 1, 100]))
}

proptest! {
    #[test]
    fn encoder_to_decoder(
        (capacity, blocked) in any_pair(),
        steps in prop::collection::vec(any_step(), 0..150),
        instructions_first: bool,
    ) {
        let mut pair = Pair::new(capacity, blocked);
        for step in steps {
            pair.step(step).unwrap();
        }
        pair.drain(instructions_first).unwrap();
    }

    #[test]
    fn mutants(
        steps in prop::collection::vec(any_step(), 0..60),
        blocked in 0..3_usize,
        place: Index,
        bit in 0..8_u8,
    ) {
        let mut pair = Pair::new(256, 100);
        for step in steps {
            pair.step(step).unwrap();
        }
        if pair.log.is_empty() {
            return Ok(());
        }
        let changed = place.index(pair.log.len());
        let (Sent::Instructions(bytes) | Sent::Section(_, bytes)) = &mut pair.log[changed];
        let mut mutant = bytes.to_vec();
        if !mutant.is_empty() {
            let byte = place.index(mutant.len());
            mutant[byte] ^= 1 << bit;
        }
        *bytes = mutant.into();
        let mut decoder = Decoder::new(256, blocked, 4096);
        decoder.read(&hex("3fe101")).unwrap();
        for sent in pair.log {
            match sent {
                Sent::Instructions(bytes) => if let Err(error) = decoder.read(&bytes) {
                    prop_assert_eq!(error.code, ErrorCode::QpackEncoderStreamError);
                    return Ok(());
                },
                Sent::Section(stream, bytes) => match decoder.decode(stream, bytes) {
                    Ok(_) | Err(Error { code: ErrorCode::ExcessiveLoad, .. }) => {}
                    Err(error) => {
                        prop_assert_eq!(error.code, ErrorCode::QpackDecompressionFailed);
                        return Ok(());
                    }
                },
            }
            while decoder.unblocked().is_some() {}
            prop_assert!(decoder.blocked() <= blocked);
        }
    }

    #[test]
    fn any_bytes(instructions: Vec<u8>, section: Vec<u8>, acknowledgments: Vec<u8>) {
        let mut decoder = Decoder::new(4096, 1, 4096);
        let instructions = [&[0x3f, 0xe1, 0x1f], &instructions[..]].concat();
        let result = decoder.read(&instructions.into());
        let expected = ErrorCode::QpackEncoderStreamError;
        prop_assert!(result.is_ok() || result.unwrap_err().code == expected);
        if let Err(error) = decoder.decode(0, section.into()) {
            let expected = [ErrorCode::QpackDecompressionFailed, ErrorCode::ExcessiveLoad];
            prop_assert!(expected.contains(&error.code));
        }
        let mut encoder = Encoder::new(4096);
        encoder.allow(&settings(4096, 1));
        encoder.encode(0, fields(&[CUSTOM]).lines(), &mut BytesMut::new());
        if let Err(error) = encoder.read(&acknowledgments.into()) {
            prop_assert_eq!(error.code, ErrorCode::QpackDecoderStreamError);
        }
    }
}
