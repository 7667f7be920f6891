//! Frames of a carrier: packets one after another in them, some lost.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::demand::{Account, Backlog, Demand};

/// What a packet has on the wire besides itself: the header of an Ethernet frame, as everywhere in a lab.
const HEADER_BYTES: u64 = 14;
const NS_PER_S: u128 = 1_000_000_000;

/// What a carrier is. Python's `headway.contract.carrier.CarrierLink` says what each means.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Framing {
    pub(crate) rate_bit_s: u64,
    pub(crate) frame_bytes: u64,
    /// Of 2^63, how many frames are lost.
    pub(crate) lost_of_2_63: u64,
    pub(crate) seed: u64,
    pub(crate) limit_bytes: u64,
    /// Nought without such a limit.
    pub(crate) limit_packets: usize,
    pub(crate) demand: Option<Demand>,
}

/// What a link's own process did to packets, where one has its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnCounts {
    pub(crate) dropped: u64,
    pub(crate) lost: u64,
}

/// A packet that waits, or of which parts have been sent.
struct Waiting {
    bytes: Vec<u8>,
    left_bytes: u64,
    lost: bool,
}

/// A frame that is being sent.
struct Frame {
    /// Of its time at 1 bit/s; at a rate, the rate times the time that has passed is taken off it.
    left_bit_ns: u128,
    /// How many packets from the queue's front end in it.
    ends: usize,
}

/// A carrier with its queue.
pub(crate) struct Carrier {
    framing: Framing,
    start_ns: u64,
    account: Option<Account>,
    queue: VecDeque<Waiting>,
    queued_bytes: u64,
    frame: Option<Frame>,
    frames: u64,
    /// What has come since a superframe began.
    arrived_bytes: u64,
    rate_bit_s: u64,
    at_ns: u64,
    arrived: VecDeque<Vec<u8>>,
    counts: OwnCounts,
}

impl Carrier {
    pub(crate) fn new(framing: Framing, start_ns: u64) -> Self {
        let account = framing.demand.clone().map(Account::new);
        let rate_bit_s = account
            .as_ref()
            .map_or(framing.rate_bit_s, |account| account.constant_bit_s(framing.rate_bit_s));
        Self {
            framing,
            start_ns,
            account,
            queue: VecDeque::new(),
            queued_bytes: 0,
            frame: None,
            frames: 0,
            arrived_bytes: 0,
            rate_bit_s,
            at_ns: 0,
            arrived: VecDeque::new(),
            counts: OwnCounts::default(),
        }
    }

    pub(crate) fn counts(&self) -> OwnCounts {
        self.counts
    }

    /// A packet whose frames have all been sent, if none of them was lost.
    pub(crate) fn arrived(&mut self) -> Option<Vec<u8>> {
        self.arrived.pop_front()
    }

    /// When something happens that somebody waits for: a frame ends, or a superframe begins.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        if self.queue.is_empty() {
            return None;
        }
        let sent = self.frame.as_ref().filter(|_| self.rate_bit_s > 0);
        let end_ns = sent.map(|frame| {
            let left_ns = frame.left_bit_ns.div_ceil(u128::from(self.rate_bit_s));
            self.at_ns.saturating_add(u64::try_from(left_ns).unwrap_or(u64::MAX))
        });
        let begin_ns = self.account.as_ref().map(|account| self.start_ns + account.next_ns());
        [end_ns, begin_ns].into_iter().flatten().min()
    }

    /// Put a packet into the queue, if there is room.
    pub(crate) fn push(&mut self, packet: &[u8]) {
        let bytes = packet.len() as u64 + HEADER_BYTES;
        let limit = self.framing.limit_packets;
        let is_full = limit > 0 && self.queue.len() >= limit;
        if is_full || self.queued_bytes + bytes > self.framing.limit_bytes {
            self.counts.dropped += 1;
            return;
        }
        self.queued_bytes += bytes;
        self.arrived_bytes += bytes;
        self.queue.push_back(Waiting { bytes: packet.to_vec(), left_bytes: bytes, lost: false });
    }

    /// Begin a frame with what waits, if none is being sent and there is capacity for one.
    pub(crate) fn begin_frame(&mut self, now_ns: u64) {
        if self.frame.is_some() || self.queue.is_empty() || self.rate_bit_s == 0 {
            return;
        }
        self.at_ns = now_ns;
        self.frames += 1;
        let lost = self.is_lost(self.frames);
        let (mut room, mut ends) = (self.framing.frame_bytes, 0);
        for waiting in &mut self.queue {
            let part = waiting.left_bytes.min(room);
            waiting.left_bytes -= part;
            waiting.lost |= lost;
            room -= part;
            ends += usize::from(waiting.left_bytes == 0);
            if room == 0 {
                break;
            }
        }
        let bits = u128::from(8 * self.framing.frame_bytes);
        self.frame = Some(Frame { left_bit_ns: bits * NS_PER_S, ends });
    }

    /// Let time pass: frames end and begin, superframes begin.
    pub(crate) fn advance(&mut self, now_ns: u64) {
        while let Some(next_ns) = self.next_ns().filter(|next_ns| *next_ns <= now_ns) {
            self.send_until(next_ns);
            if self.frame.as_ref().is_some_and(|frame| frame.left_bit_ns == 0) {
                self.end_frame();
                self.begin_frame(next_ns);
            }
            self.begin_superframes(next_ns);
        }
        if self.frame.is_some() {
            self.send_until(now_ns);
        }
        self.begin_superframes(now_ns);
    }

    fn send_until(&mut self, now_ns: u64) {
        if let Some(frame) = &mut self.frame {
            let sent = u128::from(self.rate_bit_s) * u128::from(now_ns.saturating_sub(self.at_ns));
            frame.left_bit_ns = frame.left_bit_ns.saturating_sub(sent);
        }
        self.at_ns = now_ns;
    }

    fn end_frame(&mut self) {
        let ends = self.frame.take().map_or(0, |frame| frame.ends);
        for waiting in self.queue.drain(..ends) {
            self.queued_bytes -= waiting.bytes.len() as u64 + HEADER_BYTES;
            if waiting.lost {
                self.counts.lost += 1;
            } else {
                self.arrived.push_back(waiting.bytes);
            }
        }
    }

    /// Begin the superframes that have begun by now; those without anything to ask for are skipped.
    fn begin_superframes(&mut self, now_ns: u64) {
        let (waiting_bytes, frame_bytes) = (self.waiting_bytes(), self.framing.frame_bytes);
        let Some(account) = &mut self.account else { return };
        // Before the first one there is what needs no request.
        let Some(since_ns) = now_ns.checked_sub(self.start_ns) else { return };
        while account.next_ns() <= since_ns {
            if waiting_bytes == 0 && account.is_quiet() {
                account.skip_until(since_ns);
                self.rate_bit_s = account.constant_bit_s(self.framing.rate_bit_s);
            } else {
                let arrived_bytes = self.arrived_bytes.div_ceil(frame_bytes) * frame_bytes;
                let backlog = Backlog { waiting_bytes, arrived_bytes };
                self.rate_bit_s = account.begin(backlog, self.framing.rate_bit_s);
            }
            self.arrived_bytes = 0;
        }
        self.begin_frame(now_ns);
    }

    /// What waits, with what is left of the frame that is being sent, in whole frames.
    fn waiting_bytes(&self) -> u64 {
        let begun = u64::from(self.frame.is_some());
        let left: u64 = self.queue.iter().map(|waiting| waiting.left_bytes).sum();
        (left.div_ceil(self.framing.frame_bytes) + begun) * self.framing.frame_bytes
    }

    /// Whether a frame is lost: a draw of its own for every number (SplitMix64, Steele et al. 2014).
    fn is_lost(&self, number: u64) -> bool {
        let mut z = self.framing.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) >> 1 < self.framing.lost_of_2_63
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// 1 Mbit/s, frames of 1000 bytes: 8 ms each.
    fn framing() -> Framing {
        Framing {
            rate_bit_s: 1_000_000,
            frame_bytes: 1000,
            lost_of_2_63: 0,
            seed: 1,
            limit_bytes: 100_000,
            limit_packets: 0,
            demand: None,
        }
    }

    /// When packets of these lengths, with their headers, arrive: all sent at once, at a time.
    fn arrivals(framing: Framing, at_ms: u64, lengths: &[u64]) -> Vec<f64> {
        let mut carrier = Carrier::new(framing, 0);
        carrier.advance(at_ms * MS);
        for length in lengths {
            carrier.push(&vec![0; (length - HEADER_BYTES) as usize]);
        }
        carrier.begin_frame(at_ms * MS);
        let mut times = Vec::new();
        while let Some(next_ns) = carrier.next_ns() {
            carrier.advance(next_ns);
            while carrier.arrived().is_some() {
                times.push(next_ns as f64 / 1e6);
            }
        }
        times
    }

    #[test]
    fn a_packet_arrives_with_the_frame_in_which_it_ends() {
        assert_eq!(arrivals(framing(), 5, &[100]), [13.0]);
        assert_eq!(arrivals(framing(), 0, &[1000, 1000]), [8.0, 16.0]);
        // Three packets of 700 bytes: 0 to 700, 700 to 1400, 1400 to 2100.
        assert_eq!(arrivals(framing(), 0, &[700, 700, 700]), [8.0, 16.0, 24.0]);
        assert_eq!(arrivals(framing(), 0, &[300, 300, 300, 300]), [8.0, 8.0, 8.0, 16.0]);
        assert_eq!(arrivals(framing(), 0, &[2500]), [24.0]);
    }

    #[test]
    fn a_lost_frame_loses_every_packet_that_has_a_part_in_it() {
        let mut carrier = Carrier::new(Framing { lost_of_2_63: 1 << 62, ..framing() }, 0);
        let lost: Vec<_> = (1..=1000).map(|number| carrier.is_lost(number)).collect();
        let count = lost.iter().filter(|lost| **lost).count();
        assert!((450..550).contains(&count), "{count}");
        let every = 10;
        for _ in 0..every {
            carrier.push(&[0; 1486]);
        }
        carrier.begin_frame(0);
        carrier.advance(1000 * MS);
        // Packets of 1500 bytes: the first in frames 1 and 2, the second in 2 and 3, the third in 4 and 5.
        let parts = |number: usize| (3 * number / 2)..=((3 * number + 2) / 2);
        let expected = (0..every).filter(|number| parts(*number).any(|frame| lost[frame]));
        assert_eq!(carrier.counts().lost, expected.count() as u64);
        assert_eq!(carrier.arrived.len() as u64, every as u64 - carrier.counts().lost);
    }

    #[test]
    fn all_frames_may_be_lost_and_none() {
        let count = |lost_of_2_63| {
            let mut carrier = Carrier::new(Framing { lost_of_2_63, ..framing() }, 0);
            (0..100).for_each(|_| carrier.push(&[0; 86]));
            carrier.begin_frame(0);
            carrier.advance(10_000 * MS);
            carrier.counts().lost
        };
        assert_eq!((count(0), count(1 << 63)), (0, 100));
    }

    #[test]
    fn packets_for_which_there_is_no_room_are_dropped() {
        let mut carrier = Carrier::new(Framing { limit_bytes: 250, ..framing() }, 0);
        (0..3).for_each(|_| carrier.push(&[0; 86]));
        assert_eq!((carrier.queue.len(), carrier.counts().dropped), (2, 1));
        let mut carrier = Carrier::new(Framing { limit_packets: 1, ..framing() }, 0);
        (0..3).for_each(|_| carrier.push(&[0; 86]));
        assert_eq!((carrier.queue.len(), carrier.counts().dropped), (1, 2));
    }

    fn demand() -> Demand {
        Demand {
            superframe_ns: 20 * MS,
            latency_superframes: 10,
            every_superframes: 1,
            constant_bit_s: 0,
            rate_bit_s: 0,
            volume_bytes: 0,
        }
    }

    #[test]
    fn a_volume_waits_for_its_request_its_grant_and_its_superframe() {
        // It comes at 5 ms, is asked for at 20 and granted at 220; its frame has that superframe.
        let demand = Demand { volume_bytes: 10_000, ..demand() };
        assert_eq!(arrivals(Framing { demand: Some(demand), ..framing() }, 5, &[100]), [240.0]);
    }

    #[test]
    fn two_frames_share_a_superframe_evenly() {
        let demand = Demand { volume_bytes: 10_000, ..demand() };
        let framing = Framing { demand: Some(demand), ..framing() };
        assert_eq!(arrivals(framing, 5, &[1000, 1000]), [230.0, 240.0]);
    }

    #[test]
    fn a_constant_rate_sends_at_once_at_its_rate() {
        // 100 kbit/s: 80 ms a frame.
        let demand = Demand { constant_bit_s: 100_000, ..demand() };
        let framing = Framing { demand: Some(demand), ..framing() };
        assert_eq!(arrivals(framing, 5, &[1000, 500]), [85.0, 165.0]);
    }

    #[test]
    fn a_rate_is_granted_for_what_waits() {
        // Two frames have come by 20 ms: 800 kbit/s from 220 ms on, beside 40 kbit/s.
        let demand = Demand { constant_bit_s: 40_000, rate_bit_s: 1_000_000, ..demand() };
        let framing = Framing { demand: Some(demand), ..framing() };
        // The first has 8,000 bits: 200 ms at 40 kbit/s. The second has 15 ms of them, then 840 kbit/s.
        let second_ms = 220.0 + (8000.0 - 15.0 * 40.0) / 840.0;
        let times = arrivals(framing, 5, &[1000, 1000]);
        assert_eq!(times[0], 205.0);
        assert!((times[1] - second_ms).abs() < 1e-5, "{times:?}");
    }

    #[test]
    fn without_anything_to_send_nothing_is_asked_for_or_waited_for() {
        let demand = Demand { volume_bytes: 10_000, ..demand() };
        let mut carrier = Carrier::new(Framing { demand: Some(demand), ..framing() }, 0);
        carrier.advance(10_000 * MS);
        assert_eq!(carrier.next_ns(), None);
        carrier.push(&[0; 86]);
        carrier.begin_frame(10_005 * MS);
        assert_eq!(carrier.next_ns(), Some(10_020 * MS));
    }
}
