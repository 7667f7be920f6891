//! When a connection may send: window, pacing, and what acknowledgments and losses change.

mod feedback;
mod room;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use headway_congestion::{Controller, Rate, Rtt, Time};
use quinn_proto::Side;

use crate::config::{Config, Pacing};
use crate::gate::Gate;
use crate::ledger::Ledger;
use crate::observe::{Log, Observation, SharedLog, Space};
use crate::pacer::Pacer;
use crate::resume::{Loan, Outcome, Resumption};
use crate::rtt::RttEstimator;
use crate::trace::{DetectorState, Metrics, Tracer};
use feedback::{Feedback, Peer};

/// What keeps a sender from sending one more packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    /// Nothing.
    Granted,
    /// The congestion window is full.
    Window,
    /// The pacer wants it later.
    Pacing,
}

/// Decides when one connection may send.
#[derive(Debug)]
pub(crate) struct Sender {
    began: Instant,
    config: Arc<Config>,
    gate: Arc<Gate>,
    log: SharedLog,
    observations: Vec<Observation>,
    feedback: Feedback,
    ledger: Ledger,
    rtt: RttEstimator,
    controller: Box<dyn Controller>,
    resumption: Resumption,
    pacer: Pacer,
    release: Option<Time>,
    side: Side,
    remote: SocketAddr,
    paths: u32,
    path_changes: u64,
    lost_packets: u64,
    lost_mtu_probes: u64,
    pto_count: u32,
    /// Data had to wait for window or pacer since the last acknowledgment.
    held_back: bool,
    spurious_losses: u64,
    sent_early_data: bool,
    /// When the last probe of the handshake was sent.
    handshake_probe: Option<Time>,
    /// Of 1-RTT packets: the last one's number, and the size of the connection ID.
    last_number: u64,
    connection_id_size: Option<usize>,
    peer: Peer,
    /// Packets that the peer reported as marked, by their space.
    marked: BTreeMap<Space, u64>,
    tracer: Tracer,
}

impl Sender {
    pub(crate) fn new(
        config: Arc<Config>,
        gate: Arc<Gate>,
        log: SharedLog,
        tracer: Tracer,
        (side, remote): (Side, SocketAddr),
        loan: Option<Loan>,
        now: Instant,
    ) -> Self {
        let mut sender = Self {
            began: now,
            ledger: Ledger::default(),
            rtt: RttEstimator::default(),
            controller: config.controller(loan.map(|loan| loan.saved)),
            resumption: Resumption::new(remote.ip(), loan, now),
            pacer: config.pacer(),
            release: None,
            side,
            remote,
            paths: 1,
            path_changes: 0,
            lost_packets: 0,
            lost_mtu_probes: 0,
            pto_count: 0,
            held_back: false,
            spurious_losses: 0,
            sent_early_data: false,
            handshake_probe: None,
            last_number: 0,
            connection_id_size: None,
            observations: Vec::new(),
            feedback: Feedback::default(),
            peer: Peer::default(),
            marked: BTreeMap::new(),
            config,
            gate,
            log,
            tracer,
        };
        sender.repace(Time::ZERO);
        sender.publish_phases(Time::ZERO);
        sender.publish_metrics(Time::ZERO);
        sender
    }

    /// The connection is over: what it leaves behind for later ones.
    pub(crate) fn end(&mut self) -> Outcome {
        self.resumption.end(self.remote.ip(), &self.config)
    }

    /// What the connection is to do.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Time since the connection began.
    pub(crate) fn time(&self, now: Instant) -> Time {
        now.saturating_duration_since(self.began)
    }

    /// Estimates of the round-trip time.
    pub(crate) fn rtt(&self) -> Rtt {
        self.rtt.get()
    }

    /// The longest that the peer said that it delays acknowledgments.
    pub(crate) fn peer_max_ack_delay(&self) -> Duration {
        self.peer.max_ack_delay()
    }

    /// Whether the peer asked for fewer acknowledgments and got none since.
    pub(crate) fn owes_first_ack(&self) -> bool {
        Log::of(&self.log).owes_first_ack()
    }

    /// Bytes in flight.
    pub(crate) fn in_flight(&self) -> u64 {
        self.ledger.in_flight()
    }

    /// Of 1-RTT packets: the last number that was sent, and the largest one that was acknowledged.
    pub(crate) fn packet_numbers(&self) -> (u64, Option<u64>) {
        let last = self.ledger.last_sent(Space::OneRtt).unwrap_or_default();
        (last, self.ledger.largest_acked(Space::OneRtt))
    }

    /// The congestion window in bytes.
    pub(crate) fn window(&self) -> u64 {
        self.controller.window()
    }

    /// Bytes that the path took in a least round-trip time lately.
    pub(crate) fn capacity(&self) -> Option<u64> {
        self.resumption.capacity()
    }

    /// Packets declared lost, and those of them that were acknowledged after all.
    pub(crate) fn losses(&self) -> (u64, u64) {
        (self.lost_packets, self.spurious_losses)
    }

    /// Whether one more packet may leave.
    ///
    /// The last one may exceed the window, as in Linux, which counts packets, and in Chromium:
    /// otherwise a few bytes of HANDSHAKE_DONE would make an initial window of ten send nine
    /// (RFC 9002 section 7 would have it so).
    pub(crate) fn permission(&mut self, now: Instant) -> Permission {
        let time = self.time(now);
        self.release = None;
        if self.controller.room(self.ledger.in_flight()) == 0 {
            Permission::Window
        } else if !self.pacer.allows(time) {
            self.release = self.pacer.release();
            Permission::Pacing
        } else {
            Permission::Granted
        }
    }

    /// When the pacer lets the next packet go, if it was what held the last one back.
    pub(crate) fn release(&self) -> Option<Instant> {
        self.release.map(|time| self.began + time)
    }

    /// Bytes that the window has room for beside those in flight and those about to leave.
    pub(crate) fn spare_window(&self) -> u64 {
        let unsent = Log::of(&self.log).backlog.unsent();
        self.controller.room(self.ledger.in_flight()).saturating_sub(unsent)
    }

    /// Data waits that the window has no room for.
    pub(crate) fn hold_back(&mut self) {
        self.held_back = true;
    }

    /// There is nothing more to send.
    pub(crate) fn run_dry(&mut self, now: Instant) {
        let (time, in_flight) = (self.time(now), self.ledger.in_flight());
        self.controller.on_application_limited(time, in_flight);
        self.publish_state(time);
    }

    /// A probe timeout expired (RFC 9002 section 6.2).
    pub(crate) fn probe(&mut self, now: Instant, handshaking: bool) {
        let time = self.time(now);
        if handshaking {
            self.handshake_probe = Some(time);
        }
        self.pto_count += 1;
        self.controller.on_pto(time);
        self.publish_metrics(time);
        self.publish_state(time);
    }

    /// The handshake is complete.
    ///
    /// # Returns
    /// Whether 0-RTT data was rejected: its streams are gone.
    pub(crate) fn connected(&mut self, early_data_accepted: bool) -> bool {
        match self.side {
            // A server's handshake is confirmed with its completion (RFC 9001 section 4.1.2).
            Side::Server => self.ledger.discard(Space::Handshake),
            Side::Client if self.sent_early_data && !early_data_accepted => {
                self.ledger.discard(Space::ZeroRtt);
                Log::of(&self.log).backlog.clear();
                return true;
            }
            Side::Client => {}
        }
        false
    }

    /// What quinn-proto's own congestion control became.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// A stream is over.
    pub(crate) fn forget_stream(&mut self, stream: u64) {
        Log::of(&self.log).backlog.forget(stream);
    }

    /// Data of a stream was taken from quinn-proto, and perhaps not all that it has.
    pub(crate) fn leave_over(&mut self, stream: u64, is_left: bool, taken: u64) {
        Log::of(&self.log).left_over.set(stream, is_left, taken);
    }

    /// All received streams are forgotten.
    pub(crate) fn leave_nothing_over(&mut self) {
        Log::of(&self.log).left_over.clear();
    }

    /// What quinn-proto keeps of streams because too much of them is unread, in bytes.
    pub(crate) fn left_over(&self) -> u64 {
        Log::of(&self.log).left_over.bytes()
    }

    /// The traces.
    pub(crate) fn tracer(&mut self) -> &mut Tracer {
        &mut self.tracer
    }

    fn repace(&mut self, time: Time) {
        self.pacer.set_rate(time, self.pacing_rate());
    }

    fn pacing_rate(&self) -> Option<Rate> {
        match self.config.pacing {
            Pacing::Off => None,
            Pacing::Controller => self.controller.pacing_rate(&self.rtt.get()),
            Pacing::Fixed(rate) => Some(rate),
        }
    }

    /// Tells of phases of Careful Resume that were entered.
    fn publish_phases(&mut self, time: Time) {
        while let Some(update) = self.controller.next_phase_update() {
            self.resumption.enter(&update);
            self.tracer.phase(time, &update, self.last_number);
        }
    }

    fn publish_metrics(&mut self, time: Time) {
        if self.tracer.is_off() {
            return;
        }
        let rtt = self.rtt.get();
        let metrics = Metrics {
            window: self.controller.window(),
            ssthresh: self.controller.ssthresh(),
            in_flight: self.ledger.in_flight(),
            rtt: self.rtt.has_sample().then_some(rtt),
            pacing_rate: self.pacing_rate(),
            pto_count: self.pto_count,
        };
        self.tracer.metrics(time, &metrics);
    }

    fn publish_state(&mut self, time: Time) {
        let detector = match self.pto_count {
            0 => None,
            1 => Some(DetectorState::TailLossProbe),
            _ => Some(DetectorState::Pto),
        };
        self.tracer.state(time, detector, self.controller.state());
    }
}
