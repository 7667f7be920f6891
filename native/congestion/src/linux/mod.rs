//! The Reno and CUBIC of the lab's kernel, for QUIC: what `docs/congestion-control.md` lists under
//! "Linux's own arithmetic". Facts are those of Linux 7.2.12 (`net/ipv4/tcp_cong.c`, `tcp_cubic.c`, `tcp_input.c`,
//! `tcp_output.c`), RFC 6937 and RFC 5681.

mod laws;
mod part;
mod recovery;
mod scoreboard;

use crate::controller::{Ack, Controller, Ecn, Loss, Rtt, Sent, SpuriousLoss, State, Time};
use crate::rate::Rate;
use crate::settings::{MIN_WINDOW, Settings};
use crate::slow_start::SlowStart;
use crate::usage::Sending;
use laws::Law;
pub(crate) use laws::{Cubic, Reno};
pub use part::LinuxPart;
use recovery::{Before, Episode, Kind};
use scoreboard::Scoreboard;

/// Of the window by the smoothed round-trip time, in slow start and later (`tcp_pacing_ss_ratio`,
/// `tcp_pacing_ca_ratio`).
const PACING_SLOW_START: f64 = 2.0;
const PACING_AVOIDANCE: f64 = 1.2;

/// A controller that counts in whole packets, as Linux.
#[derive(Debug)]
pub(crate) struct Linux<L> {
    law: L,
    slow_start: Box<dyn SlowStart>,
    settings: Settings,
    board: Scoreboard,
    /// In packets (`snd_cwnd`).
    window: u64,
    ssthresh: Option<u64>,
    most: u64,
    /// Packets acknowledged that have not made the window grow yet (`snd_cwnd_cnt`).
    credit: u64,
    sending: Sending,
    episode: Option<Episode>,
    /// Packets lost since the last acknowledgement.
    newly_lost: u64,
    last_sent: Time,
    without: Option<LinuxPart>,
}

impl<L: Law> Linux<L> {
    /// # Arguments
    /// * `without` - a part of Linux's that it does as QUIC's other controllers do.
    pub(crate) fn new(
        law: L,
        slow_start: Box<dyn SlowStart>,
        settings: Settings,
        without: Option<LinuxPart>,
    ) -> Self {
        let packets = |bytes: u64| (bytes / settings.datagram).max(1);
        let most = settings.max_window.map_or(u64::from(u32::MAX), packets);
        Self {
            law,
            slow_start,
            settings,
            board: Scoreboard::default(),
            window: packets(settings.initial_window).min(most),
            ssthresh: settings
                .initial_ssthresh
                .map(|bytes| packets(bytes).max(MIN_WINDOW).min(most)),
            most,
            credit: 0,
            sending: Sending::default(),
            episode: None,
            newly_lost: 0,
            last_sent: Time::ZERO,
            without,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.window < ssthresh)
    }

    /// Whether the window is being reduced, packet by packet.
    fn is_reducing(&self) -> bool {
        self.episode.as_ref().is_some_and(|episode| episode.kind != Kind::TimeOut)
    }

    fn bytes(&self, packets: u64) -> u64 {
        packets.saturating_mul(self.settings.datagram)
    }

    /// Growth by what was delivered (`tcp_slow_start`, `tcp_cong_avoid_ai`).
    fn grow(&mut self, now: Time, delivered: u64) {
        let mut acked = delivered;
        if self.in_slow_start() {
            let before = self.window;
            let grown = self.window.saturating_add(acked);
            self.window = grown.min(self.ssthresh.unwrap_or(u64::MAX));
            acked -= self.window - before;
            self.window = self.window.min(self.most);
        }
        if acked == 0 {
            return;
        }
        let per_growth = self.law.packets_per_growth(now, self.window, acked).max(1);
        if self.credit >= per_growth {
            self.credit = 0;
            self.window += 1;
        }
        self.credit = self.credit.saturating_add(acked);
        self.window = self.window.saturating_add(self.credit / per_growth).min(self.most);
        self.credit %= per_growth;
    }

    fn begin(&mut self, kind: Kind) {
        let before = Before { window: self.window, ssthresh: self.ssthresh_before() };
        self.ssthresh = Some(self.law.on_congestion(self.window).min(self.most));
        self.credit = 0;
        self.slow_start.on_congestion();
        let mut episode = Episode::new(kind, self.board.next(), before);
        episode.is_short = self.without == Some(LinuxPart::Recovery);
        self.episode = Some(episode);
    }

    /// What an undo restores (`tcp_current_ssthresh`): three quarters of the window at least.
    fn ssthresh_before(&self) -> Option<u64> {
        let ssthresh = self.ssthresh?;
        let shrunk = self.window / 2 + self.window / 4;
        Some(if self.is_reducing() { ssthresh } else { ssthresh.max(shrunk) })
    }

    /// Ends an episode of which all packets were delivered, and begins the next one if what was sent
    /// since was lost.
    ///
    /// # Arguments
    /// * `largest` - the largest number acknowledged.
    fn settle(&mut self, largest: u64) {
        let first = self.board.unacknowledged();
        let over = |episode: &Episode| {
            first >= episode.end + episode.needs_later() || episode.is_short_of(largest)
        };
        let Some(episode) = self.episode.take_if(|episode| over(episode)) else { return };
        if episode.kind != Kind::TimeOut {
            self.window = self.ssthresh.unwrap_or(self.window);
        }
        if self.board.has_lost() && !episode.is_short {
            self.begin(Kind::Losses);
        }
    }

    fn undo(&mut self) {
        if let Some(Episode { before, .. }) = self.episode.take() {
            self.window = self.window.max(before.window);
            self.ssthresh = before.ssthresh.map(|before| before.max(self.ssthresh.unwrap_or(0)));
        }
    }

    fn time_out(&mut self) {
        if self.episode.is_none() {
            self.begin(Kind::TimeOut);
        }
        if let Some(episode) = &mut self.episode {
            episode.kind = Kind::TimeOut;
            episode.end = self.board.next();
        }
        self.window = (self.board.in_flight() + 1).min(self.most);
        self.credit = 0;
        self.law.reset();
        self.slow_start.restart();
    }
}

impl<L: Law> Controller for Linux<L> {
    fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight == 0 {
            self.law.on_idle(sent.at, sent.at.saturating_sub(self.last_sent));
        }
        self.last_sent = sent.at;
        self.board.agree_on(sent.in_flight);
        self.board.on_sent(sent.number, sent.bytes);
        if let Some(episode) = &mut self.episode {
            episode.on_sent(sent.number);
        }
        let in_flight = self.board.in_flight();
        let filled = in_flight >= self.window;
        self.sending.on_sent(sent.number, in_flight, filled);
        self.slow_start.on_sent(sent.number);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(largest) = self.sending.on_ack(ack.packets) else {
            return;
        };
        let first = self.board.unacknowledged();
        let delivered = self.board.on_ack(ack.packets);
        self.board.agree_on(ack.in_flight);
        let advanced = self.board.unacknowledged() > first;
        self.law.on_rtt(ack.now, ack.rtt.latest);
        let trusted = !self.law.distrusts_samples(ack.now);
        let window = self.bytes(self.window);
        if trusted && self.in_slow_start() && self.slow_start.ends_with(ack, largest, window) {
            self.ssthresh = Some(self.window);
        }
        self.settle(largest);
        let newly_lost = std::mem::take(&mut self.newly_lost);
        let (in_flight, ssthresh) = (self.board.in_flight(), self.ssthresh.unwrap_or(u64::MAX));
        if delivered == 0 {
            // Nothing new: what was sent again in vain, and all that stays as it is.
        } else if let Some(episode) = self.episode.as_mut().filter(|one| one.kind != Kind::TimeOut)
        {
            let fresh = advanced && newly_lost == 0;
            let reduced = episode.reduced(in_flight, ssthresh, delivered, fresh);
            let at_once = self.without == Some(LinuxPart::Reduction);
            self.window = if at_once { ssthresh } else { reduced }.min(self.most);
        } else if (advanced || self.without == Some(LinuxPart::Gaps))
            && self.sending.limited(self.window, self.in_slow_start())
        {
            // What is acknowledged beyond a gap does not count (RFC 5681).
            self.grow(ack.now, delivered);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        let places = self.board.on_loss(loss.packets);
        self.board.agree_on(loss.in_flight);
        self.newly_lost += places.len() as u64;
        if self.episode.is_none() && !places.is_empty() {
            self.begin(Kind::Losses);
            // What is lost is sent again at once, and the acknowledgement says how much more.
            self.window = (self.board.in_flight() + 1).min(self.most);
        }
        if let Some(episode) = &mut self.episode {
            episode.lost.extend(places);
        }
        if loss.persistent {
            self.time_out();
        }
    }

    fn on_ecn(&mut self, _ecn: &Ecn) {
        if self.episode.is_none() {
            self.begin(Kind::Marks);
        }
        if let Some(episode) = &mut self.episode {
            episode.marked = true;
        }
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss<'_>) {
        let places = self.board.on_spurious_loss(spurious.packets);
        let Some(episode) = &mut self.episode else { return };
        let removed = places.iter().filter(|place| episode.lost.remove(place)).count();
        if removed > 0 && episode.lost.is_empty() && !episode.marked {
            self.undo();
        }
    }

    fn on_application_limited(&mut self, _now: Time, _in_flight: u64) {
        self.sending.on_application_limited(self.board.in_flight() < self.window);
    }

    fn window(&self) -> u64 {
        self.bytes(self.window)
    }

    /// Packets count, however small they are; one may leave if nothing is in flight.
    fn room(&self, in_flight: u64) -> u64 {
        let packets = self.window.saturating_sub(self.board.in_flight());
        self.bytes(packets.max(u64::from(in_flight == 0)))
    }

    fn ssthresh(&self) -> Option<u64> {
        self.ssthresh.map(|packets| self.bytes(packets))
    }

    fn pacing_rate(&self, rtt: &Rtt) -> Option<Rate> {
        self.settings.pacing?;
        let early = self.ssthresh.is_none_or(|ssthresh| self.window < ssthresh / 2);
        let gain = if early { PACING_SLOW_START } else { PACING_AVOIDANCE };
        let packets = self.window.max(self.board.in_flight());
        Some(Rate::over(self.bytes(packets), rtt.smoothed)?.scaled(gain))
    }

    fn state(&self) -> State {
        if self.is_reducing() {
            State::Recovery
        } else if let Some(state) = self.sending.state() {
            state
        } else if self.window >= self.most {
            State::CongestionAvoidanceMaxed
        } else if self.in_slow_start() {
            State::SlowStart
        } else {
            State::CongestionAvoidance
        }
    }
}

#[cfg(test)]
mod tests;
