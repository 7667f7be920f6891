//! What Careful Resume (RFC 9959) begins with and tells traces of: below the controllers, which pass it on.

use std::time::Duration;

/// A path is not the saved one if its round-trip time is the saved one's half or less (section
/// 3.2) ...
const SHORTEST_RTT: f64 = 0.5;
/// ... or more than so many times it (section 4.2.1).
const LONGEST_RTT: u32 = 10;

/// What is saved of a path (RFC 9959, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// `saved_cwnd`: bytes that the path takes in a round trip.
    pub window: u64,
    /// `saved_rtt`: its least round-trip time.
    pub rtt: Duration,
}

impl Saved {
    /// Whether a path of this least round-trip time may be the saved one.
    pub(crate) fn matches(&self, least: Duration) -> bool {
        least > self.rtt.mul_f64(SHORTEST_RTT) && least <= self.rtt.saturating_mul(LONGEST_RTT)
    }
}

/// A phase of Careful Resume (RFC 9959, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The path is compared with the saved one (section 3.2).
    Reconnaissance,
    /// Packets beyond the controller's own window leave (section 3.3).
    Unvalidated,
    /// Their acknowledgements are awaited (section 3.4).
    Validating,
    /// They caused congestion, and are drained (section 3.5).
    SafeRetreat,
    /// Careful Resume is over (section 3.7).
    Normal,
}

impl Phase {
    /// Its name in qlog (draft-ietf-tsvwg-careful-resume-qlog-02).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reconnaissance => "reconnaissance",
            Self::Unvalidated => "unvalidated",
            Self::Validating => "validating",
            Self::SafeRetreat => "safe_retreat",
            Self::Normal => "normal",
        }
    }
}

/// Why a phase ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// The path is confirmed, and the window holds data back.
    CongestionWindowLimited,
    /// The round-trip time is not the saved one (section 4.2.1).
    RttNotValidated,
    /// The window is full.
    LastUnvalidatedPacketSent,
    /// The first packet beyond the controller's own window was acknowledged.
    FirstUnvalidatedPacketAcknowledged,
    /// The Unvalidated Phase lasted longer than a round-trip time.
    RttExceeded,
    /// There was too little data to try the window.
    RateLimited,
    /// All packets beyond the controller's own window were acknowledged, or later ones.
    LastUnvalidatedPacketAcknowledged,
    /// The round-trip time became too short.
    PathChanged,
    /// A packet was lost.
    PacketLoss,
    /// The network marked a packet.
    EcnCe,
    /// After congestion, the last unvalidated packet was acknowledged, or a later one.
    ExitRecovery,
}

impl Trigger {
    /// Its name in qlog (draft-ietf-tsvwg-careful-resume-qlog-02).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CongestionWindowLimited => "congestion_window_limited",
            Self::RttNotValidated => "rtt_not_validated",
            Self::LastUnvalidatedPacketSent => "last_unvalidated_packet_sent",
            Self::FirstUnvalidatedPacketAcknowledged => "first_unvalidated_packet_acknowledged",
            Self::RttExceeded => "rtt_exceeded",
            Self::RateLimited => "rate_limited",
            Self::LastUnvalidatedPacketAcknowledged => "last_unvalidated_packet_acknowledged",
            Self::PathChanged => "path_changed",
            Self::PacketLoss => "packet_loss",
            Self::EcnCe => "ECN_CE",
            Self::ExitRecovery => "exit_recovery",
        }
    }
}

/// A sender entered another phase, with its state after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseUpdate {
    /// The phase before; none at the beginning.
    pub old: Option<Phase>,
    /// The phase now.
    pub new: Phase,
    /// Why; none at the beginning, and if the saved window has become of no use.
    pub trigger: Option<Trigger>,
    /// The validated capacity, `PipeSize`, in bytes.
    pub pipe_size: u64,
    /// The congestion window in bytes.
    pub window: u64,
    /// The slow start threshold in bytes; none while there is none.
    pub ssthresh: Option<u64>,
    /// What it resumes from.
    pub saved: Saved,
}
