//! What was sent and received, and what that changes.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use headway_congestion::{Ack, Acked, Ecn, Loss, Sent as SentPacket, SpuriousLoss, Time};
use headway_trace::qlog::{Owner, Parameters};
use quinn_proto::Side;

use super::Sender;
use crate::ledger::{LostPacket, NewlyAcked};
use crate::observe::{Log, Observation, Received, Sent, Space};
use crate::packetsize::number_size;
use crate::rtt::RttEstimator;
use crate::trace::parameters;

/// What a peer said of its acknowledgments (RFC 9000 section 18.2).
#[derive(Debug, Default)]
pub(super) struct Peer {
    ack_delay_exponent: u8,
    max_ack_delay: Duration,
}

impl Peer {
    pub(super) fn max_ack_delay(&self) -> Duration {
        self.max_ack_delay
    }

    fn learn(&mut self, parameters: &Parameters) {
        /// Values above are invalid (RFC 9000 section 18.2), and quinn-proto refuses them.
        const MAX_EXPONENT: u8 = 20;
        self.ack_delay_exponent = parameters.ack_delay_exponent.unwrap_or(0).min(MAX_EXPONENT);
        self.max_ack_delay = parameters.max_ack_delay.unwrap_or_default();
    }
}

/// What the packets of one datagram told the sender.
#[derive(Debug, Default)]
pub(super) struct Feedback {
    newly: NewlyAcked,
    lost: Vec<Acked>,
    persistent: bool,
    ecn: bool,
    /// How many more packets were reported as marked than the controller knows of.
    marked: u64,
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
        if std::mem::take(&mut self.ecn) {
            self.marked = 0;
        }
    }
}

impl Sender {
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

    /// RFC 9000 section 17.2.5.2: the client begins anew with the server's token.
    fn retry(&mut self) {
        self.ledger.discard(Space::Initial);
        self.ledger.discard(Space::ZeroRtt);
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
        let marked = self.marked.entry(received.space).or_default();
        self.feedback.marked += received.marked.saturating_sub(*marked);
        *marked = received.marked.max(*marked);
        for (ranges, delay_raw) in &received.acks {
            self.ledger.acknowledged(received.space, ranges, &mut self.feedback.newly);
            if let Some(sent_at) = self.feedback.newly.rtt_sample.take() {
                if !self.waited_for_keys(received.space, sent_at) {
                    let delay = self.ack_delay(received.space, *delay_raw);
                    self.rtt.sample(time.saturating_sub(sent_at), delay);
                }
            }
        }
        if received.handshake_done {
            self.ledger.discard(Space::Handshake);
        }
    }

    /// Whether a packet lay at the peer until a probe brought the keys for it, so that its
    /// acknowledgment says nothing of the path (RFC 9002 section 5.3).
    fn waited_for_keys(&self, space: Space, sent_at: Time) -> bool {
        space == Space::OneRtt && self.handshake_probe.is_some_and(|probe| sent_at < probe)
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
            let marked = feedback.marked;
            self.controller.on_ecn(&Ecn { now, number, in_flight, largest_sent, marked });
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
}
