//! Live sessions over paths of a rate and a delay, against what arithmetic says of them.

use headway_abr::{Lengths, Live, Player, RuleName, Rung, Session, Settings, Step, Video};
use proptest::prelude::*;

const SEGMENT_S: f64 = 4.0;
const LIVE: Live = Live { chunk_s: 0.5, latency_s: 3.0, catch_up: 0.1, joins_s: 1.3 };
const CHUNKS: u64 = 8;
const DELAY_S: f64 = 0.02;

fn video(rates: &[f64], live: Live, segments: usize) -> Video {
    let rung = |&bit_s: &f64| Rung {
        bit_s,
        paths: vec!["/".into()],
        bytes: vec![(bit_s * SEGMENT_S / 8.0) as u64],
    };
    let rungs = rates.iter().map(rung).collect();
    Video { segment_s: Lengths::All(SEGMENT_S), segments, rungs, live: Some(live) }
}

/// Plays it over a path of so many bit/s, with a delay each way, that carries nothing from a moment to another.
fn play(video: Video, rule: RuleName, bit_s: f64, gap: (f64, f64)) -> Session {
    let settings = Settings { rule, buffer_s: 30.0, start_s: 0.5, watch_s: None };
    let mut player = Player::new(video, settings).expect("it can be played");
    let mut now_s = 0.0;
    loop {
        match player.step(now_s) {
            Step::Done => return player.end(now_s),
            Step::Wait(until_s) => {
                assert!(until_s > now_s, "waits for nothing");
                now_s = until_s;
            }
            Step::Request { segment, rung } => {
                let bytes = player.video().bytes(rung, segment);
                let begins_s = player.video().begins_s(segment).expect("it is live");
                let mut sent_s = now_s + DELAY_S;
                for piece in 1..=10 * CHUNKS {
                    let chunk = piece.div_ceil(10);
                    let made_s = begins_s + chunk as f64 * LIVE.chunk_s;
                    let (end, before) =
                        [piece, piece - 1].map(|n| bytes * n / (10 * CHUNKS)).into();
                    sent_s = f64::max(sent_s, made_s) + 8.0 * (end - before) as f64 / bit_s;
                    if (gap.0..gap.1).contains(&sent_s) {
                        sent_s = gap.1;
                    }
                    now_s = sent_s + DELAY_S;
                    player.heard(now_s, end);
                }
                player.loaded(now_s, bytes);
            }
        }
    }
}

const NEVER: (f64, f64) = (f64::INFINITY, f64::INFINITY);

#[test]
fn the_picture_comes_late_by_the_start_and_catches_up() {
    let session = play(video(&[1e6], LIVE, 15), RuleName::Lowest, 10e6, NEVER);
    let start_s = session.started_s.unwrap();
    assert_eq!(session.stalls, []);
    assert!((session.paces[0].latency_s - 3.0 - start_s).abs() < 1e-9);
    let last = session.paces.last().unwrap();
    assert!((last.latency_s - 3.0).abs() < 0.02, "{last:?}");
    // The first 1.3 s are not played.
    assert!((session.played_s - (60.0 - 1.3)).abs() < 1e-6);
    assert!(session.segments.iter().all(|segment| segment.chunks_s.len() as u64 == CHUNKS));
    let most_s = session.paces[0].latency_s;
    assert!(session.segments.iter().all(|segment| segment.left_s.unwrap() <= most_s));
}

#[test]
fn a_segment_that_its_source_makes_meanwhile_tells_of_the_path() {
    let session = play(video(&[0.5e6, 2e6, 8e6], LIVE, 15), RuleName::Throughput, 4e6, NEVER);
    assert_eq!(session.stalls, []);
    // 0.9 of 4 Mbit/s; the response takes the segment's length all the same.
    assert!(session.segments[2..].iter().all(|segment| segment.rung == 1));
    for segment in &session.segments[3..] {
        assert!(segment.loaded_s - segment.requested_s > 3.4, "{segment:?}");
        assert!((segment.believed_bit_s.unwrap() / 4e6 - 1.0).abs() < 0.01, "{segment:?}");
    }
}

#[test]
fn what_stands_still_is_late_by_as_much() {
    let session = play(video(&[1e6], LIVE, 30), RuleName::Lowest, 10e6, (30.0, 35.0));
    assert_eq!(session.stalls.len(), 1);
    let stall = session.stalls[0];
    let stands = session.paces.iter().position(|pace| pace.rate == 0.0).unwrap();
    let (before, after) = (session.paces[stands], session.paces[stands + 1]);
    assert_eq!(before.at_s, stall.at_s);
    assert!((after.latency_s - before.latency_s - stall.lasted_s).abs() < 1e-9);
    assert!(session.paces[stands + 2].rate > 1.09, "it catches up");
}

proptest! {
    #[test]
    fn no_second_is_lost(
        joins_s in 0.0..3.99,
        aim in 1_u32..20,
        rate in 0.3..20.0,
        gap_s in 0.0..20.0,
    ) {
        let live = Live { joins_s, latency_s: 0.5 * f64::from(aim), ..LIVE };
        let session = play(video(&[1e6], live, 12), RuleName::Lowest, rate * 1e6, (12.0, 12.0 + gap_s));
        prop_assert!((session.played_s - (48.0 - joins_s)).abs() < 1e-6);
        for pair in session.paces.windows(2) {
            let passed_s = pair[1].at_s - pair[0].at_s;
            prop_assert!(passed_s >= 0.0);
            let late_s = pair[0].latency_s + passed_s * (1.0 - pair[0].rate);
            prop_assert!((late_s - pair[1].latency_s).abs() < 1e-6);
        }
        // Nothing is seen before it was made and had come.
        let least_s = live.chunk_s + DELAY_S - 1e-6;
        prop_assert!(session.paces.iter().all(|pace| pace.latency_s >= least_s.min(live.latency_s)));
    }
}
