//! What a sender tells a congestion controller, and what it asks.

use std::fmt;
use std::time::Duration;

use crate::Rate;
use crate::phase::PhaseUpdate;

/// Time since the connection began.
pub type Time = Duration;

/// A packet that counts as in flight (RFC 9002, section 2) is being sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Its number: strictly increasing over all packet number spaces of the connection.
    pub number: u64,
    /// Its size.
    pub bytes: u64,
    /// When it is sent.
    pub at: Time,
    /// Bytes in flight before it.
    pub in_flight: u64,
}

/// A sent packet whose fate is now known.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Its number, as in [`Sent`].
    pub number: u64,
    /// Its size.
    pub bytes: u64,
    /// When it was sent.
    pub sent_at: Time,
}

/// The round-trip time estimates of RFC 9002, section 5.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rtt {
    /// The latest sample, acknowledgement delay included (`latest_rtt`).
    pub latest: Duration,
    /// The smoothed estimate (`smoothed_rtt`); zero until there was a sample.
    pub smoothed: Duration,
    /// The least sample (`min_rtt`).
    pub min: Duration,
    /// The mean deviation (`rttvar`).
    pub variation: Duration,
    /// The latest sample without what the peer says that it waited with the acknowledgement, but not
    /// below the least sample: what the path took.
    pub undelayed: Duration,
}

/// Packets were newly acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// When the acknowledgement arrived.
    pub now: Time,
    /// The newly acknowledged packets, in any order.
    pub packets: &'a [Acked],
    /// The estimates, this acknowledgement included.
    pub rtt: Rtt,
    /// Bytes in flight without these packets.
    pub in_flight: u64,
    /// Whether the window held a packet back since the previous acknowledgement, rather than the
    /// application or the pacer. Controllers also see in [`Controller::on_sent`] that the window
    /// was filled, so a sender that does not know may say `false`.
    pub cwnd_limited: bool,
}

/// Packets were declared lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss<'a> {
    /// When they were.
    pub now: Time,
    /// The lost packets, in any order.
    pub packets: &'a [Acked],
    /// Bytes in flight without these packets.
    pub in_flight: u64,
    /// Whether the loss establishes persistent congestion (RFC 9002, section 7.6).
    pub persistent: bool,
    /// The number of the packet sent last.
    pub largest_sent: u64,
}

/// The peer reports more ECN-CE marks than before (RFC 9002, section 7.1).
#[derive(Clone, Copy, Debug)]
pub struct Ecn {
    /// When the report arrived.
    pub now: Time,
    /// The largest packet number newly acknowledged by the report.
    pub number: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// The number of the packet sent last.
    pub largest_sent: u64,
    /// How many more packets it reports as marked.
    pub marked: u64,
}

/// Packets that had been declared lost were acknowledged after all.
#[derive(Clone, Copy, Debug)]
pub struct SpuriousLoss<'a> {
    /// When the acknowledgement arrived.
    pub now: Time,
    /// The packets, in any order.
    pub packets: &'a [Acked],
}

/// What a controller is doing, for traces.
///
/// The states of loss-based controllers are those of the instrumented Chromium in Kakhki et al.,
/// "Taking a Long Look at QUIC" (IMC 2017), table 3. Those of its loss detector (probe timeouts
/// and tail loss probes) are not a controller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Nothing was acknowledged yet.
    Init,
    /// The window is below the slow start threshold.
    SlowStart,
    /// The window grows by the controller's law.
    CongestionAvoidance,
    /// The window is as large as the configuration allows.
    CongestionAvoidanceMaxed,
    /// The window is not used up, and therefore does not grow.
    ApplicationLimited,
    /// Packets sent before a congestion event are still out.
    Recovery,
    /// BBR looks for the bottleneck's rate, doubling its own each round.
    Startup,
    /// BBR drains the queue that startup built.
    Drain,
    /// BBR cycles around the rate it found.
    ProbeBw,
    /// BBR empties the pipe to see the propagation delay.
    ProbeRtt,
}

impl State {
    /// Its name in traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Init => "Init",
            Self::SlowStart => "SlowStart",
            Self::CongestionAvoidance => "CongestionAvoidance",
            Self::CongestionAvoidanceMaxed => "CongestionAvoidanceMaxed",
            Self::ApplicationLimited => "ApplicationLimited",
            Self::Recovery => "Recovery",
            Self::Startup => "Startup",
            Self::Drain => "Drain",
            Self::ProbeBw => "ProbeBW",
            Self::ProbeRtt => "ProbeRTT",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A congestion controller of one path.
///
/// For one arriving acknowledgement the order of calls is that of RFC 9002, appendix A.7:
/// [`on_spurious_loss`](Self::on_spurious_loss), [`on_ecn`](Self::on_ecn),
/// [`on_loss`](Self::on_loss), then [`on_ack`](Self::on_ack). Each packet is acknowledged, lost,
/// or forgotten with its keys; a lost one may turn out to be spuriously lost.
pub trait Controller: fmt::Debug + Send {
    /// A packet is sent. Called for packets in flight only.
    fn on_sent(&mut self, sent: &Sent);

    /// Packets were acknowledged.
    fn on_ack(&mut self, ack: &Ack<'_>);

    /// Packets were lost.
    fn on_loss(&mut self, loss: &Loss<'_>);

    /// Congestion was marked.
    fn on_ecn(&mut self, ecn: &Ecn);

    /// Losses were not losses. Controllers that cannot take a reduction back ignore it.
    fn on_spurious_loss(&mut self, _spurious: &SpuriousLoss<'_>) {}

    /// A probe timeout expired. RFC 9002, section 6.2.1: the window stays.
    fn on_pto(&mut self, _now: Time) {}

    /// The window has room, and there is nothing to send.
    fn on_application_limited(&mut self, now: Time, in_flight: u64);

    /// Bytes that may be in flight.
    fn window(&self) -> u64;

    /// Bytes that may leave with so many in flight. One more packet may leave if there are any.
    fn room(&self, in_flight: u64) -> u64 {
        self.window().saturating_sub(in_flight)
    }

    /// The slow start threshold in bytes; none while it is infinite or the controller has none.
    fn ssthresh(&self) -> Option<u64>;

    /// How fast packets may leave; none if they need not be paced, or no round-trip time is known.
    fn pacing_rate(&self, rtt: &Rtt) -> Option<Rate>;

    /// What the controller is doing.
    fn state(&self) -> State;

    /// The next phase of Careful Resume that was entered and not yet told of; none if there is none,
    /// and always without a saved window.
    fn next_phase_update(&mut self) -> Option<PhaseUpdate> {
        None
    }
}
