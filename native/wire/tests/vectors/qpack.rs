//! RFC 9204.

use headway_wire::qpack::Decoder;

use crate::{Chance, Table, fields, integer, size};

/// Some entries of the static table, by index (appendix A).
const STATIC: [(u64, &str, &str); 8] = [
    (0, ":authority", ""),
    (1, ":path", "/"),
    (17, ":method", "GET"),
    (23, ":scheme", "https"),
    (25, ":status", "200"),
    (59, "vary", "accept-encoding"),
    (92, "server", ""),
    (98, "x-frame-options", "sameorigin"),
];

/// Writes an instruction of the encoder stream (section 4.3), if its entry fits.
fn instruction(chance: &mut Chance, table: &mut Table, out: &mut Vec<u8>) {
    let newest = table.entries.len();
    let age = if newest > 0 { chance.below(newest) } else { 0 };
    match chance.below(4) {
        // Duplicate (section 4.3.4).
        0 if newest > 0 => {
            let (name, value) = table.entries[newest - 1 - age].clone();
            integer(age as u64, 5, 0, out);
            table.insert(&name, &value);
        }
        // Insert with a name of the dynamic table (section 4.3.2).
        1 if newest > 0 => {
            let name = table.entries[newest - 1 - age].0.clone();
            let value = fitting(chance, table, &name);
            integer(age as u64, 6, 0x80, out);
            chance.string(&value, 7, 0, out);
            table.insert(&name, &value);
        }
        // And of the static one.
        2 => {
            let (index, name, _) = chance.pick(&STATIC);
            let value = fitting(chance, table, name);
            integer(index, 6, 0xc0, out);
            chance.string(&value, 7, 0, out);
            table.insert(name, &value);
        }
        // Insert with a name (section 4.3.3).
        _ => {
            let name = chance.name();
            let value = fitting(chance, table, &name);
            chance.string(&name, 5, 0x40, out);
            chance.string(&value, 7, 0, out);
            table.insert(&name, &value);
        }
    }
}

/// An entry that does not fit would be an error.
fn fitting(chance: &mut Chance, table: &Table, name: &str) -> String {
    let value = chance.value();
    if size(name, &value) <= table.capacity { value } else { String::new() }
}

/// A field section (section 4.5), which may refer to all that is in the table.
fn section(
    chance: &mut Chance,
    table: &Table,
    max_entries: usize,
) -> (Vec<u8>, Vec<(String, String)>, usize) {
    let base = if table.entries.is_empty() {
        0
    } else {
        // From the oldest entry to one behind the newest, and beyond.
        table.evicted + chance.below(table.entries.len() + 3)
    };
    let (mut lines, mut fields, mut required) = (Vec::new(), Vec::new(), 0);
    for _ in 0..chance.below(10) {
        let of_table = !table.entries.is_empty() && chance.yes();
        let by_index = chance.yes();
        let secret = u8::from(chance.yes());
        let (name, value) = if of_table {
            let place = chance.below(table.entries.len());
            let index = table.evicted + place;
            required = required.max(index + 1);
            let (name, value) = table.entries[place].clone();
            match (by_index, index.checked_sub(base)) {
                (true, None) => integer((base - index - 1) as u64, 6, 0x80, &mut lines),
                (true, Some(behind)) => integer(behind as u64, 4, 0x10, &mut lines),
                (false, None) => {
                    integer((base - index - 1) as u64, 4, 0x40 | (secret << 5), &mut lines);
                }
                (false, Some(behind)) => integer(behind as u64, 3, secret << 3, &mut lines),
            }
            (name, value)
        } else if chance.yes() {
            let name = chance.name();
            chance.string(&name, 3, 0x20 | (secret << 4), &mut lines);
            let value = chance.value();
            chance.string(&value, 7, 0, &mut lines);
            fields.push((name, value));
            continue;
        } else {
            let (index, name, value) = chance.pick(&STATIC);
            match by_index {
                true => integer(index, 6, 0xc0, &mut lines),
                false => integer(index, 4, 0x50 | (secret << 5), &mut lines),
            }
            (name.into(), value.into())
        };
        let value = if by_index { value } else { chance.value() };
        if !by_index {
            chance.string(&value, 7, 0, &mut lines);
        }
        fields.push((name, value));
    }
    let mut out = Vec::new();
    if required == 0 {
        // The Base is of no use then (section 4.5.1.2).
        out.extend([0, 0]);
    } else {
        integer((required % (2 * max_entries) + 1) as u64, 8, 0, &mut out);
        match base.checked_sub(required) {
            Some(more) => integer(more as u64, 7, 0, &mut out),
            None => integer((required - base - 1) as u64, 7, 0x80, &mut out),
        }
    }
    out.extend(lines);
    (out, fields, required)
}

#[test]
fn whatever_representations_are_chosen() {
    let [mut evicted, mut waited] = [0, 0];
    for seed in 0..300 {
        let mut chance = Chance(seed);
        let limit = chance.pick(&[128, 256, 4096]);
        let mut decoder = Decoder::new(limit, 1, u64::MAX);
        let mut table = Table::new(limit as usize);
        let mut begin = Vec::new();
        integer(limit, 5, 0x20, &mut begin);
        decoder.read(&begin.into()).unwrap();
        for number in 0..40 {
            let before = table.inserted();
            let mut instructions = Vec::new();
            for _ in 0..chance.below(4) {
                instruction(&mut chance, &mut table, &mut instructions);
            }
            let (section, lines, required) = section(&mut chance, &table, limit as usize / 32);
            // Instructions are early, or late: then the section waits for what it requires.
            let late = chance.yes();
            if !late {
                decoder.read(&instructions.clone().into()).unwrap();
            }
            let at_once = decoder.decode(4 * number, section.into()).unwrap();
            if late {
                decoder.read(&instructions.into()).unwrap();
            }
            let must_wait = late && required > before;
            assert_eq!(at_once.is_none(), must_wait, "seed {seed}");
            waited += usize::from(must_wait);
            let decoded = match at_once {
                Some(decoded) => decoded,
                None => decoder.unblocked().unwrap().1.unwrap(),
            };
            assert_eq!(decoded, fields(&lines), "seed {seed}");
        }
        evicted += table.evicted;
    }
    assert!(
        evicted > 1000 && waited > 1000,
        "{evicted} entries were evicted, {waited} sections waited"
    );
}
