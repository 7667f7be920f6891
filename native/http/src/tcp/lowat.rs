//! How many bytes may wait in the kernel unsent (TCP_NOTSENT_LOWAT) on connections of all rates.
//!
//! What waits delays whatever is more urgent, by its size over the rate; with too little of it, a program
//! that runs a moment late leaves the connection idle. So the limit is a time, two milliseconds, but
//! for slow connections, of which a packet or two are more than that.

use std::time::Duration;

use headway_sockopt::TcpInfo;

/// For how long the kernel has something to send.
const AHEAD: Duration = Duration::from_millis(2);
/// The most that waits, however fast the connection is.
const MOST_BYTES: u32 = 1 << 20;
/// How often the rate is looked at, in bytes written.
const LOOK_BYTES: usize = 256 << 10;

/// The limit of a connection, which follows its rate.
#[derive(Debug)]
pub(super) struct Lowat {
    least: u32,
    bytes: u32,
    written: usize,
}

impl Lowat {
    /// A limit of a connection that has sent nothing yet, and of which it never has less.
    pub(super) fn new(least: u32) -> Self {
        Self { least, bytes: least, written: 0 }
    }

    /// Counts bytes written; whether it is time to look at the rate.
    pub(super) fn is_due(&mut self, written: usize) -> bool {
        self.written += written;
        let is_due = self.written >= LOOK_BYTES;
        if is_due {
            self.written = 0;
        }
        is_due
    }

    /// The new limit, if it differs by a quarter or more.
    pub(super) fn change(&mut self, info: &TcpInfo) -> Option<u32> {
        let srtt_us = info.srtt()?.as_micros();
        let window = u128::from(info.cwnd_packets) * u128::from(info.snd_mss_bytes);
        let ahead = window * AHEAD.as_micros() / srtt_us;
        let most = MOST_BYTES.max(self.least);
        let bytes = u32::try_from(ahead).unwrap_or(most).clamp(self.least, most);
        if bytes.abs_diff(self.bytes) < self.bytes / 4 || bytes == self.bytes {
            return None;
        }
        self.bytes = bytes;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: u32 = 16 << 10;

    /// Windows in packets of 1448 bytes, round-trip times in microseconds, and the limit.
    #[test]
    fn two_milliseconds_of_any_rate() {
        let cases = [
            // 10 Mbit/s: less than the least.
            (44, 50_000, None),
            // 100 Mbit/s over 50 ms.
            (432, 50_000, Some(25_021)),
            // 1 Gbit/s over 10 ms.
            (863, 10_000, Some(249_924)),
            // A loopback.
            (10_000, 50, Some(1 << 20)),
            // No sample yet.
            (10, 0, None),
        ];
        for (cwnd_packets, srtt_us, limit) in cases {
            let info = TcpInfo { cwnd_packets, srtt_us, snd_mss_bytes: 1448, ..Default::default() };
            assert_eq!(Lowat::new(LEAST).change(&info), limit, "{cwnd_packets} {srtt_us}");
        }
    }

    #[test]
    fn small_changes_are_none_and_slower_connections_have_less() {
        let mut lowat = Lowat::new(LEAST);
        let mut change = |cwnd_packets| {
            let path = TcpInfo { srtt_us: 10_000, snd_mss_bytes: 1448, ..Default::default() };
            lowat.change(&TcpInfo { cwnd_packets, ..path })
        };
        assert_eq!(change(863), Some(249_924));
        assert_eq!((change(863), change(900), change(700)), (None, None, None));
        assert_eq!((change(400), change(10), change(5)), (Some(115_840), Some(LEAST), None));
    }

    #[test]
    fn the_rate_is_looked_at_now_and_then() {
        let mut lowat = Lowat::new(LEAST);
        let due = (0..64).filter(|_| lowat.is_due(8 << 10)).count();
        assert_eq!(due, 2);
    }
}
