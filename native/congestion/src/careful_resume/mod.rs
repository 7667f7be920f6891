//! Careful Resume (RFC 9959): a congestion controller that goes on from a window and a round-trip
//! time that were saved from an earlier connection on the path.
//!
//! It is a layer over any controller, which keeps its own window but for the jump. Section numbers
//! are those of the RFC.

mod observer;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::Duration;

use crate::controller::{Ack, Acked, Controller, Ecn, Loss, Rtt, Sent, SpuriousLoss, State, Time};
use crate::phase::{Phase, PhaseUpdate, Saved, Trigger};
use crate::rate::Rate;
use crate::settings::Settings;
pub use observer::CapacityObserver;

/// The slow start threshold after a Safe Retreat, in units of `PipeSize` (`Beta`, section 3.5).
const BETA: f64 = 0.5;

/// A phase and what it has to remember.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Reconnaissance {
        /// Bytes acknowledged so far.
        acked: u64,
    },
    Unvalidated {
        since: Time,
        /// How long the phase lasts at most: a round-trip time.
        most: Duration,
        /// The first packet sent in it.
        first: u64,
    },
    Validating {
        /// The first and the last packet that were sent in the Unvalidated Phase.
        first: u64,
        last: u64,
    },
    SafeRetreat {
        first: u64,
        last: u64,
        /// The window, which does not grow.
        window: u64,
    },
    Normal,
}

impl Stage {
    fn phase(self) -> Phase {
        match self {
            Self::Reconnaissance { .. } => Phase::Reconnaissance,
            Self::Unvalidated { .. } => Phase::Unvalidated,
            Self::Validating { .. } => Phase::Validating,
            Self::SafeRetreat { .. } => Phase::SafeRetreat,
            Self::Normal => Phase::Normal,
        }
    }
}

/// A controller that can be told to go on from another window.
pub(crate) trait Resumable: Controller {
    /// Whether it still looks for the path's capacity, so that a jump may help.
    fn may_resume(&self) -> bool {
        true
    }

    /// Goes on from a window.
    fn resume_at(&mut self, window: u64);

    /// The jump caused congestion, or the path changed: drains the path with a window.
    fn retreat(&mut self, window: u64);

    /// The path is drained: goes on from a window and a slow start threshold.
    fn end_retreat(&mut self, window: u64, ssthresh: u64);
}

/// A controller that resumes.
#[derive(Debug)]
pub(crate) struct CarefulResume<C> {
    inner: C,
    saved: Saved,
    settings: Settings,
    stage: Stage,
    /// The capacity that acknowledgements validated (`PipeSize`), in bytes.
    pipe_size: u64,
    largest_sent: u64,
    /// Whether there was nothing more to send after the packet sent last.
    dry: bool,
    updates: VecDeque<PhaseUpdate>,
}

impl<C: Resumable> CarefulResume<C> {
    pub(crate) fn new(inner: C, saved: Saved, settings: Settings) -> Self {
        let mut resume = Self {
            inner,
            saved,
            settings,
            stage: Stage::Reconnaissance { acked: 0 },
            pipe_size: 0,
            largest_sent: 0,
            dry: false,
            updates: VecDeque::new(),
        };
        resume.report(None, None);
        resume
    }

    /// `jump_cwnd` (section 3.3); the configured largest window is `max_jump`.
    fn jump_window(&self) -> u64 {
        self.settings.clamp(self.saved.window / 2)
    }

    /// The rate that spreads the jump over a round-trip time (section 4.3.2).
    fn jump_rate(&self, rtt: &Rtt) -> Option<Rate> {
        Rate::over(self.jump_window(), rtt.smoothed)
    }

    /// Whether no full-sized packet fits into the window after so many bytes.
    fn fills_window(&self, in_flight: u64) -> bool {
        in_flight.saturating_add(self.settings.datagram) > self.window()
    }

    fn enter(&mut self, stage: Stage, trigger: Option<Trigger>) {
        let old = std::mem::replace(&mut self.stage, stage).phase();
        self.report(Some(old), trigger);
    }

    fn report(&mut self, old: Option<Phase>, trigger: Option<Trigger>) {
        self.updates.push_back(PhaseUpdate {
            old,
            new: self.stage.phase(),
            trigger,
            pipe_size: self.pipe_size,
            window: self.window(),
            ssthresh: self.inner.ssthresh(),
            saved: self.saved,
        });
    }

    /// The path is the saved one once the initial window was acknowledged within a fitting time
    /// (section 3.2). The jump waits until data does.
    fn reconnoitre(&mut self, ack: &Ack<'_>, acked: u64) {
        let acked = acked.saturating_add(bytes(ack.packets.iter()));
        self.stage = Stage::Reconnaissance { acked };
        if acked < self.settings.initial_window {
            return;
        }
        if !self.saved.matches(ack.rtt.min) {
            self.enter(Stage::Normal, Some(Trigger::RttNotValidated));
        } else if self.jump_window() <= self.inner.window() || !self.inner.may_resume() {
            self.enter(Stage::Normal, None);
        } else if !self.dry {
            self.pipe_size = ack.in_flight;
            let first = self.largest_sent + 1;
            let stage = Stage::Unvalidated { since: ack.now, most: ack.rtt.smoothed, first };
            self.enter(stage, Some(Trigger::CongestionWindowLimited));
        }
    }

    /// Ends the Unvalidated Phase with the window that was made use of (section 3.3).
    fn stop_jumping(&mut self, in_flight: u64, first: u64, trigger: Trigger) {
        let initial_window = self.settings.initial_window;
        if in_flight < initial_window || in_flight <= self.pipe_size {
            self.inner.resume_at(self.pipe_size.max(initial_window));
            self.enter(Stage::Normal, Some(Trigger::RateLimited));
        } else {
            self.inner.resume_at(in_flight);
            let stage = Stage::Validating { first, last: self.largest_sent };
            self.enter(stage, Some(trigger));
        }
    }

    /// The first and the last packet that are or were unvalidated; none before there are any, and
    /// once Careful Resume is over.
    fn unvalidated(&self) -> Option<(u64, u64)> {
        match self.stage {
            Stage::Unvalidated { first, .. } => Some((first, self.largest_sent)),
            Stage::Validating { first, last } | Stage::SafeRetreat { first, last, .. } => {
                Some((first, last))
            }
            Stage::Reconnaissance { .. } | Stage::Normal => None,
        }
    }

    /// Halves what is validated (section 3.5).
    fn retreat(&mut self, (first, last): (u64, u64), trigger: Trigger) {
        let window = self.settings.clamp(self.pipe_size / 2).min(self.inner.window());
        self.inner.retreat(window);
        self.enter(Stage::SafeRetreat { first, last, window }, Some(trigger));
    }

    fn end_retreat(&mut self, window: u64) {
        self.inner.end_retreat(window, (self.pipe_size as f64 * BETA) as u64);
        self.enter(Stage::Normal, Some(Trigger::ExitRecovery));
    }

    /// Lets the controller react to congestion, of which it knows the validated capacity only.
    fn on_congestion(&mut self, trigger: Trigger, persistent: bool, react: impl FnOnce(&mut C)) {
        let jumped = matches!(self.stage, Stage::Unvalidated { .. } | Stage::Validating { .. });
        if jumped {
            self.inner.resume_at(self.pipe_size.min(self.inner.window()));
        }
        react(&mut self.inner);
        match (self.stage, self.unvalidated()) {
            (Stage::Normal, _) => {}
            (Stage::SafeRetreat { .. }, _) if !persistent => {}
            // Section 3.6 for persistent congestion.
            (_, Some(packets)) if !persistent => self.retreat(packets, trigger),
            _ => self.enter(Stage::Normal, Some(trigger)),
        }
    }
}

fn bytes<'a>(packets: impl Iterator<Item = &'a Acked>) -> u64 {
    packets.map(|packet| packet.bytes).fold(0, u64::saturating_add)
}

impl<C: Resumable> Controller for CarefulResume<C> {
    fn on_sent(&mut self, sent: &Sent) {
        let in_flight = sent.in_flight.saturating_add(sent.bytes);
        let full = self.fills_window(in_flight);
        self.inner.on_sent(sent);
        self.largest_sent = sent.number;
        self.dry = false;
        match self.stage {
            Stage::Unvalidated { first, .. } if full => {
                self.stop_jumping(in_flight, first, Trigger::LastUnvalidatedPacketSent);
            }
            Stage::Unvalidated { since, most, first } if sent.at > since + most => {
                self.stop_jumping(in_flight, first, Trigger::RttExceeded);
            }
            _ => {}
        }
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.inner.on_ack(ack);
        let Some(largest) = ack.packets.iter().map(|packet| packet.number).max() else {
            return;
        };
        if let Some((first, _)) = self.unvalidated() {
            let validated = ack.packets.iter().filter(|packet| packet.number >= first);
            self.pipe_size = self.pipe_size.saturating_add(bytes(validated));
        }
        match self.stage {
            Stage::Reconnaissance { acked } => self.reconnoitre(ack, acked),
            Stage::Unvalidated { first, .. } if !self.saved.matches(ack.rtt.min) => {
                self.retreat((first, self.largest_sent), Trigger::PathChanged);
            }
            Stage::Unvalidated { first, .. } if largest >= first => {
                let trigger = Trigger::FirstUnvalidatedPacketAcknowledged;
                self.stop_jumping(ack.in_flight, first, trigger);
            }
            Stage::Unvalidated { since, most, first } if ack.now > since + most => {
                self.stop_jumping(ack.in_flight, first, Trigger::RttExceeded);
            }
            Stage::Validating { last, .. } if largest >= last => {
                let trigger = Trigger::LastUnvalidatedPacketAcknowledged;
                self.enter(Stage::Normal, Some(trigger));
            }
            Stage::SafeRetreat { last, window, .. } if largest >= last => self.end_retreat(window),
            _ => {}
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if !loss.packets.is_empty() {
            self.on_congestion(Trigger::PacketLoss, loss.persistent, |inner| inner.on_loss(loss));
        }
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        self.on_congestion(Trigger::EcnCe, false, |inner| inner.on_ecn(ecn));
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss<'_>) {
        self.inner.on_spurious_loss(spurious);
    }

    fn on_pto(&mut self, now: Time) {
        self.inner.on_pto(now);
    }

    fn on_application_limited(&mut self, now: Time, in_flight: u64) {
        self.dry = true;
        self.inner.on_application_limited(now, in_flight);
    }

    fn window(&self) -> u64 {
        let window = self.inner.window();
        match self.stage {
            Stage::Unvalidated { .. } => window.max(self.jump_window()),
            Stage::SafeRetreat { window: most, .. } => window.min(most),
            Stage::Reconnaissance { .. } | Stage::Validating { .. } | Stage::Normal => window,
        }
    }

    fn ssthresh(&self) -> Option<u64> {
        self.inner.ssthresh()
    }

    /// The jump is always paced (section 3.3), and a controller that paces may be faster (appendix
    /// C), as one that paces by a model is too slow until the acknowledgements of the jump are in.
    fn pacing_rate(&self, rtt: &Rtt) -> Option<Rate> {
        let rate = self.inner.pacing_rate(rtt);
        match self.stage {
            Stage::Unvalidated { .. } => rate.max(self.jump_rate(rtt)),
            Stage::Validating { .. } => rate.max(rate.and(self.jump_rate(rtt))),
            Stage::Reconnaissance { .. } | Stage::SafeRetreat { .. } | Stage::Normal => rate,
        }
    }

    fn state(&self) -> State {
        self.inner.state()
    }

    fn next_phase_update(&mut self) -> Option<PhaseUpdate> {
        self.updates.pop_front()
    }
}
