//! When a connection may send: window, pacing, and what acknowledgments and losses change.

use std::sync::Arc;
use std::time::{Duration, Instant};

use headway_congestion::{
    Ack, Acked, Controller, Ecn, Loss, Rtt, Sent as SentPacket, SpuriousLoss, Time,
};
use quinn_proto::Side;

use crate::config::{Config, Pacing};
use crate::gate::Gate;
use crate::ledger::{Ledger, LostPacket};
use crate::observe::{Log, Observation, Received, Sent, SharedLog, Space};
use crate::pacer::Pacer;
use crate::packetsize::number_size;
use crate::rtt::RttEstimator;
use crate::trace::{DetectorState, Metrics, Tracer};

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
    ledger: Ledger,
    rtt: RttEstimator,
    controller: Box<dyn Controller>,
    pacer: Pacer,
    release: Option<Time>,
    paths: u32,
    lost_packets: u64,
    pto_count: u32,
    /// Data had to wait for window or pacer since the last acknowledgment.
    held_back: bool,
    /// Bytes of streams that quinn-proto has and did not send yet.
    unsent: u64,
    spurious_losses: u64,
    sent_early_data: bool,
    /// Of 1-RTT packets: the last one's number, and the size of the connection ID.
    last_number: u64,
    connection_id_size: Option<usize>,
    tracer: Tracer,
}

impl Sender {
    pub(crate) fn new(
        config: Arc<Config>,
        gate: Arc<Gate>,
        log: SharedLog,
        tracer: Tracer,
        now: Instant,
    ) -> Self {
        let mut sender = Self {
            began: now,
            ledger: Ledger::default(),
            rtt: RttEstimator::default(),
            controller: config.controller(),
            pacer: Pacer::new(u64::from(config.max_udp_payload)),
            release: None,
            paths: 1,
            lost_packets: 0,
            pto_count: 0,
            held_back: false,
            unsent: 0,
            spurious_losses: 0,
            sent_early_data: false,
            last_number: 0,
            connection_id_size: None,
            observations: Vec::new(),
            config,
            gate,
            log,
            tracer,
        };
        sender.repace(Time::ZERO);
        sender
    }

    /// Time since the connection began.
    pub(crate) fn time(&self, now: Instant) -> Time {
        now.saturating_duration_since(self.began)
    }

    /// Estimates of the round-trip time.
    pub(crate) fn rtt(&self) -> Rtt {
        self.rtt.get()
    }

    /// Bytes in flight.
    pub(crate) fn in_flight(&self) -> u64 {
        self.ledger.in_flight()
    }

    /// The congestion window in bytes.
    pub(crate) fn window(&self) -> u64 {
        self.controller.window()
    }

    /// Packets declared lost, and those of them that were acknowledged after all.
    pub(crate) fn losses(&self) -> (u64, u64) {
        (self.lost_packets, self.spurious_losses)
    }

    /// Bytes of streams handed over and not yet sent.
    pub(crate) fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Stream data was handed to quinn-proto.
    pub(crate) fn handed_over(&mut self, bytes: u64) {
        self.unsent += bytes;
    }

    /// Whether one more packet may leave.
    ///
    /// The last one may exceed the window, as in Linux, which counts packets, and in Chromium:
    /// otherwise a few bytes of HANDSHAKE_DONE would make an initial window of ten send nine
    /// (RFC 9002 section 7 would have it so).
    pub(crate) fn permission(&mut self, now: Instant) -> Permission {
        let time = self.time(now);
        self.release = None;
        if self.ledger.in_flight() >= self.controller.window() {
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

    /// Data waits for the window or the pacer.
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
    pub(crate) fn probe(&mut self, now: Instant) {
        let time = self.time(now);
        self.pto_count += 1;
        self.controller.on_pto(time);
        self.publish_metrics(time);
        self.publish_state(time);
    }

    /// Looks at what was sent and received since the last time.
    ///
    /// # Arguments
    /// * `lost_packets` - how many packets quinn-proto has declared lost so far.
    ///
    /// # Returns
    /// Whether something was sent that elicits an acknowledgment.
    pub(crate) fn observe(&mut self, now: Instant, lost_packets: u64) -> bool {
        let time = self.time(now);
        self.notice_path(time);
        let mut observations = std::mem::take(&mut self.observations);
        Log::of(&self.log).take(&mut observations);
        let mut feedback = Feedback::default();
        let mut elicits = false;
        for observation in observations.drain(..) {
            match observation {
                Observation::Sent(sent) => {
                    elicits |= sent.ack_eliciting;
                    self.sent(time, &sent);
                }
                Observation::Received(received) => self.received(time, &received, &mut feedback),
            }
        }
        self.observations = observations;
        self.notice_losses(time, lost_packets, &mut feedback);
        if feedback.is_news() {
            self.react(time, &feedback);
        }
        elicits
    }

    /// The handshake is complete.
    pub(crate) fn connected(&mut self, side: Side, early_data_accepted: bool) {
        match side {
            // A server's handshake is confirmed with its completion (RFC 9001 section 4.1.2).
            Side::Server => self.ledger.discard(Space::Handshake),
            // Rejected data is sent again, on new streams.
            Side::Client if self.sent_early_data && !early_data_accepted => {
                self.ledger.discard(Space::OneRtt);
                self.unsent = 0;
            }
            Side::Client => {}
        }
    }

    /// What quinn-proto's own congestion control became.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Size of the next 1-RTT packet's header; `None` before the first one.
    pub(crate) fn short_header(&self) -> Option<usize> {
        let acked = self.ledger.largest_acked(Space::OneRtt);
        Some(1 + self.connection_id_size? + number_size(self.last_number + 1, acked))
    }

    /// A stream is over.
    pub(crate) fn forget_stream(&mut self, stream: u64) {
        Log::of(&self.log).forget_stream(stream);
    }

    fn notice_path(&mut self, time: Time) {
        let paths = self.gate.paths();
        if paths != self.paths {
            self.paths = paths;
            self.ledger.change_path();
            self.rtt = RttEstimator::default();
            self.controller = self.config.controller();
            self.pacer = Pacer::new(u64::from(self.config.max_udp_payload));
            self.repace(time);
            self.tracer.path_changed(time);
            self.publish_metrics(time);
            self.publish_state(time);
        }
    }

    fn sent(&mut self, time: Time, sent: &Sent) {
        match sent.space {
            // RFC 9001 section 4.9.1: a client's first Handshake packet ends the Initial ones.
            Space::Handshake => self.ledger.discard(Space::Initial),
            Space::OneRtt => self.measure_header(sent),
            Space::ZeroRtt => self.sent_early_data = true,
            Space::Initial => {}
        }
        self.unsent = self.unsent.saturating_sub(sent.new_stream_bytes);
        self.tracer.sent(time, sent);
        let in_flight = self.ledger.in_flight();
        let number = self.ledger.next_ordinal();
        self.ledger.sent(
            sent.space,
            sent.number,
            sent.bytes,
            time,
            sent.in_flight,
            sent.ack_eliciting,
        );
        if sent.in_flight {
            self.pacer.spend(sent.bytes);
            self.controller.on_sent(&SentPacket { number, bytes: sent.bytes, at: time, in_flight });
        }
    }

    fn measure_header(&mut self, sent: &Sent) {
        let acked = self.ledger.largest_acked(Space::OneRtt);
        self.last_number = sent.number;
        self.connection_id_size = Some(sent.header - 1 - number_size(sent.number, acked));
    }

    fn received(&mut self, time: Time, received: &Received, feedback: &mut Feedback) {
        self.tracer.received(time, received);
        if let Some((ranges, delay_raw)) = &received.ack {
            let newly = self.ledger.acknowledged(received.space, ranges);
            if let Some(sent_at) = newly.rtt_sample {
                let delay = self.ack_delay(received.space, *delay_raw);
                self.rtt.sample(time.saturating_sub(sent_at), delay);
            }
            feedback.largest = feedback.largest.max(newly.largest);
            feedback.acked.extend(newly.packets);
            feedback.spurious.extend(newly.spurious);
        }
        if received.handshake_done {
            self.ledger.discard(Space::Handshake);
        }
    }

    /// RFC 9002 section 5.3: limited by the peer's max_ack_delay, ignored during the handshake.
    fn ack_delay(&self, space: Space, delay_raw: u64) -> Duration {
        if space != Space::OneRtt {
            return Duration::ZERO;
        }
        let delay = delay_raw.saturating_mul(1 << DEFAULT_ACK_DELAY_EXPONENT);
        Duration::from_micros(delay).min(self.config.peer_max_ack_delay())
    }

    fn notice_losses(&mut self, time: Time, lost_packets: u64, feedback: &mut Feedback) {
        let count = lost_packets - self.lost_packets;
        self.lost_packets = lost_packets;
        feedback.ecn = self.gate.take_ecn();
        feedback.persistent = self.gate.take_persistent();
        if count > 0 {
            let lost = self.ledger.lost(count, u64::from(self.config.packet_threshold));
            for packet in &lost {
                self.tracer.lost(time, packet);
            }
            let on_path = |packet: &LostPacket| packet.on_path.then_some(packet.packet);
            feedback.lost.extend(lost.iter().filter_map(on_path));
        }
    }

    /// Tells the controller, in the order that it asks for.
    fn react(&mut self, now: Time, feedback: &Feedback) {
        let (in_flight, rtt) = (self.ledger.in_flight(), self.rtt.get());
        let largest_sent = self.ledger.largest_sent();
        if !feedback.spurious.is_empty() {
            self.spurious_losses += feedback.spurious.len() as u64;
            self.controller.on_spurious_loss(&SpuriousLoss { now, packets: &feedback.spurious });
        }
        if feedback.ecn {
            let number = feedback.largest.unwrap_or(largest_sent);
            self.controller.on_ecn(&Ecn { now, number, in_flight, largest_sent });
        }
        if !feedback.lost.is_empty() {
            let (packets, persistent) = (&feedback.lost[..], feedback.persistent);
            self.controller.on_loss(&Loss { now, packets, in_flight, persistent, largest_sent });
        }
        if !feedback.acked.is_empty() {
            self.pto_count = 0;
            let cwnd_limited = std::mem::take(&mut self.held_back);
            let packets = &feedback.acked;
            self.controller.on_ack(&Ack { now, packets, rtt, in_flight, cwnd_limited });
        }
        self.repace(now);
        self.publish_metrics(now);
        self.publish_state(now);
    }

    fn repace(&mut self, time: Time) {
        let rate = match self.config.pacing {
            Pacing::Off => None,
            Pacing::Controller => self.controller.pacing_rate(&self.rtt.get()),
            Pacing::Fixed(rate) => Some(rate),
        };
        self.pacer.set_rate(time, rate);
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
            pacing_rate: self.controller.pacing_rate(&rtt),
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

/// The default of the transport parameter ack_delay_exponent (RFC 9000 section 18.2).
const DEFAULT_ACK_DELAY_EXPONENT: u32 = 3;

/// What the packets of one datagram told the sender.
#[derive(Debug, Default)]
struct Feedback {
    acked: Vec<Acked>,
    spurious: Vec<Acked>,
    lost: Vec<Acked>,
    largest: Option<u64>,
    persistent: bool,
    ecn: bool,
}

impl Feedback {
    fn is_news(&self) -> bool {
        self.ecn || !(self.acked.is_empty() && self.spurious.is_empty() && self.lost.is_empty())
    }
}
