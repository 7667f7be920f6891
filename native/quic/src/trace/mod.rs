//! What a connection's traces are told.

mod close;
mod files;
mod header;
mod http;
pub(crate) mod parameters;
mod resume;

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use headway_congestion::{PhaseUpdate, Rate, Rtt, State, Time};
use headway_trace::compact::Compact;
use headway_trace::frame::{Frame, Frames};
use headway_trace::qlog::{
    LossTrigger, MigrationState, Owner, Packet, PacketType, Parameters, Qlog,
};
use quinn_proto::{ConnectionError, ConnectionId, Side};

use crate::config::Config;
use crate::ledger::LostPacket;
use crate::observe::{Plaintext, Received, Sent, Space};

use close::Ending;
pub use files::TraceFailed;
pub use http::HttpLog;
use resume::Unvalidated;

/// quinn-proto's own transport parameter ack_delay_exponent.
const OWN_ACK_DELAY_EXPONENT: u8 = 3;

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

/// Which connection traces are of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) side: Side,
    /// Destination Connection ID of the client's first packet.
    pub(crate) original_cid: ConnectionId,
    pub(crate) local: Option<IpAddr>,
    pub(crate) remote: SocketAddr,
}

impl Subject {
    /// This end's address as far as it is known.
    fn local_address(&self) -> SocketAddr {
        let unspecified = match self.remote {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        SocketAddr::new(self.local.unwrap_or(unspecified), 0)
    }
}

/// Writes the traces that were asked for.
#[derive(Debug)]
pub(crate) struct Tracer {
    qlog: Option<Qlog<File>>,
    compact: Option<Compact<File>>,
    subject: Subject,
    state: headway_trace::State,
    unvalidated: Unvalidated,
    peer_ack_delay_exponent: u8,
    path: u64,
    /// The peer has not shown yet that it is at the path's other end.
    path_is_new: bool,
    has_begun: bool,
    has_ended: bool,
}

impl Tracer {
    /// Creates the files.
    pub(crate) fn new(config: &Config, subject: Subject) -> Result<Self, TraceFailed> {
        Ok(Self {
            qlog: files::qlog(config, &subject)?,
            compact: files::compact(config, &subject)?,
            subject,
            state: headway_trace::State::Init,
            unvalidated: Unvalidated::default(),
            peer_ack_delay_exponent: OWN_ACK_DELAY_EXPONENT,
            path: 0,
            path_is_new: false,
            has_begun: false,
            has_ended: false,
        })
    }

    pub(crate) fn is_off(&self) -> bool {
        self.qlog.is_none() && self.compact.is_none()
    }

    pub(crate) fn http(&mut self, time: Time) -> Option<HttpLog<'_>> {
        self.qlog.as_mut().map(|qlog| HttpLog { qlog, time })
    }

    pub(crate) fn sent(&mut self, time: Time, sent: &Sent) {
        let Some(plaintext) = &sent.plaintext else { return };
        self.begin(time, |(destination, source)| (source.unwrap_or(&[]), destination), plaintext);
        if let Some(qlog) = &mut self.qlog {
            let packet = packet(sent.space, sent.number, sent.bytes, plaintext);
            qlog.packet_sent(
                time,
                &Packet { ack_delay_exponent: OWN_ACK_DELAY_EXPONENT, ..packet },
            );
        }
    }

    pub(crate) fn received(&mut self, time: Time, received: &Received) {
        let Some(plaintext) = &received.plaintext else { return };
        self.begin(time, |(destination, source)| (destination, source.unwrap_or(&[])), plaintext);
        if let Some(qlog) = &mut self.qlog {
            let ack_delay_exponent = self.peer_ack_delay_exponent;
            let packet = packet(received.space, received.number, received.bytes, plaintext);
            qlog.packet_received(time, &Packet { ack_delay_exponent, ..packet });
        }
        if self.path_is_new {
            self.notice_validation(time, plaintext);
        }
    }

    pub(crate) fn lost(&mut self, time: Time, lost: &LostPacket) {
        let trigger = if lost.by_reordering_threshold {
            LossTrigger::ReorderingThreshold
        } else {
            LossTrigger::TimeThreshold
        };
        if let Some(qlog) = &mut self.qlog {
            qlog.packet_lost(time, packet_type(lost.space), lost.number, trigger);
        }
    }

    pub(crate) fn metrics(&mut self, time: Time, metrics: &Metrics) {
        let metrics = headway_trace::Metrics {
            cwnd_bytes: metrics.window,
            ssthresh_bytes: metrics.ssthresh,
            in_flight_bytes: metrics.in_flight,
            smoothed_rtt: metrics.rtt.map(|rtt| rtt.smoothed),
            latest_rtt: metrics.rtt.map(|rtt| rtt.latest),
            min_rtt: metrics.rtt.map(|rtt| rtt.min),
            rtt_variance: metrics.rtt.map(|rtt| rtt.variation),
            pto_count: metrics.pto_count,
            pacing_rate_bytes_per_s: metrics.pacing_rate.map(Rate::bytes_per_second),
        };
        if let Some(qlog) = &mut self.qlog {
            qlog.metrics_updated(time, &metrics);
        }
        if let Some(compact) = &mut self.compact {
            compact.metrics(time, &metrics);
        }
    }

    pub(crate) fn state(&mut self, time: Time, detector: Option<DetectorState>, state: State) {
        let new = traced(detector, state);
        let old = std::mem::replace(&mut self.state, new);
        if old == new {
            return;
        }
        if let Some(qlog) = &mut self.qlog {
            qlog.congestion_state_updated(time, old, new);
        }
        if let Some(compact) = &mut self.compact {
            compact.state(time, old, new);
        }
    }

    /// The sender entered a phase of Careful Resume.
    ///
    /// # Arguments
    /// * `last_number` - the number of the 1-RTT packet sent last.
    pub(crate) fn phase(&mut self, time: Time, update: &PhaseUpdate, last_number: u64) {
        self.unvalidated.note(update, last_number);
        if let Some(qlog) = &mut self.qlog {
            qlog.careful_resume_phase_updated(time, &self.unvalidated.describe(update));
        }
    }

    /// Transport parameters are known.
    pub(crate) fn parameters(&mut self, time: Time, owner: Owner, parameters: &Parameters) {
        if let (Owner::Remote, Some(exponent)) = (owner, parameters.ack_delay_exponent) {
            self.peer_ack_delay_exponent = exponent;
        }
        if let Some(qlog) = &mut self.qlog {
            qlog.parameters_set(time, owner, parameters);
        }
    }

    /// The application protocol was agreed upon.
    pub(crate) fn protocol(&mut self, time: Time, protocol: &[u8]) {
        if let Some(qlog) = &mut self.qlog {
            qlog.alpn_information(time, &String::from_utf8_lossy(protocol));
        }
    }

    /// The connection goes on along another path.
    pub(crate) fn path_changed(&mut self, time: Time, remote: SocketAddr) {
        self.subject.remote = remote;
        self.path += 1;
        self.path_is_new = true;
        if let Some(qlog) = &mut self.qlog {
            qlog.path_assigned(time, self.path, self.subject.local_address(), remote);
            qlog.migration_state_updated(time, self.path, MigrationState::MigrationStarted);
        }
    }

    /// This side's application closed the connection.
    pub(crate) fn closed(&mut self, time: Time, code: u64, reason: &str) {
        self.end(time, || Ending::by_application(Owner::Local, code, reason.as_bytes()));
    }

    /// The connection was lost.
    pub(crate) fn lost_connection(&mut self, time: Time, error: &ConnectionError, early: bool) {
        self.end(time, || Ending::of(error, early));
    }

    /// Tells of the beginning with the first packet, whose header has the connection IDs.
    ///
    /// # Arguments
    /// * `ids` - makes own and peer's of destination and source.
    fn begin<'a>(
        &mut self,
        time: Time,
        ids: impl FnOnce((&'a [u8], Option<&'a [u8]>)) -> (&'a [u8], &'a [u8]),
        first: &'a Plaintext,
    ) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        let Some(qlog) = &mut self.qlog else { return };
        let (own, peers) = ids(header::connection_ids(first.header()));
        let (local, remote) = (self.subject.local_address(), self.subject.remote);
        qlog.connection_started(time, (local, own), (remote, peers));
        qlog.path_assigned(time, self.path, local, remote);
    }

    fn notice_validation(&mut self, time: Time, plaintext: &Plaintext) {
        let mut frames = Frames::new(plaintext.payload()).map_while(Result::ok);
        if frames.any(|frame| matches!(frame, Frame::PathResponse { .. })) {
            self.path_is_new = false;
            if let Some(qlog) = &mut self.qlog {
                qlog.migration_state_updated(time, self.path, MigrationState::MigrationComplete);
            }
        }
    }

    fn end(&mut self, time: Time, ending: impl FnOnce() -> Ending) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        if let Some(qlog) = &mut self.qlog {
            let Ending { owner, code, reason, trigger } = ending();
            qlog.connection_closed(time, owner, code, &reason, trigger);
            // A transfer is not worth less because its trace could not be written.
            let _ = qlog.flush();
        }
        if let Some(compact) = &mut self.compact {
            // As above.
            let _ = compact.flush();
        }
    }
}

fn packet(space: Space, number: u64, length: u64, plaintext: &Plaintext) -> Packet<'_> {
    let (dcid, scid) = header::connection_ids(plaintext.header());
    Packet {
        packet_type: packet_type(space),
        number,
        dcid,
        scid,
        length,
        payload: plaintext.payload(),
        ack_delay_exponent: OWN_ACK_DELAY_EXPONENT,
    }
}

fn packet_type(space: Space) -> PacketType {
    match space {
        Space::Initial => PacketType::Initial,
        Space::Handshake => PacketType::Handshake,
        Space::ZeroRtt => PacketType::ZeroRtt,
        Space::OneRtt => PacketType::OneRtt,
    }
}

/// A sender's state: its loss detector's, or else its controller's.
fn traced(detector: Option<DetectorState>, state: State) -> headway_trace::State {
    use headway_trace::State as Traced;
    match (detector, state) {
        (Some(DetectorState::TailLossProbe), _) => Traced::TailLossProbe,
        (Some(DetectorState::Pto), _) => Traced::Pto,
        (None, State::Init) => Traced::Init,
        (None, State::SlowStart) => Traced::SlowStart,
        (None, State::CongestionAvoidance) => Traced::CongestionAvoidance,
        (None, State::CongestionAvoidanceMaxed) => Traced::CongestionAvoidanceMaxed,
        (None, State::ApplicationLimited) => Traced::ApplicationLimited,
        (None, State::Recovery) => Traced::Recovery,
        (None, State::Startup) => Traced::Startup,
        (None, State::Drain) => Traced::Drain,
        (None, State::ProbeBw) => Traced::ProbeBw,
        (None, State::ProbeRtt) => Traced::ProbeRtt,
    }
}
