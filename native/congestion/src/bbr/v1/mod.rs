//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00): a rate and a window from a model
//! of the path.
//!
//! Section numbers are the draft's.

mod model;
#[cfg(test)]
mod tests;

use crate::bbr::control::{Control, PROBE_RTT_DURATION};
use crate::bbr::delivery_rate::{DeliveryRate, Sample};
use crate::bbr::random::Random;
use crate::careful_resume::Resumable;
use crate::controller::{Ack, Controller, Ecn, Loss, Rtt, Sent, SpuriousLoss, State, Time};
use crate::rate::Rate;
use crate::settings::Settings;
use model::Model;

/// 2/ln 2: the least gain that doubles the rate each round (section 4.3.2.1).
const HIGH_GAIN: f64 = 2.0 / std::f64::consts::LN_2;
/// Pacing gains of the cycle of `ProbeBW` (section 4.3.4.2).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Window gain of `ProbeBW`: room for delayed and aggregated acknowledgements.
const PROBE_BW_WINDOW_GAIN: f64 = 2.0;
/// Rates in bytes per second below which a burst has one or two datagrams (section 4.2.2).
const SLOW: u64 = 1_200_000 / 8;
const MODERATE: u64 = 24_000_000 / 8;
/// Bursts that the window has beyond the bandwidth-delay product (section 4.2.3.2).
const BURSTS: u64 = 3;

/// The state machine (section 3.4).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Startup,
    Drain,
    ProbeBw {
        /// The place in the cycle, and when it was reached.
        step: usize,
        since: Time,
    },
    ProbeRtt {
        /// When it has lasted long enough; none until the pipe is drained.
        until: Option<Time>,
        /// Whether a round passed since then.
        round_over: bool,
    },
}

impl Phase {
    fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => HIGH_GAIN,
            Self::Drain => 1.0 / HIGH_GAIN,
            Self::ProbeBw { step, .. } => CYCLE[step],
            Self::ProbeRtt { .. } => 1.0,
        }
    }

    fn window_gain(self) -> f64 {
        match self {
            Self::Startup | Self::Drain => HIGH_GAIN,
            Self::ProbeBw { .. } => PROBE_BW_WINDOW_GAIN,
            Self::ProbeRtt { .. } => 1.0,
        }
    }
}

/// The controller.
#[derive(Debug)]
pub(crate) struct Bbr {
    control: Control,
    delivery: DeliveryRate,
    model: Model,
    phase: Phase,
    /// Bytes lost since the last acknowledgement.
    lost: u64,
    /// Whether sending resumed after a pause, and nothing sent since was acknowledged.
    idle_restart: bool,
    /// Whether it drains what Careful Resume sent too much of: the rates that packets are delivered
    /// at are not its share (RFC 9959, appendix C.3).
    retreating: bool,
    random: Random,
}

impl Bbr {
    pub(crate) fn new(settings: &Settings, seed: u64) -> Self {
        Self {
            control: Control::new(settings, HIGH_GAIN),
            delivery: DeliveryRate::default(),
            model: Model::new(),
            phase: Phase::Startup,
            lost: 0,
            idle_restart: false,
            retreating: false,
            random: Random::new(seed),
        }
    }

    /// `BBRInflight` (section 4.2.3.2): what should be in flight at this gain.
    fn in_flight_at(&self, gain: f64) -> u64 {
        match self.model.bdp() {
            None => self.control.settings.initial_window,
            Some(bdp) => ((bdp as f64 * gain) as u64).saturating_add(BURSTS * self.burst()),
        }
    }

    /// `BBR.send_quantum` (section 4.2.2).
    fn burst(&self) -> u64 {
        let rate = self.control.pacing_rate().unwrap_or_default();
        let datagram = self.control.settings.datagram;
        match rate.bytes_per_second() {
            bytes if bytes < SLOW => datagram,
            bytes if bytes < MODERATE => datagram.saturating_mul(2),
            _ => self.control.burst(),
        }
    }

    /// `BBRSetPacingRateWithGain` (section 4.2.1).
    fn set_pacing_rate(&mut self, gain: f64) {
        self.control.set_pacing_rate(self.model.rate().scaled(gain), self.model.is_full());
    }

    /// Section 4.3.4.3; any step but the one that drains may be the first.
    fn enter_probe_bw(&mut self, now: Time) {
        self.retreating = false;
        let first = self.random.below(CYCLE.len() as u64 - 1) as usize;
        let step = if first == 0 { 0 } else { first + 1 };
        self.phase = Phase::ProbeBw { step, since: now };
    }

    /// `BBRCheckCyclePhase` (section 4.3.4.3).
    fn advance_cycle(&mut self, now: Time, prior_in_flight: u64) {
        let Phase::ProbeBw { step, since } = self.phase else {
            return;
        };
        let gain = CYCLE[step];
        let long = self.model.propagation().is_some_and(|rtprop| now > since + rtprop);
        let over = if gain > 1.0 {
            long && (self.lost > 0 || prior_in_flight >= self.in_flight_at(gain))
        } else if gain < 1.0 {
            long || prior_in_flight <= self.in_flight_at(1.0)
        } else {
            long
        };
        if over {
            self.phase = Phase::ProbeBw { step: (step + 1) % CYCLE.len(), since: now };
        }
    }

    /// `BBRCheckDrain` (section 4.3.3).
    fn check_drain(&mut self, now: Time, in_flight: u64) {
        if self.phase == Phase::Startup && self.model.is_full() {
            self.phase = Phase::Drain;
        }
        if self.phase == Phase::Drain && in_flight <= self.in_flight_at(1.0) {
            self.enter_probe_bw(now);
        }
    }

    /// `BBRCheckProbeRTT` (section 4.3.5).
    fn check_probe_rtt(&mut self, now: Time, in_flight: u64) {
        let probing = self.is_probing_rtt();
        if !probing && self.model.is_propagation_expired() && !self.idle_restart {
            self.control.save_window(false);
            self.phase = Phase::ProbeRtt { until: None, round_over: false };
        }
        self.idle_restart = false;
        if let Phase::ProbeRtt { until, round_over } = self.phase {
            self.probe_rtt(now, in_flight, until, round_over);
        }
    }

    /// `BBRHandleProbeRTT`.
    fn probe_rtt(&mut self, now: Time, in_flight: u64, until: Option<Time>, round_over: bool) {
        self.delivery.on_application_limited(in_flight);
        match until {
            None if in_flight <= self.control.min_pipe() => {
                self.model.round.restart(self.delivery.delivered());
                let until = Some(now + PROBE_RTT_DURATION);
                self.phase = Phase::ProbeRtt { until, round_over: false };
            }
            None => {}
            Some(end) => {
                let round_over = round_over || self.model.round.started();
                self.phase = Phase::ProbeRtt { until, round_over };
                if round_over && now > end {
                    self.leave_probe_rtt(now);
                }
            }
        }
    }

    fn leave_probe_rtt(&mut self, now: Time) {
        self.model.renew_propagation(now);
        self.control.restore_window();
        if self.model.is_full() {
            self.enter_probe_bw(now);
        } else {
            self.phase = Phase::Startup;
        }
    }

    fn is_probing_rtt(&self) -> bool {
        matches!(self.phase, Phase::ProbeRtt { .. })
    }

    /// `BBRSetCwnd` (section 4.2.3.6); while conserving, a packet is sent for each that left (section
    /// 4.2.3.4).
    fn set_window(&mut self, ack: &Ack<'_>, sample: &Sample, conserving: bool) {
        let delivered = sample.newly_delivered;
        let mut window = self.control.window();
        if conserving {
            window = window.max(ack.in_flight.saturating_add(delivered));
        } else {
            let target = self.in_flight_at(self.phase.window_gain());
            let grown = window.saturating_add(delivered);
            if self.model.is_full() {
                window = grown.min(target);
            } else if window < target
                || self.delivery.delivered() < self.control.settings.initial_window
            {
                window = grown;
            }
            window = window.max(self.control.min_pipe());
        }
        if self.is_probing_rtt() {
            window = window.min(self.control.min_pipe());
        }
        self.control.set_window(window);
    }
}

impl Controller for Bbr {
    fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight == 0 && self.delivery.is_application_limited() {
            self.idle_restart = true;
            if matches!(self.phase, Phase::ProbeBw { .. }) {
                self.set_pacing_rate(1.0);
            }
        }
        self.delivery.on_sent(sent);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(largest) = ack.packets.iter().map(|packet| packet.number).max() else {
            return;
        };
        let Some(mut sample) = self.delivery.on_ack(ack) else {
            return;
        };
        sample.rate = sample.rate.filter(|_| !self.retreating);
        self.control.begin_pacing(ack.rtt.smoothed);
        let left = sample.newly_delivered.saturating_add(self.lost);
        self.model.on_delivered(&sample, self.delivery.delivered());
        self.advance_cycle(ack.now, ack.in_flight.saturating_add(left));
        self.model.check_full_pipe(&sample);
        self.check_drain(ack.now, ack.in_flight);
        self.model.on_rtt(ack.rtt.latest, ack.now);
        self.check_probe_rtt(ack.now, ack.in_flight);
        self.set_pacing_rate(self.phase.pacing_gain());
        let conserving = self.control.is_first_round(largest) == Some(true);
        self.control.check_recovery(largest);
        self.set_window(ack, &sample, conserving);
        self.lost = 0;
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        let Some(latest) = loss.packets.iter().map(|packet| packet.number).max() else {
            return;
        };
        let known = loss.packets.iter().filter_map(|packet| self.delivery.on_lost(packet));
        let lost = known.map(|packet| packet.bytes).fold(0, u64::saturating_add);
        self.lost = self.lost.saturating_add(lost);
        let window = if loss.persistent {
            0
        } else if self.control.is_recovering() {
            self.control.window().saturating_sub(lost)
        } else {
            loss.in_flight.saturating_add(self.control.settings.datagram)
        };
        if !self.control.is_recovering() {
            self.control.save_window(self.is_probing_rtt());
        }
        self.control.recover(loss.largest_sent.max(latest));
        self.control.set_window(window);
    }

    /// BBR version 1 does not react to marks.
    fn on_ecn(&mut self, _ecn: &Ecn) {}

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss<'_>) {
        let bytes = spurious.packets.iter().map(|packet| packet.bytes);
        self.delivery.deliver(bytes.fold(0, u64::saturating_add));
    }

    fn on_application_limited(&mut self, _now: Time, in_flight: u64) {
        self.delivery.on_application_limited(in_flight);
    }

    fn window(&self) -> u64 {
        self.control.window()
    }

    fn ssthresh(&self) -> Option<u64> {
        None
    }

    fn pacing_rate(&self, rtt: &Rtt) -> Option<Rate> {
        Some(self.control.pacing_rate_or_first(rtt.smoothed))
    }

    fn state(&self) -> State {
        if self.control.pacing_rate().is_none() {
            return State::Init;
        }
        match self.phase {
            Phase::Startup => State::Startup,
            Phase::Drain => State::Drain,
            Phase::ProbeBw { .. } => State::ProbeBw,
            Phase::ProbeRtt { .. } => State::ProbeRtt,
        }
    }
}

/// RFC 9959, appendix C.
impl Resumable for Bbr {
    fn may_resume(&self) -> bool {
        self.phase == Phase::Startup
    }

    fn resume_at(&mut self, window: u64) {
        self.control.set_window(window);
    }

    fn retreat(&mut self, window: u64) {
        self.resume_at(window);
        self.model.fill();
        self.phase = Phase::Drain;
        self.retreating = true;
    }

    fn end_retreat(&mut self, window: u64, _ssthresh: u64) {
        self.resume_at(window.min(self.control.window()));
    }
}
