//! A sender's state, as traces tell it.

use std::time::Duration;

/// What a sender's congestion control and loss recovery know at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// Congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Slow start threshold in bytes; None until there has been congestion, or if the controller
    /// has none.
    pub ssthresh_bytes: Option<u64>,
    /// Bytes sent and neither acknowledged nor lost (RFC 9002 section 2).
    pub in_flight_bytes: u64,
    /// Smoothed round-trip time; None before the first sample, as the others of RFC 9002 section 5.
    pub smoothed_rtt: Option<Duration>,
    /// Latest sample of the round-trip time.
    pub latest_rtt: Option<Duration>,
    /// Least round-trip time.
    pub min_rtt: Option<Duration>,
    /// Mean deviation of the round-trip time (RFC 9002's rttvar).
    pub rtt_variance: Option<Duration>,
    /// Probe time-outs since the last acknowledgement.
    pub pto_count: u32,
    /// Bytes per second at which packets are let go; None without pacing.
    pub pacing_rate_bytes_per_s: Option<u64>,
}

/// What a sender is doing: the states that Kakhki et al. (IMC 2017) find in QUIC senders with CUBIC
/// and with BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// The connection is being set up.
    Init = 0,
    /// The window grows with every acknowledgement, below the slow start threshold.
    SlowStart = 1,
    /// The window grows slowly.
    CongestionAvoidance = 2,
    /// The window is as large as it may become.
    CongestionAvoidanceMaxed = 3,
    /// The application, or flow control, gives less than the window would let go.
    ApplicationLimited = 4,
    /// Lost packets are being made up for.
    Recovery = 5,
    /// Nothing has been acknowledged for a probe time-out.
    Pto = 6,
    /// The last packets have not been acknowledged, and one is sent to ask.
    TailLossProbe = 7,
    /// BBR: looking for the bandwidth, exponentially.
    Startup = 8,
    /// BBR: emptying the queue that Startup made.
    Drain = 9,
    /// BBR: cruising, with probes for more bandwidth.
    ProbeBw = 10,
    /// BBR: looking for the least round-trip time.
    ProbeRtt = 11,
}

impl State {
    /// The name in qlog, which spells its own states so.
    #[must_use]
    pub fn qlog_name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::SlowStart => "slow_start",
            Self::CongestionAvoidance => "congestion_avoidance",
            Self::CongestionAvoidanceMaxed => "congestion_avoidance_maxed",
            Self::ApplicationLimited => "application_limited",
            Self::Recovery => "recovery",
            Self::Pto => "pto",
            Self::TailLossProbe => "tail_loss_probe",
            Self::Startup => "startup",
            Self::Drain => "drain",
            Self::ProbeBw => "probe_bw",
            Self::ProbeRtt => "probe_rtt",
        }
    }
}
