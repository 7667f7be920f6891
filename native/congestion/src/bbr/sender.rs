//! A sender for tests whose numbers are worked out by hand.

use std::time::Duration;

use crate::controller::{Ack, Acked, Controller, Loss, Rtt, Sent, Time};
use crate::settings::Settings;

pub(super) const RTT: Duration = Duration::from_millis(100);

/// Datagrams of 1000 bytes over a path of 100 ms, one flight per round trip.
pub(super) struct Sender<C> {
    pub(super) bbr: C,
    pub(super) now: Time,
    next: u64,
}

impl<C: Controller> Sender<C> {
    pub(super) fn new(controller: fn(&Settings, u64) -> C) -> Self {
        let settings = Settings {
            datagram: 1000,
            initial_window: 10_000,
            max_window: None,
            initial_ssthresh: None,
            pacing: None,
        };
        Self { bbr: controller(&settings, 0), now: Time::ZERO, next: 0 }
    }

    pub(super) fn send(&mut self, packets: u64) -> Vec<Acked> {
        let first = self.next;
        self.next += packets;
        let mut sent = Vec::new();
        for number in first..self.next {
            let in_flight = (number - first) * 1000;
            self.bbr.on_sent(&Sent { number, bytes: 1000, at: self.now, in_flight });
            sent.push(Acked { number, bytes: 1000, sent_at: self.now });
        }
        sent
    }

    pub(super) fn ack(&mut self, packets: &[Acked], in_flight: u64) {
        let rtt = Rtt { latest: RTT, smoothed: RTT, min: RTT, undelayed: RTT, ..Rtt::default() };
        let now = self.now;
        self.bbr.on_ack(&Ack { now, packets, rtt, in_flight, cwnd_limited: false });
    }

    pub(super) fn lose(&mut self, packets: &[Acked], in_flight: u64, persistent: bool) {
        let (now, largest_sent) = (self.now, self.next - 1);
        self.bbr.on_loss(&Loss { now, packets, in_flight, persistent, largest_sent });
    }

    /// Sends a flight, all of which is acknowledged a round trip later.
    pub(super) fn round(&mut self, packets: u64) {
        let sent = self.send(packets);
        self.now += RTT;
        self.ack(&sent, 0);
    }

    pub(super) fn rate(&self) -> u64 {
        self.bbr.pacing_rate(&Rtt::default()).expect("BBR paces").bytes_per_second()
    }
}
