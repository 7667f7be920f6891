//! Finding a field line in a static table (RFC 7541 §2.3.1, RFC 9204 §3.1).

use bytes::Bytes;

use crate::fields::Field;

/// Name and value of each entry, in the order of the indices.
pub(crate) type StaticTable = [(&'static str, &'static str)];

/// How much of a field line a table holds; the number is the place in the table, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    Line(usize),
    Name(usize),
    Nothing,
}

/// The best entry for a field line.
pub(crate) fn find(table: &StaticTable, name: &[u8], value: &[u8]) -> Match {
    let mut best = Match::Nothing;
    for (index, entry) in table.iter().enumerate() {
        if entry.0.as_bytes() != name {
            continue;
        }
        if entry.1.as_bytes() == value {
            return Match::Line(index);
        }
        if best == Match::Nothing {
            best = Match::Name(index);
        }
    }
    best
}

/// The entry at `index`, from 0.
pub(crate) fn field(table: &StaticTable, index: u64) -> Option<Field> {
    let (name, value) = table.get(usize::try_from(index).ok()?)?;
    Some(Field {
        name: Bytes::from_static(name.as_bytes()),
        value: Bytes::from_static(value.as_bytes()),
    })
}
