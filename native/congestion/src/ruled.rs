//! A controller whose window follows a rule, such as one that goes by delay.

use std::fmt;

use crate::controller::{Ack, Acked, Controller, Ecn, Loss, Rtt, Sent, State, Time};
use crate::loss_based::Progress;
use crate::rate::Rate;
use crate::settings::Settings;
use crate::usage::Sending;

/// What the window becomes, by what the path tells.
pub(crate) trait Rule: fmt::Debug + Send {
    /// The window after an acknowledgment, in bytes. It may grow only if it was the limit, which is seen to.
    fn on_ack(&mut self, progress: &Progress) -> u64;

    /// The window after congestion, in bytes: once for all packets that were sent before it.
    fn on_congestion(&mut self, window: u64) -> u64;

    /// The window collapsed: what was learnt about the path is void.
    fn on_persistent_congestion(&mut self) {}

    /// How much faster than one window per smoothed round-trip time packets leave, if they are spread at all.
    fn pacing_gain(&self) -> f64 {
        1.25
    }
}

/// A controller with a rule: it knows which losses belong together and whether the window is the limit.
#[derive(Debug)]
pub(crate) struct Ruled<R> {
    rule: R,
    settings: Settings,
    window: u64,
    sending: Sending,
    /// The last packet sent before the latest congestion.
    congested_at: Option<u64>,
    /// No later packet was acknowledged yet.
    is_recovering: bool,
}

impl<R: Rule> Ruled<R> {
    pub(crate) fn new(rule: R, settings: Settings) -> Self {
        Self {
            rule,
            settings,
            window: settings.clamp(settings.initial_window),
            sending: Sending::default(),
            congested_at: None,
            is_recovering: false,
        }
    }

    fn is_old(&self, number: u64) -> bool {
        self.congested_at.is_some_and(|last| number <= last)
    }

    fn on_congestion(&mut self, number: u64, largest_sent: u64) {
        if !self.is_old(number) {
            self.window = self.settings.clamp(self.rule.on_congestion(self.window));
            self.congested_at = Some(largest_sent.max(number));
            self.is_recovering = true;
        }
    }
}

impl<R: Rule> Controller for Ruled<R> {
    fn on_sent(&mut self, sent: &Sent) {
        let in_flight = sent.in_flight.saturating_add(sent.bytes);
        let filled = in_flight.saturating_add(self.settings.datagram) > self.window;
        self.sending.on_sent(sent.number, in_flight, filled);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        if self.sending.on_ack(ack.packets).is_none() {
            return;
        }
        let newer = ack.packets.iter().filter(|packet: &&Acked| !self.is_old(packet.number));
        let bytes = newer.map(|packet| packet.bytes).fold(0, u64::saturating_add);
        if bytes == 0 {
            return;
        }
        self.is_recovering = false;
        let window = self.window;
        let after = self.rule.on_ack(&Progress { now: ack.now, bytes, window, rtt: ack.rtt });
        let is_limit = ack.cwnd_limited || self.sending.limited(window, false);
        self.window = self.settings.clamp(if is_limit { after } else { after.min(window) });
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        let Some(latest) = loss.packets.iter().map(|packet| packet.number).max() else { return };
        self.on_congestion(latest, loss.largest_sent);
        if loss.persistent {
            self.window = self.settings.clamp(0);
            self.rule.on_persistent_congestion();
        }
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        self.on_congestion(ecn.number, ecn.largest_sent);
    }

    fn on_application_limited(&mut self, _now: Time, in_flight: u64) {
        let room = in_flight.saturating_add(self.settings.datagram) <= self.window;
        self.sending.on_application_limited(room);
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn ssthresh(&self) -> Option<u64> {
        None
    }

    fn pacing_rate(&self, rtt: &Rtt) -> Option<Rate> {
        self.settings.pacing?;
        Some(Rate::over(self.window, rtt.smoothed)?.scaled(self.rule.pacing_gain()))
    }

    fn state(&self) -> State {
        if self.is_recovering {
            State::Recovery
        } else if let Some(state) = self.sending.state() {
            state
        } else if self.settings.max_window.is_some_and(|most| self.window >= most) {
            State::CongestionAvoidanceMaxed
        } else {
            State::CongestionAvoidance
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::Config;

    /// A datagram more for each acknowledgment without a queue, one less with one; half after congestion.
    #[derive(Debug)]
    struct ByDelay;

    impl Rule for ByDelay {
        fn on_ack(&mut self, progress: &Progress) -> u64 {
            let has_queue = progress.rtt.latest > progress.rtt.min;
            if has_queue { progress.window - 1000 } else { progress.window + 1000 }
        }

        fn on_congestion(&mut self, window: u64) -> u64 {
            window / 2
        }
    }

    fn ruled() -> Ruled<ByDelay> {
        let pacing = Config::default().pacing;
        let (datagram, initial_window) = (1000, 10_000);
        let settings =
            Settings { datagram, initial_window, max_window: None, initial_ssthresh: None, pacing };
        Ruled::new(ByDelay, settings)
    }

    fn packet(number: u64) -> Acked {
        Acked { number, bytes: 1000, sent_at: Time::ZERO }
    }

    fn send(ruled: &mut Ruled<ByDelay>, numbers: std::ops::Range<u64>) {
        for (number, before) in numbers.zip(0..) {
            let in_flight = before * 1000;
            ruled.on_sent(&Sent { number, bytes: 1000, at: Time::ZERO, in_flight });
        }
    }

    fn ack(ruled: &mut Ruled<ByDelay>, number: u64, latest_ms: u64) {
        let (latest, min) = (Duration::from_millis(latest_ms), Duration::from_millis(20));
        let rtt = Rtt { latest, smoothed: latest, min, undelayed: latest, ..Rtt::default() };
        let packets = &[packet(number)];
        let (now, in_flight, cwnd_limited) = (Time::ZERO, 0, false);
        ruled.on_ack(&Ack { now, packets, rtt, in_flight, cwnd_limited });
    }

    fn lose(ruled: &mut Ruled<ByDelay>, number: u64, largest_sent: u64, persistent: bool) {
        let (now, packets, in_flight) = (Time::ZERO, &[packet(number)], 0);
        ruled.on_loss(&Loss { now, packets, in_flight, persistent, largest_sent });
    }

    #[test]
    fn the_window_follows_the_rule() {
        let mut ruled = ruled();
        assert_eq!(ruled.state(), State::Init);
        send(&mut ruled, 0..10);
        ack(&mut ruled, 0, 20);
        assert_eq!((ruled.window(), ruled.state()), (11_000, State::CongestionAvoidance));
        ack(&mut ruled, 1, 30);
        ack(&mut ruled, 2, 30);
        assert_eq!(ruled.window(), 9000);
    }

    #[test]
    fn what_was_sent_before_congestion_counts_once() {
        let mut ruled = ruled();
        send(&mut ruled, 0..10);
        for number in [3, 5] {
            lose(&mut ruled, number, 9, false);
        }
        ack(&mut ruled, 4, 20);
        assert_eq!((ruled.window(), ruled.state()), (5000, State::Recovery));
        send(&mut ruled, 10..15);
        ack(&mut ruled, 10, 20);
        assert_eq!((ruled.window(), ruled.state()), (6000, State::CongestionAvoidance));
        lose(&mut ruled, 11, 14, true);
        assert_eq!(ruled.window(), 2000);
    }

    #[test]
    fn a_window_that_is_no_limit_does_not_grow() {
        let mut ruled = ruled();
        send(&mut ruled, 0..4);
        ack(&mut ruled, 0, 20);
        assert_eq!(ruled.window(), 10_000);
        ack(&mut ruled, 1, 30);
        assert_eq!(ruled.window(), 9000);
    }
}
