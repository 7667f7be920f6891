use std::time::Instant;

use headway_sockopt::TcpInfo;

/// Bytes that the kernel gave to the program together because a gap before them was filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// When the program saw them.
    pub at: Instant,
    /// When it last saw bytes before, which is about when the gap opened.
    pub since: Instant,
    /// How many had been waiting behind the gap.
    pub bytes: u64,
}

/// Estimates the bytes that TCP's head-of-line blocking held back, from samples of `TCP_INFO`.
///
/// The kernel counts segments that arrive behind a gap (`tcpi_rcv_ooopack`) and bytes that have
/// become readable (`tcpi_bytes_received`, which grows only when they are in order). Segments
/// behind a gap wait; when bytes become readable while some wait, one segment filled the gap and
/// the rest of the burst had been waiting.
///
/// Precision: a waiting segment counts as a full one (`tcpi_rcv_mss`); when several gaps are
/// filled between two samples, each beyond the first adds up to one segment too much; a duplicate
/// that arrives behind a gap counts as one more waiting segment. Never more than what became
/// readable.
#[derive(Debug, Default)]
pub struct HeldBytes {
    last: TcpInfo,
    last_advance: Option<Instant>,
    waiting: u64,
    read: u64,
    total: u64,
}

impl HeldBytes {
    /// Takes note of bytes that were just read.
    ///
    /// A segment or less releases nothing. So the kernel is asked only after more, and not for every packet of an even
    /// flow, which would be every third system call of a download.
    ///
    /// # Arguments
    /// * `info` - asks the kernel.
    pub fn read(
        &mut self,
        now: Instant,
        bytes: u64,
        info: impl FnOnce() -> Option<TcpInfo>,
    ) -> Option<Release> {
        self.read += bytes;
        if bytes > u64::from(self.last.rcv_mss_bytes) {
            return self.sample(now, &info()?);
        }
        if self.read > self.last.received_bytes {
            self.last.received_bytes = self.read;
            self.last_advance = Some(now);
        }
        None
    }

    fn sample(&mut self, now: Instant, info: &TcpInfo) -> Option<Release> {
        let segment = u64::from(info.rcv_mss_bytes);
        let arrived = info.out_of_order_packets.wrapping_sub(self.last.out_of_order_packets);
        let advanced = info.received_bytes.saturating_sub(self.last.received_bytes);
        self.waiting += u64::from(arrived) * segment;
        self.last = *info;
        if advanced == 0 {
            return None;
        }
        let since = self.last_advance.replace(now).unwrap_or(now);
        let bytes = self.waiting.min(advanced.saturating_sub(segment));
        self.waiting -= bytes;
        self.total += bytes;
        (bytes > 0).then_some(Release { at: now, since, bytes })
    }

    /// All bytes held back so far.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn info(out_of_order_packets: u32, received_segments: u64) -> TcpInfo {
        TcpInfo {
            rcv_mss_bytes: 1000,
            out_of_order_packets,
            received_bytes: received_segments * 1000,
            ..TcpInfo::default()
        }
    }

    #[test]
    fn what_arrives_in_order_is_not_held() {
        let (mut held, now) = (HeldBytes::default(), Instant::now());
        assert_eq!(held.sample(now, &info(0, 1)), None);
        assert_eq!(held.sample(now, &info(0, 40)), None);
        assert_eq!(held.total(), 0);
    }

    #[test]
    fn a_filled_gap_releases_what_waited() {
        let (mut held, start) = (HeldBytes::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        held.sample(at(0), &info(0, 3));
        // Segment 4 is lost; 5 to 9 wait; at 50 ms the retransmission comes.
        assert_eq!(held.sample(at(20), &info(2, 3)), None);
        let release = held.sample(at(50), &info(5, 9)).unwrap();
        assert_eq!(release, Release { at: at(50), since: at(0), bytes: 5000 });
        // Afterwards all is in order again.
        assert_eq!(held.sample(at(51), &info(5, 12)), None);
    }

    #[test]
    fn the_kernel_is_asked_only_if_more_than_a_segment_came() {
        let (mut held, start) = (HeldBytes::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(held.read(at(0), 1000, || Some(info(0, 1))), None);
        for ms in [1, 2, 3] {
            assert_eq!(held.read(at(ms), 1000, || unreachable!("a segment")), None);
        }
        // Segment 5 is lost; 6 to 8 wait, and come with it. They fill two reads, of which the second has nothing new.
        let release = held.read(at(50), 3000, || Some(info(3, 8))).unwrap();
        assert_eq!(release, Release { at: at(50), since: at(3), bytes: 3000 });
        assert_eq!(held.read(at(51), 1000, || unreachable!("the rest")), None);
        // 9 is lost, 10 waits.
        let release = held.read(at(90), 2000, || Some(info(4, 10))).unwrap();
        assert_eq!(release, Release { at: at(90), since: at(50), bytes: 1000 });
    }

    #[test]
    fn two_gaps_are_two_releases() {
        let (mut held, now) = (HeldBytes::default(), Instant::now());
        held.sample(now, &info(0, 1));
        // 2 and 5 are lost; 3, 4, 6, 7, 8 wait. 2 comes and frees 3 and 4, 5 frees the others.
        let bytes = |release: Option<Release>| release.map(|r| r.bytes);
        assert_eq!(bytes(held.sample(now, &info(5, 4))), Some(2000));
        assert_eq!(bytes(held.sample(now, &info(5, 8))), Some(3000));
        // A gap of two segments: the first that comes frees nothing.
        assert_eq!(held.sample(now, &info(7, 9)), None);
        assert_eq!(bytes(held.sample(now, &info(7, 12))), Some(2000));
        assert_eq!(held.total(), 7000);
    }
}
