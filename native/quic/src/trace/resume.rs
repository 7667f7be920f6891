use headway_congestion::{Phase, PhaseUpdate, Trigger};
use headway_trace::qlog::CarefulResumePhase;

/// Numbers of the first and the last packet that Careful Resume sent beyond the controller's own
/// window; 0 while they are unknown.
#[derive(Debug, Default)]
pub(super) struct Unvalidated {
    first: u64,
    last: u64,
}

impl Unvalidated {
    /// A phase was entered after a 1-RTT packet.
    pub(super) fn note(&mut self, update: &PhaseUpdate, last_number: u64) {
        if update.new == Phase::Unvalidated {
            self.first = last_number + 1;
        } else if update.old == Some(Phase::Unvalidated) {
            self.last = last_number;
        }
    }

    /// The phase in qlog's terms.
    pub(super) fn describe(&self, update: &PhaseUpdate) -> CarefulResumePhase<'static> {
        CarefulResumePhase {
            old: update.old.map(Phase::name),
            new: update.new.name(),
            trigger: update.trigger.map(Trigger::name),
            pipe_size: update.pipe_size,
            first_unvalidated: self.first,
            last_unvalidated: self.last,
            cwnd_bytes: update.window,
            ssthresh_bytes: update.ssthresh,
            saved_cwnd_bytes: update.saved.window,
            saved_rtt: update.saved.rtt,
        }
    }
}
