//! What NewReno, CUBIC and Hybla have in common: RFC 9002, section 7, around a law of growth.

use std::collections::BTreeSet;
use std::fmt;

use crate::careful_resume::Resumable;
use crate::controller::{Ack, Acked, Controller, Ecn, Loss, Rtt, Sent, SpuriousLoss, State, Time};
use crate::rate::Rate;
use crate::settings::Settings;
use crate::slow_start::SlowStart;
use crate::usage::Sending;

/// Bytes acknowledged while the window was the limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub(crate) now: Time,
    pub(crate) bytes: u64,
    /// The window before it grows.
    pub(crate) window: u64,
    pub(crate) rtt: Rtt,
}

/// How a window grows and shrinks.
pub(crate) trait WindowLaw: Clone + fmt::Debug + Send {
    /// Growth in slow start, in bytes.
    fn slow_start_growth(&mut self, progress: &Progress) -> u64 {
        progress.bytes
    }

    /// Growth in congestion avoidance, in bytes.
    fn avoidance_growth(&mut self, progress: &Progress) -> u64;

    /// The slow start threshold after congestion at `window`.
    fn on_congestion(&mut self, window: u64) -> u64;

    /// The window collapsed: what was learnt about the path is void.
    fn on_persistent_congestion(&mut self) {}

    /// Until `now` the window was not the limit.
    fn on_unused(&mut self, _now: Time) {}
}

/// The latest congestion event.
#[derive(Debug)]
struct Event<L> {
    /// The last packet sent before it. Later losses up to here belong to it.
    last_sent: u64,
    /// Whether no later packet was acknowledged yet.
    recovering: bool,
    /// Its lost packets that may have been delivered nevertheless.
    lost: BTreeSet<u64>,
    /// Whether it was marked by the network, and so cannot be spurious.
    marked: bool,
    before: Before<L>,
}

/// What a spurious event is undone to.
#[derive(Debug)]
struct Before<L> {
    window: u64,
    ssthresh: Option<u64>,
    law: L,
}

/// A loss-based controller.
#[derive(Debug)]
pub(crate) struct LossBased<L> {
    law: L,
    slow_start: Box<dyn SlowStart>,
    settings: Settings,
    window: u64,
    ssthresh: Option<u64>,
    sending: Sending,
    event: Option<Event<L>>,
}

impl<L: WindowLaw> LossBased<L> {
    pub(crate) fn new(law: L, slow_start: Box<dyn SlowStart>, settings: Settings) -> Self {
        Self {
            law,
            slow_start,
            settings,
            window: settings.clamp(settings.initial_window),
            ssthresh: settings.initial_ssthresh.map(|ssthresh| settings.clamp(ssthresh)),
            sending: Sending::default(),
            event: None,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.window < ssthresh)
    }

    fn recovering(&self) -> bool {
        self.event.as_ref().is_some_and(|event| event.recovering)
    }

    /// Whether `number` was sent before the latest congestion event.
    fn is_old(&self, number: u64) -> bool {
        self.event.as_ref().is_some_and(|event| number <= event.last_sent)
    }

    /// Bytes of packets sent after the latest congestion event, which ends with the first of them.
    fn leave_recovery(&mut self, packets: &[Acked]) -> u64 {
        let newer = packets.iter().filter(|packet| !self.is_old(packet.number));
        let bytes = newer.map(|packet| packet.bytes).fold(0, u64::saturating_add);
        if let Some(event) = self.event.as_mut().filter(|_| bytes > 0) {
            event.recovering = false;
        }
        bytes
    }

    fn grow(&mut self, ack: &Ack<'_>, bytes: u64) {
        let mut progress = Progress { now: ack.now, bytes, window: self.window, rtt: ack.rtt };
        if self.in_slow_start() {
            progress.bytes = self.slow_start.credit(bytes);
            let growth = self.law.slow_start_growth(&progress);
            let ssthresh = self.ssthresh.unwrap_or(u64::MAX);
            self.window = self.window.saturating_add(growth).min(ssthresh);
            // What slow start does not use is for congestion avoidance.
            progress.bytes = growth.saturating_sub(self.window - progress.window).min(bytes);
            progress.window = self.window;
        }
        if progress.bytes > 0 {
            let growth = self.law.avoidance_growth(&progress);
            self.window = self.window.saturating_add(growth);
        }
        self.window = self.settings.clamp(self.window);
    }

    /// RFC 9002, section 7.3.2, for packet `number`.
    fn on_congestion(&mut self, number: u64, largest_sent: u64) {
        if self.is_old(number) {
            return;
        }
        let law = self.law.clone();
        let before = Before { window: self.window, ssthresh: self.ssthresh, law };
        let ssthresh = self.settings.clamp(self.law.on_congestion(self.window));
        self.ssthresh = Some(ssthresh);
        self.window = self.window.min(ssthresh);
        let last_sent = largest_sent.max(number);
        let lost = BTreeSet::new();
        self.event = Some(Event { last_sent, recovering: true, lost, marked: false, before });
        self.slow_start.on_congestion();
    }

    fn undo(&mut self) {
        if let Some(Event { before, .. }) = self.event.take() {
            self.window = self.settings.clamp(self.window.max(before.window));
            self.ssthresh = before.ssthresh;
            self.law = before.law;
        }
    }
}

impl<L: WindowLaw> Controller for LossBased<L> {
    fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight == 0 {
            self.law.on_unused(sent.at);
        }
        let in_flight = sent.in_flight.saturating_add(sent.bytes);
        let filled = in_flight.saturating_add(self.settings.datagram) > self.window;
        self.sending.on_sent(sent.number, in_flight, filled);
        self.slow_start.on_sent(sent.number);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(largest) = self.sending.on_ack(ack.packets) else {
            return;
        };
        let slow_start = self.in_slow_start();
        if slow_start && self.slow_start.ends_with(ack, largest, self.window) {
            self.ssthresh = Some(self.window);
        }
        let bytes = self.leave_recovery(ack.packets);
        if ack.cwnd_limited || self.sending.limited(self.window, slow_start) {
            if bytes > 0 {
                self.grow(ack, bytes);
            }
        } else {
            self.law.on_unused(ack.now);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        let Some(latest) = loss.packets.iter().map(|packet| packet.number).max() else {
            return;
        };
        self.on_congestion(latest, loss.largest_sent);
        if let Some(event) = &mut self.event {
            event.lost.extend(loss.packets.iter().map(|packet| packet.number));
        }
        if loss.persistent {
            self.window = self.settings.clamp(0);
            self.law.on_persistent_congestion();
            self.slow_start.restart();
        }
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        self.on_congestion(ecn.number, ecn.largest_sent);
        if let Some(event) = &mut self.event {
            event.marked = true;
        }
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss<'_>) {
        let Some(event) = &mut self.event else {
            return;
        };
        let removed = spurious.packets.iter().filter(|packet| event.lost.remove(&packet.number));
        if removed.count() > 0 && event.lost.is_empty() && !event.marked {
            self.undo();
        }
    }

    fn on_application_limited(&mut self, _now: Time, in_flight: u64) {
        let room = in_flight.saturating_add(self.settings.datagram) <= self.window;
        self.sending.on_application_limited(room);
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn ssthresh(&self) -> Option<u64> {
        self.ssthresh
    }

    fn pacing_rate(&self, rtt: &Rtt) -> Option<Rate> {
        let gains = self.settings.pacing?;
        let early = self.ssthresh.is_none_or(|ssthresh| self.window < ssthresh / 2);
        let gain = if early { gains.slow_start } else { gains.avoidance };
        Some(Rate::over(self.window, rtt.smoothed)?.scaled(gain))
    }

    fn state(&self) -> State {
        if self.recovering() {
            State::Recovery
        } else if let Some(state) = self.sending.state() {
            state
        } else if self.settings.max_window.is_some_and(|most| self.window >= most) {
            State::CongestionAvoidanceMaxed
        } else if self.in_slow_start() {
            State::SlowStart
        } else {
            State::CongestionAvoidance
        }
    }
}

impl<L: WindowLaw> Resumable for LossBased<L> {
    fn resume_at(&mut self, window: u64) {
        self.window = self.settings.clamp(window);
    }

    fn retreat(&mut self, window: u64) {
        self.resume_at(window);
    }

    fn end_retreat(&mut self, window: u64, ssthresh: u64) {
        self.resume_at(window.min(self.window));
        self.ssthresh = Some(self.settings.clamp(ssthresh));
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::time::Duration;

    use super::*;
    use crate::config::Config;
    use crate::controller::Time;
    use crate::new_reno::NewReno;
    use crate::slow_start;

    const RTT: Duration = Duration::from_millis(100);

    /// A NewReno sender with datagrams of 1000 bytes, which it sends as its window allows.
    struct Sender {
        controller: LossBased<NewReno>,
        next: u64,
        in_flight: u64,
    }

    fn sender(max_window: Option<u64>) -> Sender {
        limited(max_window, None)
    }

    fn limited(max_window: Option<u64>, initial_ssthresh: Option<u64>) -> Sender {
        let settings = Settings {
            datagram: 1000,
            initial_window: 10_000,
            max_window,
            initial_ssthresh,
            pacing: Config::default().pacing,
        };
        let slow_start = Box::new(slow_start::Classic);
        let law = NewReno::new(1000, NonZeroU32::MIN);
        Sender { controller: LossBased::new(law, slow_start, settings), next: 0, in_flight: 0 }
    }

    fn packet(number: u64) -> Acked {
        Acked { number, bytes: 1000, sent_at: Time::ZERO }
    }

    impl Sender {
        fn send(&mut self, packets: u64) {
            for _ in 0..packets {
                let (number, in_flight) = (self.next, self.in_flight);
                self.controller.on_sent(&Sent { number, bytes: 1000, at: Time::ZERO, in_flight });
                self.next += 1;
                self.in_flight += 1000;
            }
        }

        fn fill(&mut self) {
            self.send((self.controller.window() - self.in_flight) / 1000);
        }

        fn ack(&mut self, number: u64) {
            self.in_flight -= 1000;
            let rtt =
                Rtt { latest: RTT, smoothed: RTT, min: RTT, undelayed: RTT, ..Rtt::default() };
            self.controller.on_ack(&Ack {
                now: Time::ZERO,
                packets: &[packet(number)],
                rtt,
                in_flight: self.in_flight,
                cwnd_limited: false,
            });
        }

        fn lose(&mut self, numbers: &[u64], persistent: bool) {
            self.in_flight -= 1000 * numbers.len() as u64;
            let packets: Vec<_> = numbers.iter().copied().map(packet).collect();
            self.controller.on_loss(&Loss {
                now: Time::ZERO,
                packets: &packets,
                in_flight: self.in_flight,
                persistent,
                largest_sent: self.next - 1,
            });
        }

        fn regret(&mut self, number: u64) {
            let packets = [packet(number)];
            let spurious = SpuriousLoss { now: Time::ZERO, packets: &packets };
            self.controller.on_spurious_loss(&spurious);
        }

        fn window(&self) -> u64 {
            self.controller.window()
        }
    }

    #[test]
    fn slow_start_grows_by_what_is_acknowledged() {
        let mut sender = sender(None);
        assert_eq!(sender.controller.state(), State::Init);
        sender.fill();
        (0..10).for_each(|number| sender.ack(number));
        assert_eq!(sender.window(), 20_000);
        assert_eq!(sender.controller.state(), State::SlowStart);
        assert_eq!(sender.controller.ssthresh(), None);
    }

    #[test]
    fn a_loss_halves_the_window_once_a_round() {
        let mut sender = sender(None);
        sender.fill();
        sender.lose(&[0, 1], false);
        assert_eq!((sender.window(), sender.controller.ssthresh()), (5000, Some(5000)));
        assert_eq!(sender.controller.state(), State::Recovery);
        sender.lose(&[2], false);
        assert_eq!(sender.window(), 5000, "it was sent before the event");
        sender.ack(9);
        assert_eq!(sender.controller.state(), State::Recovery);
        sender.send(1);
        sender.ack(10);
        assert_eq!(sender.controller.state(), State::CongestionAvoidance);
        sender.send(1);
        sender.lose(&[11], false);
        assert_eq!(sender.window(), 2500);
    }

    #[test]
    fn congestion_avoidance_grows_by_a_datagram_a_window() {
        let mut sender = sender(None);
        sender.fill();
        sender.lose(&[0], false);
        (1..10).for_each(|number| sender.ack(number));
        assert_eq!(sender.window(), 5000, "nothing grows in recovery");
        sender.fill();
        (10..15).for_each(|number| sender.ack(number));
        assert_eq!(sender.window(), 6000);
    }

    #[test]
    fn persistent_congestion_starts_again() {
        let mut sender = sender(None);
        sender.fill();
        sender.lose(&(0..10).collect::<Vec<_>>(), true);
        assert_eq!((sender.window(), sender.controller.ssthresh()), (2000, Some(5000)));
        sender.fill();
        sender.ack(10);
        sender.ack(11);
        assert_eq!(sender.controller.state(), State::SlowStart);
        assert_eq!(sender.window(), 4000);
        sender.fill();
        (12..16).for_each(|number| sender.ack(number));
        assert_eq!(sender.window(), 5000, "3000 bytes are a first part of the next datagram");
        assert_eq!(sender.controller.state(), State::CongestionAvoidance);
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut sender = sender(None);
        sender.send(5);
        sender.controller.on_application_limited(Time::ZERO, 5000);
        (0..5).for_each(|number| sender.ack(number));
        assert_eq!(sender.window(), 10_000);
        assert_eq!(sender.controller.state(), State::ApplicationLimited);
        // Slow start lets the window grow to twice what was in flight.
        sender.send(8);
        (5..13).for_each(|number| sender.ack(number));
        assert_eq!(sender.window(), 16_000);
        sender.fill();
        sender.ack(13);
        assert_eq!(sender.controller.state(), State::SlowStart, "it was filled again");
    }

    #[test]
    fn the_largest_window_is_not_exceeded() {
        let mut sender = sender(Some(12_000));
        sender.fill();
        (0..10).for_each(|number| sender.ack(number));
        assert_eq!(sender.window(), 12_000);
        assert_eq!(sender.controller.state(), State::CongestionAvoidanceMaxed);
    }

    #[test]
    fn slow_start_ends_at_the_first_threshold() {
        let mut sender = limited(None, Some(12_000));
        sender.fill();
        assert_eq!(sender.controller.ssthresh(), Some(12_000));
        (0..2).for_each(|number| sender.ack(number));
        assert_eq!(sender.window(), 12_000);
        assert_eq!(sender.controller.state(), State::CongestionAvoidance);
        sender.fill();
        (2..14).for_each(|number| sender.ack(number));
        assert_eq!(sender.window(), 13_000, "a datagram a window");
        sender.fill();
        sender.lose(&[14], false);
        assert_eq!(sender.controller.ssthresh(), Some(6500));
        sender.regret(14);
        assert_eq!(sender.controller.ssthresh(), Some(12_000), "as before the loss");
    }

    #[test]
    fn an_event_is_undone_when_all_its_losses_were_spurious() {
        let mut sender = sender(None);
        sender.fill();
        sender.lose(&[0, 1], false);
        sender.lose(&[2], false);
        [0, 2].into_iter().for_each(|number| sender.regret(number));
        assert_eq!(sender.window(), 5000);
        sender.regret(1);
        assert_eq!((sender.window(), sender.controller.ssthresh()), (10_000, None));
        assert_eq!(sender.controller.state(), State::Init);
    }

    #[test]
    fn a_mark_is_a_congestion_event_that_stays() {
        let mut sender = sender(None);
        sender.fill();
        let ecn = Ecn { now: Time::ZERO, number: 3, in_flight: 10_000, largest_sent: 9, marked: 1 };
        sender.controller.on_ecn(&ecn);
        sender.controller.on_ecn(&ecn);
        assert_eq!(sender.window(), 5000);
        sender.lose(&[4], false);
        sender.regret(4);
        assert_eq!(sender.window(), 5000);
    }

    #[test]
    fn pacing_follows_the_window() {
        let mut sender = sender(None);
        let rtt = Rtt { smoothed: RTT, ..Rtt::default() };
        // 10 kB in 100 ms, twice.
        let early = Some(Rate::from_bytes_per_second(200_000));
        assert_eq!(sender.controller.pacing_rate(&rtt), early);
        assert_eq!(sender.controller.pacing_rate(&Rtt::default()), None, "no sample yet");
        sender.fill();
        sender.lose(&[0], false);
        // 5 kB in 100 ms, 1.25 times.
        let later = Some(Rate::from_bytes_per_second(62_500));
        assert_eq!(sender.controller.pacing_rate(&rtt), later);
    }
}
