//! What a connection's traces are told.

use headway_congestion::{Rate, Rtt, State, Time};

use quinn_proto::{ConnectionId, Side};

use crate::config::Config;
use crate::ledger::LostPacket;
use crate::observe::{Received, Sent};

/// A loss detector's own states (Kakhki 2017, table 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DetectorState {
    /// The first probe of a row is out.
    TailLossProbe,
    /// Further ones are.
    Pto,
}

/// What the sender knows of its path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Metrics {
    pub(crate) window: u64,
    pub(crate) ssthresh: Option<u64>,
    pub(crate) in_flight: u64,
    pub(crate) rtt: Option<Rtt>,
    pub(crate) pacing_rate: Option<Rate>,
    pub(crate) pto_count: u32,
}

/// Writes the traces that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Tracer {}

#[expect(unused_variables, clippy::unused_self, reason = "to come")]
impl Tracer {
    pub(crate) fn new(config: &Config, side: Side, original_cid: &ConnectionId) -> Self {
        Self {}
    }
    pub(crate) fn is_off(&self) -> bool {
        true
    }
    pub(crate) fn sent(&mut self, time: Time, sent: &Sent) {}
    pub(crate) fn received(&mut self, time: Time, received: &Received) {}
    pub(crate) fn lost(&mut self, time: Time, lost: &LostPacket) {}
    pub(crate) fn metrics(&mut self, time: Time, metrics: &Metrics) {}
    pub(crate) fn state(&mut self, time: Time, detector: Option<DetectorState>, state: State) {}
    pub(crate) fn path_changed(&mut self, time: Time) {}
}
