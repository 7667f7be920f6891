//! Vectors for the decoders of HPACK and QPACK, made by the rules of RFC 7541 and RFC 9204 by a writer that
//! shares no code with the codecs but Huffman's: it keeps a table of its own and picks, line by line, any
//! representation that the rules allow, where encoders pick the best.

#![allow(clippy::unwrap_used)]

mod hpack;
mod qpack;

use std::collections::VecDeque;

use bytes::BytesMut;
use headway_wire::{Field, Fields, huffman};

/// Numbers that follow from a seed (a linear congruence modulo 2^64, of which the upper half is used).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn yes(&mut self) -> bool {
        self.below(2) == 0
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn name(&mut self) -> String {
        self.pick(&["x-a", "x-b", "server", "date", "x-longer-name-of-a-field"]).into()
    }

    fn value(&mut self) -> String {
        match self.below(4) {
            0 => String::new(),
            1 => "v".repeat(self.below(200)),
            _ => format!("value {}", self.below(20)),
        }
    }

    /// A string literal whose length has so many bits, behind a pattern (RFC 7541, section 5.2; RFC 9204,
    /// section 4.1.2).
    fn string(&mut self, text: &str, bits: u32, pattern: u8, out: &mut Vec<u8>) {
        if self.yes() {
            let mut coded = BytesMut::new();
            huffman::encode(text.as_bytes(), &mut coded);
            integer(coded.len() as u64, bits, pattern | (1 << bits), out);
            out.extend_from_slice(&coded);
        } else {
            integer(text.len() as u64, bits, pattern, out);
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// An integer with a prefix of so many bits (RFC 7541, section 5.1).
fn integer(mut value: u64, bits: u32, pattern: u8, out: &mut Vec<u8>) {
    let most = (1 << bits) - 1;
    if value < most {
        return out.push(pattern | value as u8);
    }
    out.push(pattern | most as u8);
    value -= most;
    while value >= 128 {
        out.push((value % 128) as u8 | 128);
        value /= 128;
    }
    out.push(value as u8);
}

/// A dynamic table; the newest entry is the last.
struct Table {
    entries: VecDeque<(String, String)>,
    evicted: usize,
    capacity: usize,
}

impl Table {
    fn new(capacity: usize) -> Self {
        Self { entries: VecDeque::new(), evicted: 0, capacity }
    }

    fn size(&self) -> usize {
        self.entries.iter().map(|(name, value)| size(name, value)).sum()
    }

    fn resize(&mut self, capacity: usize) {
        self.capacity = capacity;
        while self.size() > capacity {
            self.entries.pop_front();
            self.evicted += 1;
        }
    }

    /// Inserts as RFC 7541, section 4.4 says: what is larger than the table empties it.
    fn insert(&mut self, name: &str, value: &str) {
        let capacity = self.capacity;
        self.resize(capacity.saturating_sub(size(name, value)));
        self.capacity = capacity;
        if size(name, value) <= capacity {
            self.entries.push_back((name.into(), value.into()));
        }
    }

    /// Entries ever inserted.
    fn inserted(&self) -> usize {
        self.evicted + self.entries.len()
    }
}

fn size(name: &str, value: &str) -> usize {
    name.len() + value.len() + 32
}

/// Fields of owned names and values.
fn fields(lines: &[(String, String)]) -> Fields {
    lines.iter().map(|(name, value)| Field::new(name.clone(), value.clone())).collect()
}
