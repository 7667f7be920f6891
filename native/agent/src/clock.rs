//! The lab's clocks. Each reading moves virtual time by 256 ns.

use rustix::time::Timespec;

use crate::sys;

const NS_PER_S: u64 = 1_000_000_000;

/// Nanoseconds since the lab was booted.
pub(crate) fn monotonic_ns() -> u64 {
    in_ns(sys::clock_gettime(libc::CLOCK_MONOTONIC))
}

/// Nanoseconds since 1970.
pub(crate) fn wall_ns() -> u64 {
    in_ns(sys::clock_gettime(libc::CLOCK_REALTIME))
}

/// A span of time as the kernel takes it.
pub(crate) fn timespec(span_ns: u64) -> Timespec {
    let tv_sec = i64::try_from(span_ns / NS_PER_S).unwrap_or(i64::MAX);
    let tv_nsec = i64::try_from(span_ns % NS_PER_S).unwrap_or(0);
    Timespec { tv_sec, tv_nsec }
}

fn in_ns(time: Timespec) -> u64 {
    // Neither is negative: the clocks of a lab begin at 0 and in 2026.
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec) * NS_PER_S + part(time.tv_nsec)
}
