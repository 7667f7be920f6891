//! Sessions over paths of constant or changing rate, against what arithmetic says of them.

use headway_abr::{Lengths, Player, RuleName, Rung, Session, Settings, Step, Video, VideoError};
use proptest::prelude::*;

const SEGMENT_S: f64 = 4.0;
/// Perna's ladder, in bit/s.
const LADDER: [f64; 10] = [
    254_320.0,
    507_246.0,
    759_798.0,
    1_013_310.0,
    1_254_758.0,
    1_883_700.0,
    3_134_488.0,
    4_952_892.0,
    9_914_554.0,
    14_931_538.0,
];

fn video(segments: usize) -> Video {
    let rungs = LADDER.iter().map(|&bit_s| Rung {
        bit_s,
        paths: vec![format!("/{bit_s}")],
        bytes: vec![(bit_s * SEGMENT_S / 8.0) as u64],
    });
    Video { segment_s: Lengths::All(SEGMENT_S), segments, rungs: rungs.collect(), live: None }
}

fn settings(rule: RuleName) -> Settings {
    Settings { rule, buffer_s: 30.0, start_s: SEGMENT_S, watch_s: None }
}

/// Plays a video over a path that carries this rate, in bit/s, for each segment in turn, and does
/// nothing else; it gives up at the limit.
fn play(video: Video, settings: Settings, rates: &[f64], limit_s: f64) -> Session {
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
                now_s += 8.0 * bytes as f64 / rates[segment % rates.len()];
                if now_s > limit_s {
                    return player.end(limit_s);
                }
                player.loaded(now_s, bytes);
            }
        }
    }
}

#[test]
fn the_picture_comes_with_the_first_segment_and_stays() {
    let session = play(video(20), settings(RuleName::Lowest), &[1_017_280.0], 1e9);
    // A quarter of real time: 1 s for the first segment.
    assert!((session.started_s.expect("a picture") - 1.0).abs() < 1e-4);
    assert!((session.ended_s - 81.0).abs() < 1e-3);
    assert!((session.played_s - 80.0).abs() < 1e-9);
    assert_eq!(session.stalls, []);
    let highest = session.segments.iter().map(|segment| segment.buffer_s).fold(0.0, f64::max);
    assert!((highest - 26.0).abs() < 1e-9, "a segment has room: {highest}");
}

#[test]
fn each_segment_that_is_too_large_stalls_for_what_it_is_late() {
    let rate = LADDER[9] * SEGMENT_S / 5.0;
    let session = play(video(10), settings(RuleName::Highest), &[rate], 1e9);
    assert_eq!(session.stalls.len(), 9);
    for stall in &session.stalls {
        assert!((stall.lasted_s - 1.0).abs() < 1e-3);
    }
    assert!((session.ended_s - (10.0 * 5.0 + 4.0)).abs() < 1e-2);
}

#[test]
fn more_at_the_start_is_a_later_start() {
    let wanted = Settings { start_s: 12.0, ..settings(RuleName::Lowest) };
    let session = play(video(20), wanted, &[1_017_280.0], 1e9);
    assert!((session.started_s.expect("a picture") - 3.0).abs() < 1e-3);
}

#[test]
fn the_viewer_leaves() {
    let wanted = Settings { watch_s: Some(60.0), ..settings(RuleName::Lowest) };
    let session = play(video(159), wanted, &[1_017_280.0], 1e9);
    assert!((session.ended_s - 60.0).abs() < 1e-9);
    assert!((session.played_s - 59.0).abs() < 1e-3);
    assert!((session.segments.len() as f64 * SEGMENT_S - 59.0 - 26.0).abs() < 8.0);
}

#[test]
fn a_path_below_the_lowest_rate_ends_at_its_limit() {
    let session = play(video(159), settings(RuleName::Throughput), &[127_160.0], 100.0);
    assert_eq!(session.ended_s, 100.0);
    assert_eq!(session.segments.len(), 12);
    let stalled: f64 = session.stalls.iter().map(|stall| stall.lasted_s).sum();
    assert!(
        (stalled + session.played_s + session.started_s.expect("a picture") - 100.0).abs() < 1e-6
    );
}

#[test]
fn throughput_takes_the_rung_below_nine_tenths() {
    for (rate, rung) in [(0.25e6, 0), (1.2e6, 3), (5.0e6, 6), (5.51e6, 7), (20e6, 9)] {
        let session = play(video(40), settings(RuleName::Throughput), &[rate], 1e9);
        let rungs: Vec<_> = session.segments.iter().map(|segment| segment.rung).collect();
        assert_eq!(rungs[0], 0, "nothing is known before the first");
        assert!(rungs[1..].iter().all(|&chosen| chosen == rung), "{rate}: {rungs:?}");
    }
}

#[test]
fn no_rule_waits_where_the_path_carries_what_it_carried() {
    for rule in [RuleName::Throughput, RuleName::Bola, RuleName::Mpc] {
        for rate in [0.5e6, 2.2e6, 5.2e6, 12e6] {
            let session = play(video(100), settings(rule), &[rate], 1e9);
            let stalled: f64 = session.stalls.iter().map(|stall| stall.lasted_s).sum();
            // At the video's end, a higher rate is worth a moment's stall to MPC.
            let most = if rule == RuleName::Mpc { SEGMENT_S / 10.0 } else { 0.0 };
            assert!(stalled <= most, "{rule:?} at {rate}: {stalled}");
            let mean =
                session.segments.iter().map(|segment| LADDER[segment.rung]).sum::<f64>() / 100.0;
            assert!(mean > 0.5 * rate.min(LADDER[9]), "{rule:?} at {rate}: {mean}");
        }
    }
}

#[test]
fn bola_lives_with_a_rate_between_two_rungs_by_its_buffer() {
    let session = play(video(150), settings(RuleName::Bola), &[4.0e6], 1e9);
    let last: Vec<_> = session.segments[50..].iter().map(|segment| segment.rung).collect();
    // It goes up only to what 0.9 of the throughput carries: 3.1 Mbit/s.
    assert!(last.iter().all(|&rung| rung == 6), "{last:?}");
}

#[test]
fn mpc_falls_at_once_and_rises_as_its_errors_fade() {
    let rates: Vec<f64> = (0..80).map(|n| if n % 40 < 20 { 8e6 } else { 1e6 }).collect();
    let session = play(video(40), settings(RuleName::Mpc), &rates, 1e9);
    let rungs: Vec<_> = session.segments.iter().map(|segment| segment.rung).collect();
    // Nothing tells of the fall before the segment that it meets, which is not abandoned.
    assert!(rungs[20] >= 7, "{rungs:?}");
    assert!(rungs[21..26].iter().all(|&rung| rung <= 1), "{rungs:?}");
    assert!(rungs[30..36].iter().all(|&rung| rung == 4), "{rungs:?}");
    assert_eq!(session.stalls.len(), 1);
}

#[test]
fn segments_of_their_own_lengths_play_for_those() {
    let mut cut = video(3);
    cut.segment_s = Lengths::Each(vec![4.0, 2.0, 1.5]);
    let sizes = vec![400_000, 200_000, 150_000];
    for rung in &mut cut.rungs {
        rung.bytes.clone_from(&sizes);
    }
    let wanted = Settings { buffer_s: 8.0, ..settings(RuleName::Highest) };
    // 0.8 Mbit/s: the first comes after 4 s, and each takes as long as it plays.
    let session = play(cut, wanted, &[0.8e6], 1e9);
    let came: Vec<_> = session.segments.iter().map(|segment| segment.loaded_s).collect();
    assert_eq!(came, [4.0, 6.0, 7.5]);
    let buffers: Vec<_> = session.segments.iter().map(|segment| segment.buffer_s).collect();
    assert_eq!(buffers, [0.0, 4.0, 4.0]);
    assert_eq!((session.started_s, session.ended_s, session.played_s), (Some(4.0), 11.5, 7.5));
    assert_eq!(session.stalls, []);
}

fn of_length(lengths: Lengths) -> Option<VideoError> {
    let wrong = Video { segment_s: lengths, ..video(3) };
    Player::new(wrong, settings(RuleName::Bola)).err()
}

#[test]
fn what_cannot_be_played_is_said() {
    let player = |change: fn(&mut Video)| {
        let mut wrong = video(3);
        change(&mut wrong);
        Player::new(wrong, settings(RuleName::Bola)).err()
    };
    assert_eq!(player(|_| ()), None);
    assert_eq!(player(|video| video.segments = 0), Some(VideoError::Empty));
    let of = |length_s| Lengths::All(length_s);
    assert_eq!(of_length(of(f64::NAN)), Some(VideoError::Empty));
    assert_eq!(of_length(of(0.0)), Some(VideoError::Empty));
    assert_eq!(of_length(Lengths::Each(vec![4.0, -1.0, 4.0])), Some(VideoError::Empty));
    assert_eq!(of_length(Lengths::Each(vec![4.0; 2])), Some(VideoError::Lengths(2, 3)));
    assert_eq!(of_length(Lengths::Each(vec![4.0, 4.0, 1.5])), None);
    assert_eq!(player(|video| video.rungs.swap(2, 3)), Some(VideoError::Order(4)));
    assert_eq!(player(|video| video.rungs[1].bytes = vec![1, 2]), Some(VideoError::Count(2)));
}

proptest! {
    /// Time is spent in three ways: before the picture, playing, and standing still.
    #[test]
    fn no_second_is_lost(
        rates in prop::collection::vec(1e5..3e7, 1..30),
        rule in prop::sample::select(vec![RuleName::Throughput, RuleName::Bola, RuleName::Mpc]),
        buffer_s in 8.0..60.0,
        start_s in 0.0..30.0,
        limit_s in 10.0..400.0,
    ) {
        let wanted = Settings { rule, buffer_s, start_s, watch_s: None };
        let session = play(video(30), wanted, &rates, limit_s);
        let stalled: f64 = session.stalls.iter().map(|stall| stall.lasted_s).sum();
        let spent_s = session.started_s.map_or(session.ended_s, |at| at + session.played_s + stalled);
        prop_assert!((spent_s - session.ended_s).abs() < 1e-6, "{session:?}");
        prop_assert!(session.segments.windows(2).all(|two| two[0].loaded_s <= two[1].requested_s));
        prop_assert!(session.segments.iter().all(|segment| segment.buffer_s <= buffer_s.max(8.0) + 1e-5));
    }
}
