//! Bytes that were good once: mutants of what a peer may send, of a seed.

/// Numbers that follow from a seed (SplitMix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is above 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    pub(crate) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    pub(crate) fn bytes(&mut self, at_most: usize) -> Vec<u8> {
        (0..self.below(at_most + 1)).map(|_| self.number() as u8).collect()
    }

    /// Changes bytes in a few places: flips, replaces, takes out, puts in, repeats or cuts.
    pub(crate) fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..self.below(4) {
            if bytes.is_empty() {
                return;
            }
            let at = self.below(bytes.len());
            let end = (at + 1 + self.below(8)).min(bytes.len());
            match self.below(7) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 => {
                    let telling = [0, 1, 0x7f, 0x80, 0xff, b'\r', b'\n', b':', b' ', b'9'];
                    bytes[at] = *self.pick(&telling);
                }
                2 => drop(bytes.drain(at..end)),
                3 => drop(bytes.splice(at..at, self.bytes(8))),
                4 => {
                    let again = bytes[at..end].to_vec();
                    bytes.splice(at..at, again);
                }
                5 => bytes[at..end].reverse(),
                _ => bytes.truncate(at),
            }
        }
    }
}

/// How many sessions to try: a few, unless `HEADWAY_FUZZ_SESSIONS` says otherwise. Session n of any
/// number is the same.
pub(crate) fn sessions(few: u64) -> std::ops::Range<u64> {
    let asked = std::env::var("HEADWAY_FUZZ_SESSIONS").ok();
    0..asked.map_or(few, |number| number.parse().expect("HEADWAY_FUZZ_SESSIONS is a number"))
}
