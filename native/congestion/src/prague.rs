//! Prague: a scalable controller for L4S, after draft-briscoe-iccrg-prague-congestion-control-04.
//!
//! The lab kernel's TCP Prague is the same in packets, where this is in bytes.

use std::time::Duration;

use crate::controller::{Ack, Acked, Controller, Ecn, Loss, Rtt, Sent, State, Time};
use crate::rate::Rate;
use crate::settings::Settings;
use crate::usage::Sending;

/// What a virtual round trip has at least.
const VIRTUAL_RTT: Duration = Duration::from_millis(25);
/// How much a virtual round trip's share of marks counts in the average.
const GAIN: f64 = 1.0 / 16.0;
/// How much faster than one window per smoothed round-trip time packets leave in slow start.
const SLOW_START_PACING: f64 = 2.0;

/// The moving average of the share of packets that are marked.
#[derive(Debug)]
struct Marks {
    average: f64,
    /// Whether there were any.
    were_seen: bool,
    since: Time,
    packets: u64,
    marked: u64,
}

impl Marks {
    /// Once a virtual round trip.
    fn update(&mut self, now: Time, rtt: &Rtt) {
        if self.packets == 0 || now.saturating_sub(self.since) < virtual_rtt(rtt) {
            return;
        }
        let share = self.marked.min(self.packets) as f64 / self.packets as f64;
        self.average += (share - self.average) * GAIN;
        self.begin(now);
    }

    fn begin(&mut self, now: Time) {
        (self.since, self.packets, self.marked) = (now, 0, 0);
    }
}

/// The latest reduction because of marks.
#[derive(Debug)]
struct Reduction {
    at: Time,
    /// The window before it.
    before: f64,
}

/// The controller.
#[derive(Debug)]
pub(crate) struct Prague {
    settings: Settings,
    /// Bytes, with a fraction: a window over a short round trip grows by less than a byte for a packet.
    window: f64,
    ssthresh: Option<u64>,
    marks: Marks,
    /// Packets that the latest report says are marked, and that no acknowledgment was seen for.
    unacknowledged_marks: u64,
    reduction: Option<Reduction>,
    rtt: Rtt,
    sending: Sending,
    /// The last packet sent before the latest loss.
    lost_at: Option<u64>,
    /// No later packet was acknowledged yet.
    is_recovering: bool,
}

impl Prague {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            window: settings.clamp(settings.initial_window) as f64,
            ssthresh: settings.initial_ssthresh.map(|ssthresh| settings.clamp(ssthresh)),
            marks: Marks {
                average: 0.0,
                were_seen: false,
                since: Time::ZERO,
                packets: 0,
                marked: 0,
            },
            unacknowledged_marks: 0,
            reduction: None,
            rtt: Rtt::default(),
            sending: Sending::default(),
            lost_at: None,
            is_recovering: false,
        }
    }

    fn set_window(&mut self, window: f64) {
        let least = self.settings.clamp(0) as f64;
        let most = self.settings.max_window.map_or(f64::INFINITY, |most| most as f64);
        self.window = window.min(most).max(least);
    }

    fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.window() < ssthresh)
    }

    fn is_old(&self, number: u64) -> bool {
        self.lost_at.is_some_and(|last| number <= last)
    }

    /// At most once a virtual round trip, by half of the average.
    fn reduce(&mut self, now: Time) {
        if !self.marks.were_seen {
            // The first marks say how full the path is, no average does.
            self.marks.were_seen = true;
            self.marks.average = 1.0;
            self.marks.begin(now);
        } else if let Some(latest) = &self.reduction {
            if now.saturating_sub(latest.at) < virtual_rtt(&self.rtt) {
                return;
            }
        }
        self.reduction = Some(Reduction { at: now, before: self.window });
        self.set_window(self.window * (1.0 - self.marks.average / 2.0));
        self.ssthresh = Some(self.window());
    }

    /// A round trip's growth is the square of what it is of a virtual one.
    fn grow(&mut self, bytes: f64) {
        let mut bytes = bytes;
        let mut window = self.window;
        if self.in_slow_start() {
            let until = self.ssthresh.map_or(f64::INFINITY, |ssthresh| ssthresh as f64);
            window = (window + bytes).min(until);
            bytes -= window - self.window;
        }
        if bytes > 0.0 {
            let virtual_rtts = self.rtt.smoothed.div_duration_f64(virtual_rtt(&self.rtt));
            let a_round = self.settings.datagram as f64 * virtual_rtts.powi(2);
            window += a_round * bytes / window;
        }
        self.set_window(window);
    }
}

fn virtual_rtt(rtt: &Rtt) -> Duration {
    rtt.smoothed.max(VIRTUAL_RTT)
}

impl Controller for Prague {
    fn on_sent(&mut self, sent: &Sent) {
        let in_flight = sent.in_flight.saturating_add(sent.bytes);
        // Pacing keeps packets back before the window does: an eighth of it.
        let spare = self.settings.datagram.saturating_add(self.window() / 8);
        let filled = in_flight.saturating_add(spare) > self.window();
        self.sending.on_sent(sent.number, in_flight, filled);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.rtt = ack.rtt;
        if self.sending.on_ack(ack.packets).is_none() {
            return;
        }
        let packets = ack.packets.len() as u64;
        let marked = std::mem::take(&mut self.unacknowledged_marks);
        self.marks.packets += packets;
        self.marks.marked += marked;
        self.marks.update(ack.now, &ack.rtt);
        let newer = ack.packets.iter().filter(|packet: &&Acked| !self.is_old(packet.number));
        let bytes = newer.map(|packet| packet.bytes).fold(0, u64::saturating_add);
        if bytes == 0 {
            return;
        }
        self.is_recovering = false;
        let limited = ack.cwnd_limited || self.sending.limited(self.window(), self.in_slow_start());
        if limited {
            self.grow(bytes as f64 * packets.saturating_sub(marked) as f64 / packets as f64);
        }
    }

    /// Half of the window that there was before the round trip's marks, so that a loss
    /// among marks costs no more than a loss alone.
    fn on_loss(&mut self, loss: &Loss<'_>) {
        let Some(latest) = loss.packets.iter().map(|packet| packet.number).max() else { return };
        if !self.is_old(latest) {
            let recent = self
                .reduction
                .as_ref()
                .filter(|reduction| loss.now.saturating_sub(reduction.at) < self.rtt.smoothed);
            let before = recent.map_or(self.window, |reduction| reduction.before.max(self.window));
            self.set_window(self.window.min(before / 2.0));
            self.ssthresh = Some(self.window());
            self.lost_at = Some(loss.largest_sent.max(latest));
            self.is_recovering = true;
        }
        if loss.persistent {
            self.set_window(0.0);
        }
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        self.unacknowledged_marks += ecn.marked;
        self.reduce(ecn.now);
    }

    fn on_application_limited(&mut self, _now: Time, in_flight: u64) {
        let room = in_flight.saturating_add(self.settings.datagram) <= self.window();
        self.sending.on_application_limited(room);
    }

    fn window(&self) -> u64 {
        self.window as u64
    }

    fn ssthresh(&self) -> Option<u64> {
        self.ssthresh
    }

    /// No faster than the window over a round trip, or a queue would form within it.
    fn pacing_rate(&self, rtt: &Rtt) -> Option<Rate> {
        self.settings.pacing?;
        let rate = Rate::over(self.window(), rtt.smoothed)?;
        let is_far = self.ssthresh.is_none_or(|ssthresh| self.window() < ssthresh / 2);
        Some(if is_far { rate.scaled(SLOW_START_PACING) } else { rate })
    }

    fn state(&self) -> State {
        if self.is_recovering {
            State::Recovery
        } else if let Some(state) = self.sending.state() {
            state
        } else if self.settings.max_window.is_some_and(|most| self.window() >= most) {
            State::CongestionAvoidanceMaxed
        } else if self.in_slow_start() {
            State::SlowStart
        } else {
            State::CongestionAvoidance
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm;
    use crate::config::Config;

    const DATAGRAM: u64 = 1000;

    /// A sender whose window is full, with one packet acknowledged at a time.
    struct Full {
        prague: Prague,
        rtt: Rtt,
        now: Time,
        next: u64,
    }

    impl Full {
        fn new(rtt_ms: u64, window: u64) -> Self {
            let (algorithm, max_datagram) = (Algorithm::Prague, DATAGRAM);
            let settings = Config { algorithm, max_datagram, ..Config::default() }.settings();
            let initial_window = window * DATAGRAM;
            let smoothed = Duration::from_millis(rtt_ms);
            let rtt = Rtt { latest: smoothed, smoothed, min: smoothed, ..Rtt::default() };
            let initial_ssthresh = Some(initial_window);
            let settings = Settings { initial_window, initial_ssthresh, ..settings };
            Self { prague: Prague::new(settings), rtt, now: Time::ZERO, next: 0 }
        }

        /// A round trip, of whose packets the first are marked.
        fn round(&mut self, marked: u64) {
            let packets = self.prague.window() / DATAGRAM;
            for place in 0..packets {
                self.now += self.rtt.smoothed / u32::try_from(packets).expect("few");
                let (number, now) = (self.next, self.now);
                self.next += 1;
                let in_flight = self.prague.window() - DATAGRAM;
                let sent = Sent { number, bytes: DATAGRAM, at: now, in_flight };
                self.prague.on_sent(&sent);
                if place < marked {
                    let largest_sent = number;
                    let ecn = Ecn { now, number, in_flight, largest_sent, marked: 1 };
                    self.prague.on_ecn(&ecn);
                }
                let packets = &[Acked { number, bytes: DATAGRAM, sent_at: now }];
                let (rtt, cwnd_limited) = (self.rtt, true);
                self.prague.on_ack(&Ack { now, packets, rtt, in_flight, cwnd_limited });
            }
        }

        fn mark(&mut self) {
            let (now, in_flight, largest_sent) = (self.now, 0, self.next);
            self.prague.on_ecn(&Ecn { now, number: 0, in_flight, largest_sent, marked: 1 });
        }

        fn lose(&mut self) {
            let (now, in_flight, number) = (self.now, 0, self.next - 1);
            let packets = &[Acked { number, bytes: DATAGRAM, sent_at: now }];
            let (persistent, largest_sent) = (false, self.next);
            self.prague.on_loss(&Loss { now, packets, in_flight, persistent, largest_sent });
        }
    }

    fn packets(full: &Full) -> f64 {
        full.prague.window / DATAGRAM as f64
    }

    #[test]
    fn a_round_of_a_long_path_grows_by_a_packet() {
        let mut full = Full::new(50, 40);
        full.round(0);
        assert!((packets(&full) - 41.0).abs() < 0.02, "{}", packets(&full));
    }

    #[test]
    fn a_short_path_grows_by_the_square_of_its_share() {
        let mut full = Full::new(5, 40);
        full.round(0);
        assert!((packets(&full) - 40.04).abs() < 0.001, "{}", packets(&full));
    }

    #[test]
    fn the_first_mark_halves() {
        let mut full = Full::new(50, 40);
        full.mark();
        assert!((packets(&full) - 20.0).abs() < 1e-9, "{}", packets(&full));
    }

    /// One of 20 packets in each round: the average becomes a twentieth, and each reduction half of it.
    #[test]
    fn the_average_follows_the_share_of_marks() {
        let mut full = Full::new(25, 20);
        for _ in 0..400 {
            let window = 20.0 * DATAGRAM as f64;
            full.prague.window = window;
            full.round(1);
        }
        assert!((full.prague.marks.average - 0.05).abs() < 0.005, "{}", full.prague.marks.average);
    }

    #[test]
    fn marks_reduce_once_a_virtual_round_trip() {
        let mut full = Full::new(5, 40);
        full.round(1);
        full.prague.marks.average = 0.5;
        let before = packets(&full);
        full.round(1);
        assert!(packets(&full) > before, "5 of 25 ms are over");
        (0..5).for_each(|_| full.round(0));
        let before = packets(&full);
        full.round(1);
        assert!(packets(&full) < before * 0.8, "{}", packets(&full));
    }

    #[test]
    fn a_loss_halves_and_among_marks_no_more() {
        let mut full = Full::new(50, 40);
        full.round(0);
        full.prague.marks.were_seen = true;
        full.prague.marks.average = 0.2;
        let before = packets(&full);
        full.mark();
        assert!((packets(&full) - 0.9 * before).abs() < 0.01);
        full.lose();
        assert!((packets(&full) - before / 2.0).abs() < 0.01);
        full.lose();
        assert!((packets(&full) - before / 2.0).abs() < 0.01, "once a round");
    }
}
