//! When a connection may send: window, pacing, and what acknowledgments and losses change.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use headway_congestion::{
    Ack, Acked, Controller, Ecn, Loss, Rate, Rtt, Sent as SentPacket, SpuriousLoss, Time,
};
use headway_trace::qlog::{Owner, Parameters};
use quinn_proto::Side;

use crate::config::{Config, Pacing};
use crate::gate::Gate;
use crate::ledger::{Ledger, LostPacket, NewlyAcked};
use crate::observe::{Log, Observation, Received, Sent, SharedLog, Space};
use crate::pacer::Pacer;
use crate::packetsize::{LAZY_ACK, LENGTH, MAX_SHORT_HEADER, TAG, number_size, stream_header};
use crate::resume::{Loan, Outcome, Resumption};
use crate::rtt::RttEstimator;
use crate::trace::{DetectorState, Metrics, Tracer, parameters};

/// Packets whose data is handed over together, at most.
const MAX_RUN: usize = 64;

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
    /// Of 1-RTT packets: the last one's number, and the size of the connection ID.
    last_number: u64,
    connection_id_size: Option<usize>,
    peer: Peer,
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
            last_number: 0,
            connection_id_size: None,
            observations: Vec::new(),
            feedback: Feedback::default(),
            peer: Peer::default(),
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

    /// Bytes in flight.
    pub(crate) fn in_flight(&self) -> u64 {
        self.ledger.in_flight()
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

    /// Whether data of streams was handed over and not sent yet.
    pub(crate) fn has_unsent(&self) -> bool {
        Log::of(&self.log).backlog.unsent() > 0
    }

    /// Bytes in the next packet for STREAM frames with data that was not handed over yet.
    ///
    /// # Arguments
    /// * `max_udp_payload` - the packet's size.
    pub(crate) fn room(&self, max_udp_payload: u16) -> usize {
        let log = Log::of(&self.log);
        let header = self.short_header(0).unwrap_or(MAX_SHORT_HEADER);
        let ack = if log.expects_lazy_ack() { LAZY_ACK } else { 0 };
        let unsent = usize::try_from(log.backlog.frames()).unwrap_or(usize::MAX);
        usize::from(max_udp_payload).saturating_sub(header + TAG + ack).saturating_sub(unsent)
    }

    /// How many full packets may leave now, one after the other.
    ///
    /// # Arguments
    /// * `max_udp_payload` - the packets' size.
    pub(crate) fn run(&self, max_udp_payload: u16) -> usize {
        let window = self.controller.window().saturating_sub(self.ledger.in_flight());
        let bytes = self.pacer.allowance().map_or(window, |paced| paced.min(window));
        let packets = usize::try_from(bytes / u64::from(max_udp_payload)).unwrap_or(usize::MAX);
        packets.clamp(1, MAX_RUN)
    }

    /// Bytes of a stream's data that fill a run of packets after its first one.
    ///
    /// # Arguments
    /// * `max_udp_payload` - the packets' size.
    /// * `run` - how many there are.
    /// * `next` - bytes of the stream's data in the first one.
    pub(crate) fn room_after_next(
        &self,
        max_udp_payload: u16,
        run: usize,
        stream: u64,
        next: usize,
    ) -> usize {
        let size = usize::from(max_udp_payload);
        let begin = Log::of(&self.log).backlog.offset(stream) + next as u64;
        let mut offset = begin;
        for before in 1..run as u64 {
            let Some(header) = self.short_header(before) else { break };
            offset += (size - header - TAG - stream_header(stream, offset)) as u64;
        }
        usize::try_from(offset - begin).unwrap_or(usize::MAX)
    }

    /// Bytes of the header of a stream's next STREAM frame, if it is the packet's last.
    pub(crate) fn stream_header(&self, stream: u64) -> usize {
        stream_header(stream, Log::of(&self.log).backlog.offset(stream))
    }

    /// Data of a stream was handed to quinn-proto.
    pub(crate) fn handed_over(&mut self, stream: u64, bytes: u64) {
        Log::of(&self.log).backlog.hand_over(stream, bytes);
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

    /// Looks at what was received since the last time, and what it led to.
    ///
    /// # Arguments
    /// * `remote` - where the peer is.
    /// * `lost` - how many packets quinn-proto has declared lost so far, and how many probes of the path's
    ///   MTU, which are not among them.
    pub(crate) fn observe(&mut self, now: Instant, remote: SocketAddr, lost: (u64, u64)) {
        let time = self.time(now);
        self.notice_path(time, remote);
        self.look(time, false);
        self.notice_lost_mtu_probes(lost.1);
        self.notice_losses(time, lost.0);
        self.check_in_flight();
        let feedback = std::mem::take(&mut self.feedback);
        if feedback.is_news() {
            self.react(time, &feedback);
        }
        self.feedback = feedback;
        self.feedback.clear();
    }

    /// Looks at the datagram just made.
    ///
    /// # Arguments
    /// * `off_path` - it goes elsewhere than to where the peer is.
    /// * `is_mtu_probe` - it tries whether the path takes packets of its size.
    ///
    /// # Returns
    /// Whether it elicits an acknowledgment.
    pub(crate) fn observe_sent(
        &mut self,
        now: Instant,
        off_path: bool,
        is_mtu_probe: bool,
    ) -> bool {
        let time = self.time(now);
        let elicits = self.look(time, off_path);
        if is_mtu_probe {
            self.ledger.was_mtu_probe(self.last_number);
        }
        elicits
    }

    fn look(&mut self, time: Time, off_path: bool) -> bool {
        let mut observations = std::mem::take(&mut self.observations);
        Log::of(&self.log).take(&mut observations);
        let mut elicits = false;
        for observation in observations.drain(..) {
            match observation {
                Observation::Sent(sent) => {
                    elicits |= sent.ack_eliciting;
                    self.sent(time, &sent, off_path);
                }
                Observation::Received(received) => self.received(time, &received),
                Observation::Retry => self.retry(),
                Observation::OwnParameters(encoded) => {
                    self.tracer.parameters(time, Owner::Local, &parameters::decode(&encoded));
                }
                Observation::PeerParameters(encoded) => {
                    let parameters = parameters::decode(&encoded);
                    self.tracer.parameters(time, Owner::Remote, &parameters);
                    self.peer.learn(&parameters);
                }
            }
        }
        self.observations = observations;
        elicits
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

    /// RFC 9000 section 17.2.5.2: the client begins anew with the server's token.
    fn retry(&mut self) {
        self.ledger.discard(Space::Initial);
        self.ledger.discard(Space::ZeroRtt);
    }

    /// What quinn-proto's own congestion control became.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Size of a coming 1-RTT packet's header, and what must be left for it to turn out larger;
    /// `None` before the first one.
    ///
    /// # Arguments
    /// * `before` - how many are sent before it.
    fn short_header(&self, before: u64) -> Option<usize> {
        // Before the first one, acknowledgments are of early data.
        let connection_id_size = self.connection_id_size?;
        let acked = self.ledger.largest_acked(Space::OneRtt);
        let next = self.last_number + 1 + before;
        let size = number_size(next, acked);
        // quinn-proto skips numbers now and then.
        let slack = if number_size(next + 1, acked) > size { 1 + LENGTH } else { 0 };
        Some(1 + connection_id_size + size + slack)
    }

    /// A stream is over.
    pub(crate) fn forget_stream(&mut self, stream: u64) {
        Log::of(&self.log).backlog.forget(stream);
    }

    /// The traces.
    pub(crate) fn tracer(&mut self) -> &mut Tracer {
        &mut self.tracer
    }

    fn notice_path(&mut self, time: Time, remote: SocketAddr) {
        let paths = self.gate.paths();
        let is_new = paths != self.paths;
        if is_new || remote != self.remote {
            self.remote = remote;
            self.path_changes += 1;
            // quinn-proto counts from nothing on every new path and sets no timers for an old one:
            // what is lost there must not hold back what validates the new one.
            self.ledger.change_path();
            self.tracer.path_changed(time, remote);
        }
        if is_new {
            self.paths = paths;
            self.rtt = RttEstimator::default();
            self.controller = self.config.controller(None);
            self.resumption.change_path();
            self.pacer = self.config.pacer();
            self.repace(time);
            self.publish_metrics(time);
            self.publish_state(time);
        }
    }

    fn sent(&mut self, time: Time, sent: &Sent, off_path: bool) {
        match sent.space {
            // RFC 9001 section 4.9.1: a client's first Handshake packet ends the Initial ones.
            Space::Handshake if self.side == Side::Client => self.ledger.discard(Space::Initial),
            Space::OneRtt => self.measure_header(sent),
            Space::ZeroRtt => self.sent_early_data = true,
            Space::Initial | Space::Handshake => {}
        }
        self.tracer.sent(time, sent);
        if off_path && sent.path_challenge {
            // quinn-proto sends these for once, and neither acknowledges nor loses them.
            return;
        }
        let in_flight = self.ledger.in_flight();
        let number = self.ledger.next_ordinal();
        self.ledger.sent(time, sent);
        if sent.in_flight {
            self.pacer.spend(sent.bytes);
            self.controller.on_sent(&SentPacket { number, bytes: sent.bytes, at: time, in_flight });
            self.publish_phases(time);
        }
    }

    fn measure_header(&mut self, sent: &Sent) {
        let acked = self.ledger.largest_acked(Space::OneRtt);
        self.last_number = sent.number;
        self.connection_id_size = Some(sent.header - 1 - number_size(sent.number, acked));
    }

    fn received(&mut self, time: Time, received: &Received) {
        self.tracer.received(time, received);
        if received.space != Space::OneRtt || received.handshake_done {
            self.gate.take_in_flight();
        }
        if received.space == Space::Handshake && self.side == Side::Server {
            // RFC 9001 section 4.9.1.
            self.ledger.discard(Space::Initial);
        }
        for (ranges, delay_raw) in &received.acks {
            self.ledger.acknowledged(received.space, ranges, &mut self.feedback.newly);
            if let Some(sent_at) = self.feedback.newly.rtt_sample.take() {
                let delay = self.ack_delay(received.space, *delay_raw);
                self.rtt.sample(time.saturating_sub(sent_at), delay);
            }
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
        let delay = delay_raw.saturating_mul(1 << self.peer.ack_delay_exponent);
        let asked = self.config.ack_frequency.and_then(|frequency| frequency.max_ack_delay);
        let limit = self.peer.max_ack_delay.max(asked.unwrap_or_default());
        Duration::from_micros(delay).min(limit)
    }

    /// RFC 9000 section 14.4: that the path did not take a probe says nothing about congestion.
    fn notice_lost_mtu_probes(&mut self, lost: u64) {
        if lost > std::mem::replace(&mut self.lost_mtu_probes, lost) {
            self.ledger.lose_mtu_probe();
            // It was told before the probe was given up.
            self.gate.take_in_flight();
        }
    }

    fn notice_losses(&mut self, time: Time, lost_packets: u64) {
        let count = lost_packets - self.lost_packets;
        self.lost_packets = lost_packets;
        self.feedback.ecn = self.gate.take_ecn();
        self.feedback.persistent = self.gate.take_persistent();
        if count > 0 {
            let threshold = u64::from(self.config.packet_threshold);
            let lost = self.ledger.lost(count, threshold, &self.feedback.newly);
            for packet in &lost {
                self.tracer.lost(time, packet);
            }
            let on_path = |packet: &LostPacket| packet.on_path.then_some(packet.packet);
            self.feedback.lost.extend(lost.iter().filter_map(on_path));
        }
    }

    /// Ledger and quinn-proto agree on the bytes in flight: except on a new path, where the ledger
    /// begins anew, and while keys are discarded, which quinn-proto may have done later than told.
    fn check_in_flight(&self) {
        let theirs = self.gate.take_in_flight().filter(|_| self.path_changes == 0);
        if let Some(theirs) = theirs {
            debug_assert_eq!(self.ledger.in_flight(), theirs, "bytes in flight");
        }
    }

    /// Tells the controller, in the order that it asks for.
    fn react(&mut self, now: Time, feedback: &Feedback) {
        let (in_flight, rtt) = (self.ledger.in_flight(), self.rtt.get());
        let largest_sent = self.ledger.largest_sent();
        let newly = &feedback.newly;
        if !newly.spurious.is_empty() {
            self.spurious_losses += newly.spurious.len() as u64;
            self.controller.on_spurious_loss(&SpuriousLoss { now, packets: &newly.spurious });
        }
        if feedback.ecn {
            let number = newly.largest.unwrap_or(largest_sent);
            self.controller.on_ecn(&Ecn { now, number, in_flight, largest_sent });
        }
        if !feedback.lost.is_empty() {
            let (packets, persistent) = (&feedback.lost[..], feedback.persistent);
            self.controller.on_loss(&Loss { now, packets, in_flight, persistent, largest_sent });
        }
        if !newly.packets.is_empty() {
            self.pto_count = 0;
            let cwnd_limited = std::mem::take(&mut self.held_back);
            let packets = &newly.packets;
            let ack = Ack { now, packets, rtt, in_flight, cwnd_limited };
            self.controller.on_ack(&ack);
            self.resumption.on_ack(self.began + now, &ack);
        }
        self.repace(now);
        self.publish_phases(now);
        self.publish_metrics(now);
        self.publish_state(now);
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

/// What a peer said of its acknowledgments (RFC 9000 section 18.2).
#[derive(Debug, Default)]
struct Peer {
    ack_delay_exponent: u8,
    max_ack_delay: Duration,
}

impl Peer {
    fn learn(&mut self, parameters: &Parameters) {
        /// Values above are invalid (RFC 9000 section 18.2), and quinn-proto refuses them.
        const MAX_EXPONENT: u8 = 20;
        self.ack_delay_exponent = parameters.ack_delay_exponent.unwrap_or(0).min(MAX_EXPONENT);
        self.max_ack_delay = parameters.max_ack_delay.unwrap_or_default();
    }
}

/// What the packets of one datagram told the sender.
#[derive(Debug, Default)]
struct Feedback {
    newly: NewlyAcked,
    lost: Vec<Acked>,
    persistent: bool,
    ecn: bool,
}

impl Feedback {
    fn is_news(&self) -> bool {
        let newly = &self.newly;
        let nothing = newly.packets.is_empty() && newly.spurious.is_empty() && self.lost.is_empty();
        self.ecn || !nothing
    }

    fn clear(&mut self) {
        self.newly.clear();
        self.lost.clear();
        self.persistent = false;
        self.ecn = false;
    }
}
