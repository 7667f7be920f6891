//! Both sides of HTTP/1.1 and HTTP/2 against peers that send mutants of what they should.
//!
//! `HEADWAY_FUZZ_SECONDS=600 cargo test -p headway-http --test fuzz` tries more than the few that
//! every test tries.

#![allow(clippy::unwrap_used)]

mod clients;
mod common;
#[path = "../support/pattern.rs"]
mod pattern;
mod servers;

/// Tries sessions. Mutants are worth something if many are good, and many are not.
fn try_sessions(session: impl Fn(u64) -> [u64; 2]) {
    let ends = headway_testlink::sessions(20_000).map(session);
    let [finished, failed] = ends.fold([0, 0], |[a, b], [c, d]| [a + c, b + d]);
    let all = finished + failed;
    assert!(finished > all / 20 && failed > all / 20, "{finished} finished, {failed} failed");
    println!("{finished} requests finished, {failed} failed");
}
