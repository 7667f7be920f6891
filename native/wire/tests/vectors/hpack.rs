//! RFC 7541.

use headway_wire::hpack::Decoder;

use crate::{Chance, Table, fields, integer};

/// Some entries of the static table, by index (appendix A), which has 61.
const STATIC: [(u64, &str, &str); 8] = [
    (2, ":method", "GET"),
    (4, ":path", "/"),
    (7, ":scheme", "https"),
    (8, ":status", "200"),
    (16, "accept-encoding", "gzip, deflate"),
    (38, "host", ""),
    (58, "user-agent", ""),
    (61, "www-authenticate", ""),
];
const STATIC_ENTRIES: usize = 61;

/// Index and entry of a random entry of both tables.
fn entry(chance: &mut Chance, table: &Table) -> (u64, String, String) {
    if table.entries.is_empty() || chance.yes() {
        let (index, name, value) = chance.pick(&STATIC);
        return (index, name.into(), value.into());
    }
    let age = chance.below(table.entries.len());
    let (name, value) = table.entries[table.entries.len() - 1 - age].clone();
    ((STATIC_ENTRIES + 1 + age) as u64, name, value)
}

fn line(chance: &mut Chance, table: &mut Table, out: &mut Vec<u8>) -> (String, String) {
    let (index, name, value) = entry(chance, table);
    if chance.yes() {
        // Indexed (section 6.1).
        integer(index, 7, 0x80, out);
        return (name, value);
    }
    // With incremental indexing, without, never (section 6.2).
    let (bits, pattern) = chance.pick(&[(6, 0x40), (6, 0x40), (4, 0), (4, 0x10)]);
    let name = if chance.yes() {
        integer(index, bits, pattern, out);
        name
    } else {
        let name = chance.name();
        out.push(pattern);
        chance.string(&name, 7, 0, out);
        name
    };
    let value = chance.value();
    chance.string(&value, 7, 0, out);
    if pattern == 0x40 {
        table.insert(&name, &value);
    }
    (name, value)
}

#[test]
fn whatever_representations_are_chosen() {
    let mut evicted = 0;
    for seed in 0..300 {
        let mut chance = Chance(seed);
        let limit = chance.pick(&[100, 256, 4096]);
        let mut decoder = Decoder::with_table(limit, u64::MAX);
        let mut table = Table::new(limit as usize);
        for _ in 0..20 {
            let mut block = Vec::new();
            // Table sizes come first, the last of them counts (section 4.2).
            for _ in 0..chance.pick(&[0, 0, 0, 1, 2]) {
                let size = chance.below(limit as usize + 1);
                integer(size as u64, 5, 0x20, &mut block);
                table.resize(size);
            }
            let lines: Vec<_> =
                (0..chance.below(12)).map(|_| line(&mut chance, &mut table, &mut block)).collect();
            assert_eq!(decoder.decode(block.into()).unwrap(), fields(&lines), "seed {seed}");
        }
        evicted += table.evicted;
    }
    assert!(evicted > 1000, "entries are evicted: {evicted}");
}
