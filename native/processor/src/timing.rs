//! Timing of what is done many times.

use std::io;
use std::time::Instant;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

const ROUNDS: usize = 30;

/// So that no time is spent on moves between cores, and two threads wait for each other.
pub(crate) fn stay_on_one_core() -> io::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let first = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap_or(0);
    let mut one = CpuSet::new();
    one.set(first);
    Ok(sched_setaffinity(None, &one)?)
}

/// Nanoseconds of one of `times` repetitions: of the fastest of several rounds, because other work on
/// the machine only adds to them.
pub(crate) fn each_ns(times: u32, mut act: impl FnMut() -> io::Result<()>) -> io::Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for _ in 0..times {
            act()?;
        }
        least = least.min(began.elapsed().as_secs_f64() * 1e9 / f64::from(times));
    }
    Ok(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_repeats_all() {
        let mut calls = 0;
        let found = each_ns(3, || {
            calls += 1;
            Ok(())
        });
        assert!(found.expect("nothing fails").is_finite());
        assert_eq!(calls, 3 * ROUNDS);
    }

    #[test]
    fn a_failure_ends_it() {
        assert!(each_ns(3, || Err(io::ErrorKind::NotFound.into())).is_err());
    }
}
