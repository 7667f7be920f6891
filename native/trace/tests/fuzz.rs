//! Mutants of packets' payloads, against the reader of frames (RFC 9000 section 19).
//!
//! `HEADWAY_FUZZ_SECONDS=600 cargo test -p headway-trace --test fuzz` goes on for ten minutes.

use headway_testlink::{Numbers, sessions};
use headway_trace::frame::{Frame, Frames};

/// One frame of each kind that a connection sends.
const FRAMES: [&[u8]; 20] = [
    &[0x00, 0x00, 0x00],
    &[0x01],
    &[0x02, 14, 42, 2, 0, 1, 1, 3, 4],
    &[0x03, 0x40, 100, 42, 1, 3, 7, 2, 42, 24, 12],
    &[0x04, 4, 7, 0x44, 0x00],
    &[0x05, 4, 7],
    &[0x06, 0x44, 0x00, 3, b'a', b'b', b'c'],
    &[0x07, 3, b'a', b'b', b'c'],
    &[0x0e, 4, 0x44, 0x00, 2, 7, 7],
    &[0x0b, 4, 1, 7],
    &[0x10, 0x9d, 0x7f, 0x3e, 0x7d],
    &[0x11, 4, 0x7b, 0xbd],
    &[0x12, 9],
    &[0x14, 9],
    &[0x15, 4, 9],
    &[0x18, 1, 0, 4, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    &[0x1a, 0, 1, 2, 3, 4, 5, 6, 7],
    &[0x1c, 0x0a, 0x06, 2, b'n', b'o'],
    &[0x1d, 0x41, 0x00, 0],
    &[0x31, 2, 7, 7],
];

/// Reads a payload as far as it goes.
///
/// # Returns
/// Whether all of it are frames.
fn read(payload: &[u8]) -> bool {
    let (mut reads, mut is_good, mut data) = (0, true, 0);
    for frame in Frames::new(payload) {
        assert!(is_good, "nothing follows an error");
        reads += 1;
        match frame {
            Ok(Frame::Ack { largest, ranges, .. }) => {
                let mut below = largest + 1;
                for range in ranges {
                    assert!(range.start() <= range.end() && *range.end() < below);
                    below = *range.start();
                }
            }
            Ok(Frame::Stream { length, .. } | Frame::Crypto { length, .. }) => data += length,
            Ok(_) => {}
            Err(_) => is_good = false,
        }
    }
    assert!(reads <= payload.len() && data <= payload.len() as u64, "{reads} of {payload:?}");
    is_good
}

#[test]
fn payloads() {
    assert!(FRAMES.iter().all(|frame| read(frame)), "they are frames");
    let [mut good, mut bad] = [0_u64, 0];
    for seed in sessions(100_000) {
        let mut numbers = Numbers::new(seed);
        let mut payload = Vec::new();
        for _ in 0..=numbers.below(6) {
            let frame = *numbers.pick(&FRAMES);
            payload.extend_from_slice(frame);
        }
        numbers.mutate(&mut payload);
        *(if read(&payload) { &mut good } else { &mut bad }) += 1;
    }
    let few = (good + bad) / 20;
    assert!(good + bad == 1 || good > few && bad > few, "{good} good, {bad} bad");
    println!("{good} good, {bad} bad");
}
