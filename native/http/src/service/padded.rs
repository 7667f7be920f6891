//! Header fields of a size, for messages whose heads are large.

use headway_wire::{Field, Request};

use super::{Reply, Service};

/// A field has so many bytes at most: name and value, which leaves room for several in a dynamic table.
const LARGEST: usize = 250;
/// The least that fields can have, if there are any.
const LEAST: usize = 16;
/// What values are made of: characters whose codes of HPACK and QPACK have eight bits (RFC 7541, appendix B), so that
/// only dynamic tables make them shorter.
const LETTERS: [u8; 4] = *b"XZ&*";

/// Fields whose names and values have so many bytes, all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padding {
    /// In bytes; 0 is no field.
    pub bytes: usize,
    /// Each message has other values.
    pub changes: bool,
}

impl Padding {
    /// Reads a number of bytes as an option has it.
    ///
    /// # Errors
    /// It is none, or so few that not even a field's name has room.
    pub fn parse_bytes(text: &str) -> Result<usize, String> {
        let bytes = text.parse().ok().filter(|&bytes| bytes == 0 || bytes >= LEAST);
        bytes.ok_or_else(|| format!("{text} is neither 0 nor {LEAST} bytes or more"))
    }

    /// The fields of a message.
    ///
    /// # Arguments
    /// * `number` - of the message, which is looked at where values change.
    pub fn fields(self, number: u64) -> impl Iterator<Item = Field> {
        let count = self.bytes.div_ceil(LARGEST);
        let message = if self.changes { number } else { 0 };
        (0..count).map(move |field| {
            let end = self.bytes * (field + 1) / count;
            let name = format!("x-field-{field}");
            let length = (end - self.bytes * field / count).saturating_sub(name.len());
            Field::new(name, value(message, field, length))
        })
    }
}

/// A value that looks random, and is the same for the same numbers.
fn value(message: u64, field: usize, length: usize) -> Vec<u8> {
    let mut state = message.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (field as u64) << 32;
    let mut letters = Vec::with_capacity(length + 32);
    while letters.len() < length {
        // Steps of SplitMix64 (Steele, Lea and Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        letters.extend((0..32).map(|place| LETTERS[(mixed >> (2 * place) & 3) as usize]));
    }
    letters.truncate(length);
    letters
}

/// Adds such fields to another service's responses.
pub struct Padded {
    others: Box<dyn Service>,
    padding: Padding,
    /// Responses so far.
    number: u64,
}

impl Padded {
    /// Around a service.
    #[must_use]
    pub fn around(others: Box<dyn Service>, padding: Padding) -> Self {
        Self { others, padding, number: 0 }
    }

    fn pad(&mut self, mut reply: Reply) -> Reply {
        reply.response.fields.extend(self.padding.fields(self.number));
        self.number += 1;
        reply
    }
}

impl Service for Padded {
    fn respond(&mut self, request: &Request) -> Reply {
        let reply = self.others.respond(request);
        self.pad(reply)
    }

    fn awaits_content(&self, request: &Request) -> bool {
        self.others.awaits_content(request)
    }

    fn acknowledge(&mut self, request: &Request, content_bytes: u64) -> Reply {
        let reply = self.others.acknowledge(request, content_bytes);
        self.pad(reply)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn fields_have_as_many_bytes_as_asked_for() {
        for bytes in [0, 16, 17, 250, 251, 1000, 8000] {
            let fields: Vec<_> = Padding { bytes, changes: false }.fields(3).collect();
            let sizes = fields.iter().map(|field| field.name.len() + field.value.len());
            assert_eq!(sizes.sum::<usize>(), bytes);
            let names: HashSet<_> = fields.iter().map(|field| &field.name).collect();
            assert_eq!((names.len(), fields.is_empty()), (fields.len(), bytes == 0));
            assert!(fields.iter().all(|field| field.value.iter().all(|b| LETTERS.contains(b))));
        }
    }

    #[test]
    fn they_change_if_they_are_to() {
        let fields = |changes, number| -> Vec<_> {
            Padding { bytes: 600, changes }.fields(number).collect()
        };
        assert_eq!(fields(false, 1), fields(false, 2));
        let (one, two) = (fields(true, 1), fields(true, 2));
        assert!(one.iter().zip(&two).all(|(one, two)| one.value != two.value));
        assert_eq!(one, fields(true, 1));
    }
}
