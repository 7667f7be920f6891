//! Bytes that were good once, and how many of them are tried.
//!
//! | variable | |
//! |---|---|
//! | `HEADWAY_FUZZ_SECONDS` | sessions are tried for so long |
//! | `HEADWAY_FUZZ_SESSIONS` | so many sessions are tried |
//! | `HEADWAY_FUZZ_SESSION` | this session alone is tried |

use std::time::{Duration, Instant};

use crate::numbers::Numbers;

impl Numbers {
    /// A number below `end`, which is above 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.any() % end as u64) as usize
    }

    /// What is true once in so many times.
    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Any bytes.
    pub fn bytes(&mut self, at_most: usize) -> Vec<u8> {
        (0..self.below(at_most + 1)).map(|_| self.any() as u8).collect()
    }

    /// Changes bytes in a few places: flips, replaces, takes out, puts in, repeats or cuts.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>) {
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

    /// Takes bytes apart into pieces of random sizes.
    pub fn pieces<'a>(&mut self, mut bytes: &'a [u8]) -> Vec<&'a [u8]> {
        let most = *self.pick(&[1, 3, 20, 10_000]);
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            let (piece, rest) = bytes.split_at(bytes.len().min(1 + self.below(most)));
            pieces.push(piece);
            bytes = rest;
        }
        pieces
    }
}

/// The seeds of the sessions to try: 0 and on. Session n is the same in every run.
#[derive(Debug)]
pub struct Sessions {
    next: u64,
    end: u64,
    until: Option<Instant>,
}

/// A few sessions, unless the environment says otherwise.
///
/// # Panics
///
/// If a variable is not a number.
#[must_use]
pub fn sessions(few: u64) -> Sessions {
    let number = |name: &str| -> Option<u64> {
        let asked = std::env::var(name).ok()?;
        Some(asked.parse().unwrap_or_else(|_| panic!("{name} is a number, not {asked:?}")))
    };
    if let Some(alone) = number("HEADWAY_FUZZ_SESSION") {
        return Sessions { next: alone, end: alone + 1, until: None };
    }
    if let Some(seconds) = number("HEADWAY_FUZZ_SECONDS") {
        let until = Instant::now() + Duration::from_secs(seconds);
        return Sessions { next: 0, end: u64::MAX, until: Some(until) };
    }
    Sessions { next: 0, end: number("HEADWAY_FUZZ_SESSIONS").unwrap_or(few), until: None }
}

impl Iterator for Sessions {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let goes_on = self.next < self.end && self.until.is_none_or(|until| Instant::now() < until);
        self.next += u64::from(goes_on);
        goes_on.then(|| self.next - 1)
    }
}

impl Drop for Sessions {
    /// Says how many were tried, or which one failed.
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("HEADWAY_FUZZ_SESSION={} fails", self.next.saturating_sub(1));
        } else {
            println!("{} sessions", self.next);
        }
    }
}
