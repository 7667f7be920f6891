//! Timing of what is done many times.

use std::io;
use std::time::Instant;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

const ROUNDS: usize = 15;

/// So that no time is spent on moves between cores, and two threads wait for each other.
pub(crate) fn stay_on_one_core() -> io::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let first = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap_or(0);
    let mut one = CpuSet::new();
    one.set(first);
    Ok(sched_setaffinity(None, &one)?)
}

/// Nanoseconds of one of `times` repetitions: the median of several rounds, of which the first only
/// warms up.
pub(crate) fn each_ns(times: u32, mut act: impl FnMut() -> io::Result<()>) -> io::Result<f64> {
    let mut rounds = Vec::with_capacity(ROUNDS);
    for round in 0..=ROUNDS {
        let began = Instant::now();
        for _ in 0..times {
            act()?;
        }
        let took_ns = began.elapsed().as_secs_f64() * 1e9 / f64::from(times);
        if round > 0 {
            rounds.push(took_ns);
        }
    }
    Ok(median(rounds))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_round_does_not_count() {
        let mut calls = 0;
        let found = each_ns(3, || {
            calls += 1;
            Ok(())
        });
        assert!(found.expect("nothing fails") >= 0.0);
        assert_eq!(calls, 3 * (ROUNDS + 1));
    }

    #[test]
    fn one_slow_round_moves_no_median() {
        assert!((median(vec![2.0, 1.0, 900.0]) - 2.0).abs() < f64::EPSILON);
    }
}
