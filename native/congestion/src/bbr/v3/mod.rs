//! BBR version 3 (draft-ietf-ccwg-bbr-06): a model of the path that also learns from losses.
//!
//! Section numbers are the draft's.

mod long_term;
mod model;
mod short_term;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

use crate::bbr::control::{Control, PROBE_RTT_DURATION};
use crate::bbr::delivery_rate::{DeliveryRate, LostPacket, Sample};
use crate::bbr::random::Random;
use crate::careful_resume::Resumable;
use crate::controller::{Ack, Controller, Ecn, Loss, Rtt, Sent, SpuriousLoss, State, Time};
use crate::rate::Rate;
use crate::settings::Settings;
use crate::usage::Usage;
use long_term::{Feedback, LongTerm, in_flight_at_loss, is_too_high};
use model::Model;
use short_term::{BETA, Bounds, ShortTerm, looser};

/// 4 ln 2: the least gain that doubles the rate each round (`StartupPacingGain`).
const STARTUP_GAIN: f64 = 4.0 * std::f64::consts::LN_2;
/// How much slower than the rate packets leave, so that queues drain (`PacingMarginPercent`).
const PACING_MARGIN: f64 = 0.99;
/// `ProbeRTTCwndGain`.
const PROBE_RTT_WINDOW_GAIN: f64 = 0.5;
/// The least burst, in datagrams (5.6.3).
const MIN_BURST: u64 = 2;
/// Rounds after which draining ends in any case (5.3.2).
const DRAIN_ROUNDS: u64 = 3;
/// Gaps in a round of startup that may mean a full queue (`BBRStartupFullLossCnt`, 5.3.1.3).
const STARTUP_GAPS: u32 = 6;
/// The wait for the next probe: so long, and up to a second more (5.3.3.9) ...
const PROBE_WAIT: Duration = Duration::from_secs(2);
const MOST_MORE_PROBE_WAIT_MS: u64 = 1000;
/// ... but at most so many rounds, for coexistence with Reno (5.3.3.8).
const MOST_PROBE_ROUNDS: u64 = 63;

/// The state machine (5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Startup,
    Drain {
        since_round: u64,
    },
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt {
        /// When it has lasted long enough; none until the pipe is drained.
        until: Option<Time>,
        /// Whether a round passed since then.
        round_over: bool,
    },
}

impl Phase {
    /// The table of 5.6.1.
    fn pacing_gain(self) -> f64 {
        match self {
            Self::Startup => STARTUP_GAIN,
            Self::Drain { .. } => 0.5,
            Self::Down => 0.9,
            Self::Cruise | Self::Refill | Self::ProbeRtt { .. } => 1.0,
            Self::Up => 1.25,
        }
    }

    fn window_gain(self) -> f64 {
        match self {
            Self::Up => 2.25,
            Self::ProbeRtt { .. } => PROBE_RTT_WINDOW_GAIN,
            _ => 2.0,
        }
    }

    fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// `IsProbingBW`.
    fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// What losses changed, should they turn out to be none (5.5.11).
#[derive(Debug, Default)]
struct Undo {
    /// The phase that they ended.
    phase: Option<Phase>,
    bounds: Bounds,
    long_term: Option<u64>,
    /// Lost packets that may have been delivered nevertheless.
    lost: BTreeSet<u64>,
}

/// An acknowledgement, and what it says about the path.
#[derive(Clone, Copy)]
struct Step {
    now: Time,
    in_flight: u64,
    largest: u64,
    sample: Sample,
    /// Whether the window was full in the last round.
    window_limited: bool,
}

/// The controller.
#[derive(Debug)]
pub(crate) struct Bbr3 {
    control: Control,
    delivery: DeliveryRate,
    usage: Usage,
    model: Model,
    short: ShortTerm,
    long: LongTerm,
    phase: Phase,
    undo: Undo,
    /// Whether sending resumed after a pause, and nothing sent since was acknowledged.
    idle_restart: bool,
    /// When the probing cycle began, how long it waits, and the rounds since the last probe.
    cycle_start: Time,
    probe_wait: Duration,
    rounds_since_probe: u64,
    /// Gaps in what was delivered in this round of losses, and the packet lost last.
    gaps: u32,
    last_lost: Option<u64>,
    /// Whether it drains what Careful Resume sent too much of: the rates that packets are delivered
    /// at are not its share (RFC 9959, appendix C.3).
    retreating: bool,
    random: Random,
}

impl Bbr3 {
    pub(crate) fn new(settings: &Settings, seed: u64) -> Self {
        Self {
            control: Control::new(settings, STARTUP_GAIN),
            delivery: DeliveryRate::default(),
            usage: Usage::default(),
            model: Model::new(),
            short: ShortTerm::default(),
            long: LongTerm::new(settings.datagram),
            phase: Phase::Startup,
            undo: Undo::default(),
            idle_restart: false,
            cycle_start: Time::ZERO,
            probe_wait: Duration::ZERO,
            rounds_since_probe: 0,
            gaps: 0,
            last_lost: None,
            retreating: false,
            random: Random::new(seed),
        }
    }

    /// `bw`: the rate to send at.
    fn rate(&self) -> Rate {
        let max_rate = self.model.max_rate();
        self.short.bounds.rate.map_or(max_rate, |bound| bound.min(max_rate))
    }

    /// `BDPMultiple` (5.6.4.2).
    fn bdp(&self, rate: Rate, gain: f64) -> u64 {
        let known = self.model.min_rtt().filter(|_| rate > Rate::default());
        known.map_or(self.control.settings.initial_window, |rtt| {
            (rate.bytes_in(rtt) as f64 * gain) as u64
        })
    }

    /// `QuantizationBudget` (5.6.4.2).
    fn budget(&self, bytes: u64) -> u64 {
        let bytes = bytes.max(self.burst()).max(self.control.min_pipe());
        let probe = if self.phase == Phase::Up { 2 * self.control.settings.datagram } else { 0 };
        bytes.saturating_add(probe)
    }

    /// `C.send_quantum` (5.6.3).
    fn burst(&self) -> u64 {
        self.control.burst().max(self.control.settings.datagram.saturating_mul(MIN_BURST))
    }

    /// `TargetInflight` (5.3.3.9).
    fn target_in_flight(&self) -> u64 {
        self.bdp(self.rate(), 1.0).min(self.control.window())
    }

    /// `SetPacingRateWithGain` (5.6.2).
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.rate().scaled(gain * PACING_MARGIN);
        self.control.set_pacing_rate(rate, self.model.full.reached());
    }

    /// `UpdateModelAndState` (5.2.3).
    fn update_model_and_state(&mut self, step: &Step, rtt: Duration) {
        self.short.update(&step.sample, self.delivery.delivered());
        self.model.update_rate(&step.sample, self.delivery.delivered());
        self.rounds_since_probe += u64::from(self.model.round.started());
        self.short.adapt(self.phase.is_probing(), self.model.max_rate(), self.control.window());
        self.model.update_volume(&step.sample, step.now, self.rate(), self.control.window());
        self.check_startup(step);
        self.check_drain(step);
        if self.model.full.reached() {
            self.update_cycle(step);
        }
        self.model.update_min_rtt(rtt, step.now);
        self.check_probe_rtt(step);
        self.short.advance(&step.sample);
    }

    /// `CheckStartupDone` (5.3.1).
    fn check_startup(&mut self, step: &Step) {
        if self.phase == Phase::Startup {
            if self.is_startup_lossy(step) {
                self.undo.phase = Some(Phase::Startup);
                self.model.full.set_reached(true);
                let bdp = self.bdp(self.rate(), 1.0);
                self.long.bound = Some(bdp.max(self.short.latest_delivered()));
            }
            if self.model.full.reached() {
                self.phase = Phase::Drain { since_round: self.model.round.count() };
            }
        }
        if self.short.round_started() {
            self.gaps = 0;
        }
    }

    /// `CheckStartupHighLoss` (5.3.1.3).
    fn is_startup_lossy(&self, step: &Step) -> bool {
        self.control.is_first_round(step.largest) == Some(false)
            && self.short.round_started()
            && self.gaps >= STARTUP_GAPS
            && is_too_high(step.sample.lost, step.sample.in_flight)
    }

    /// `CheckDrainDone` (5.3.2).
    fn check_drain(&mut self, step: &Step) {
        if let Phase::Drain { since_round } = self.phase {
            let drained = step.in_flight <= self.budget(self.bdp(self.rate(), 1.0));
            if drained || self.model.round.count() > since_round + DRAIN_ROUNDS {
                self.start_down(step.now);
            }
        }
    }

    /// `StartProbeBW_DOWN` with `PickProbeWait` (5.3.3.9).
    fn start_down(&mut self, now: Time) {
        self.retreating = false;
        self.short.reset_signals();
        self.long.stop();
        self.rounds_since_probe = self.random.below(2);
        let more = self.random.below(MOST_MORE_PROBE_WAIT_MS + 1);
        self.probe_wait = PROBE_WAIT + Duration::from_millis(more);
        self.cycle_start = now;
        self.model.round.restart(self.delivery.delivered());
        self.phase = Phase::Down;
    }

    /// `StartProbeBW_REFILL` (5.3.3.9).
    fn start_refill(&mut self) {
        self.short.reset_bounds();
        self.long.refill();
        self.model.round.restart(self.delivery.delivered());
        self.phase = Phase::Refill;
    }

    /// `StartProbeBW_UP` (5.3.3.9).
    fn start_up(&mut self, rate: Rate) {
        self.long.probing = true;
        self.long.feedback = Feedback::Starting;
        self.long.raise_slope(self.control.window());
        self.model.round.restart(self.delivery.delivered());
        self.model.full.restart(rate);
        self.phase = Phase::Up;
    }

    /// `UpdateProbeBWCyclePhase` (5.3.3.9).
    fn update_cycle(&mut self, step: &Step) {
        if self.adapt_long_term(step) {
            return;
        }
        match self.phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(step.now) => self.start_refill(),
            Phase::Down if self.is_time_to_cruise(step.in_flight) => self.phase = Phase::Cruise,
            Phase::Refill if self.model.round.started() => {
                self.start_up(step.sample.rate.unwrap_or_default());
            }
            Phase::Up => self.check_up(step),
            _ => {}
        }
    }

    /// `AdaptLongTermModel` (5.3.3.9): whether it changed the phase.
    fn adapt_long_term(&mut self, step: &Step) -> bool {
        let round_started = self.model.round.started();
        let feedback = self.long.feedback;
        if round_started && feedback == Feedback::Starting {
            self.long.feedback = Feedback::Coming;
        }
        if round_started && feedback == Feedback::Stopping && self.end_feedback(step) {
            return true;
        }
        if !is_too_high(step.sample.lost, step.sample.in_flight) {
            self.long.on_safe(&step.sample);
            let full = step.window_limited && self.long.is_reached(self.control.window());
            if self.phase == Phase::Up && full {
                self.long.grow(step.sample.newly_delivered, self.control.window(), round_started);
            }
        }
        false
    }

    /// All packets of a probe are acknowledged. Whether another follows at once (5.3.3.6).
    fn end_feedback(&mut self, step: &Step) -> bool {
        self.long.probing = false;
        self.long.feedback = Feedback::None;
        if !self.phase.is_probe_bw() {
            return false;
        }
        if !step.sample.application_limited {
            self.model.next_cycle();
        }
        let again = self.long.precautionary && !self.long.too_high;
        if again {
            self.start_refill();
        }
        again
    }

    /// `IsTimeToProbeBW`, but that Reno has at least the packets that are in flight at least: on a path of less
    /// than one, probes in each round would keep the rate's filter from ever moving on.
    fn is_time_to_probe(&self, now: Time) -> bool {
        let reno_rounds =
            self.target_in_flight().max(self.control.min_pipe()) / self.control.settings.datagram;
        now > self.cycle_start + self.probe_wait
            || self.rounds_since_probe >= reno_rounds.min(MOST_PROBE_ROUNDS)
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, in_flight: u64) -> bool {
        let headroom = self.long.with_headroom(self.control.min_pipe());
        let bdp = self.budget(self.bdp(self.model.max_rate(), 1.0));
        headroom.is_none_or(|most| in_flight <= most) && in_flight <= bdp
    }

    /// `IsTimeToGoDown`, and going down.
    fn check_up(&mut self, step: &Step) {
        if self.long.too_high && self.long.is_reached(step.in_flight) {
            self.long.precautionary = true;
        } else if step.window_limited && self.long.is_reached(self.control.window()) {
            // The bound, and not the path, limits the rate.
            self.model.full.restart(step.sample.rate.unwrap_or_default());
            return;
        } else if !self.model.full.now() {
            return;
        }
        self.long.too_high = false;
        self.start_down(step.now);
    }

    /// `CheckProbeRTT` (5.3.4.3).
    fn check_probe_rtt(&mut self, step: &Step) {
        if !self.is_probing_rtt() && self.model.is_rtt_due() && !self.idle_restart {
            self.control.save_window(false);
            self.phase = Phase::ProbeRtt { until: None, round_over: false };
            self.long.feedback = Feedback::Stopping;
            self.model.round.restart(self.delivery.delivered());
        }
        if let Phase::ProbeRtt { until, round_over } = self.phase {
            self.probe_rtt(step, until, round_over);
        }
        self.idle_restart = false;
    }

    /// `HandleProbeRTT`.
    fn probe_rtt(&mut self, step: &Step, until: Option<Time>, round_over: bool) {
        self.delivery.on_application_limited(step.in_flight);
        if until.is_some() {
            let round_over = round_over || self.model.round.started();
            self.phase = Phase::ProbeRtt { until, round_over };
            if round_over {
                self.check_probe_rtt_done(step.now);
            }
        } else if step.in_flight <= self.probe_rtt_window() {
            self.model.round.restart(self.delivery.delivered());
            let until = Some(step.now + PROBE_RTT_DURATION);
            self.phase = Phase::ProbeRtt { until, round_over: false };
        }
    }

    /// `CheckProbeRTTDone` and `ExitProbeRTT` (5.3.4.4).
    fn check_probe_rtt_done(&mut self, now: Time) {
        if !matches!(self.phase, Phase::ProbeRtt { until: Some(until), .. } if now > until) {
            return;
        }
        self.model.renew_rtt(now);
        self.control.restore_window();
        self.short.reset_bounds();
        if self.model.full.reached() {
            self.start_down(now);
            self.phase = Phase::Cruise;
        } else {
            self.phase = Phase::Startup;
        }
    }

    /// `ProbeRTTCwnd` (5.6.4.5).
    fn probe_rtt_window(&self) -> u64 {
        self.bdp(self.rate(), PROBE_RTT_WINDOW_GAIN).max(self.control.min_pipe())
    }

    fn is_probing_rtt(&self) -> bool {
        matches!(self.phase, Phase::ProbeRtt { .. })
    }

    /// `SetCwnd` (5.6.4.6) and `BoundCwndForModel` (5.6.4.7).
    fn set_window(&mut self, newly_delivered: u64) {
        let bdp = self.bdp(self.rate(), self.phase.window_gain());
        let most = self.budget(bdp.saturating_add(self.model.extra_acked()));
        let (mut window, least) = (self.control.window(), self.control.min_pipe());
        let grown = window.saturating_add(newly_delivered);
        if self.model.full.reached() {
            window = grown.min(most);
        } else if window < most || self.delivery.delivered() < self.control.settings.initial_window
        {
            window = grown;
        }
        window = window.max(least);
        if self.is_probing_rtt() {
            window = window.min(self.probe_rtt_window());
        }
        let long_term = match self.phase {
            Phase::Startup | Phase::Drain { .. } => None,
            Phase::Down | Phase::Refill | Phase::Up => self.long.bound,
            Phase::Cruise | Phase::ProbeRtt { .. } => self.long.with_headroom(least),
        };
        for bound in [long_term, self.short.bounds.in_flight].into_iter().flatten() {
            window = window.min(bound.max(least));
        }
        self.control.set_window(window);
    }

    /// `OnEnterFastRecovery` (5.6.4.4). Here only, and not also at the first loss of each round, the
    /// state is saved that is restored if losses are none (5.5.11.1): losses that end a probe
    /// begin a new round, which would forget the probe.
    fn enter_recovery(&mut self) {
        self.control.save_window(self.is_probing_rtt());
        let (bounds, long_term) = (self.short.bounds, self.long.bound);
        self.undo = Undo { phase: None, bounds, long_term, lost: BTreeSet::new() };
    }

    /// `HandleLostPacket` (5.5.10.2).
    fn on_lost(&mut self, packet: &LostPacket, now: Time) {
        self.short.on_loss(self.delivery.delivered());
        if self.long.probing && is_too_high(packet.lost, packet.in_flight) {
            self.on_too_high(packet, now);
        }
    }

    /// `HandleInflightTooHigh` (5.5.10.2).
    fn on_too_high(&mut self, packet: &LostPacket, now: Time) {
        self.long.too_high = true;
        self.long.probing = false;
        if !packet.application_limited {
            let least = (self.target_in_flight() as f64 * BETA) as u64;
            self.long.bound = Some(in_flight_at_loss(packet).max(least));
        }
        if self.phase == Phase::Up {
            self.undo.phase = Some(Phase::Up);
            self.start_down(now);
        }
    }

    /// `HandleSpuriousLossDetection` (5.5.11.2).
    fn on_spurious_episode(&mut self) {
        self.control.restore_window();
        self.short.undo(self.undo.bounds);
        self.long.bound = looser(self.long.bound, self.undo.long_term);
        self.model.full.restart(Rate::default());
        let probing_rtt = self.is_probing_rtt();
        match self.undo.phase.take() {
            Some(Phase::Startup) if self.phase != Phase::Startup => {
                self.model.full.set_reached(false);
                if !probing_rtt {
                    self.phase = Phase::Startup;
                }
            }
            Some(Phase::Up) if self.phase != Phase::Up && !probing_rtt => self.start_refill(),
            _ => {}
        }
    }

    /// Counts a gap unless the packet follows the one lost last.
    fn count_gap(&mut self, number: u64) {
        if self.last_lost.is_none_or(|last| number != last + 1) {
            self.gaps = self.gaps.saturating_add(1);
        }
        self.last_lost = Some(number);
    }
}

impl Controller for Bbr3 {
    fn on_sent(&mut self, sent: &Sent) {
        let in_flight = sent.in_flight.saturating_add(sent.bytes);
        let filled =
            in_flight.saturating_add(self.control.settings.datagram) > self.control.window();
        self.usage.on_sent(sent.number, in_flight, filled);
        if sent.in_flight == 0 && self.delivery.is_application_limited() {
            // `HandleRestartFromIdle` (5.4.1).
            self.idle_restart = true;
            self.model.on_restart(sent.at);
            if self.phase.is_probe_bw() {
                self.set_pacing_rate(1.0);
            }
            self.check_probe_rtt_done(sent.at);
        }
        self.delivery.on_sent(sent);
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        let Some(largest) = ack.packets.iter().map(|packet| packet.number).max() else {
            return;
        };
        self.usage.on_ack(largest);
        let Some(mut sample) = self.delivery.on_ack(ack) else {
            return;
        };
        sample.rate = sample.rate.filter(|_| !self.retreating);
        self.control.begin_pacing(ack.rtt.smoothed);
        let window_limited = ack.cwnd_limited || self.usage.limited(self.control.window(), false);
        let (now, in_flight) = (ack.now, ack.in_flight);
        let step = Step { now, in_flight, largest, sample, window_limited };
        self.update_model_and_state(&step, ack.rtt.latest);
        self.set_pacing_rate(self.phase.pacing_gain());
        self.control.check_recovery(largest);
        self.set_window(sample.newly_delivered);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        let mut packets = loss.packets.to_vec();
        packets.sort_unstable_by_key(|packet| packet.number);
        let Some(latest) = packets.last() else {
            return;
        };
        if !self.control.is_recovering() {
            self.enter_recovery();
        }
        self.control.recover(loss.largest_sent.max(latest.number));
        for packet in &packets {
            self.count_gap(packet.number);
            self.undo.lost.insert(packet.number);
            if let Some(lost) = self.delivery.on_lost(packet) {
                self.on_lost(&lost, loss.now);
            }
        }
        if loss.persistent {
            let one_more = loss.in_flight.saturating_add(self.control.settings.datagram);
            self.control.set_window(one_more);
        }
    }

    /// The draft leaves marks to experiments (3.7).
    fn on_ecn(&mut self, _ecn: &Ecn) {}

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss<'_>) {
        for packet in spurious.packets {
            self.delivery.deliver(packet.bytes);
            if self.undo.lost.remove(&packet.number) && self.undo.lost.is_empty() {
                self.on_spurious_episode();
            }
        }
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
            Phase::Drain { .. } => State::Drain,
            Phase::Down | Phase::Cruise | Phase::Refill | Phase::Up => State::ProbeBw,
            Phase::ProbeRtt { .. } => State::ProbeRtt,
        }
    }
}

/// RFC 9959, appendix C.
impl Resumable for Bbr3 {
    fn may_resume(&self) -> bool {
        self.phase == Phase::Startup
    }

    fn resume_at(&mut self, window: u64) {
        self.control.set_window(window);
    }

    fn retreat(&mut self, window: u64) {
        self.resume_at(window);
        self.model.full.set_reached(true);
        self.phase = Phase::Drain { since_round: self.model.round.count() };
        self.retreating = true;
    }

    fn end_retreat(&mut self, window: u64, _ssthresh: u64) {
        self.resume_at(window.min(self.control.window()));
    }
}
