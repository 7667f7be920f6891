//! What all controllers are set to.

/// How much faster than one window per smoothed round-trip time loss-based controllers send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacingGains {
    /// While the window is below half the slow start threshold.
    pub slow_start: f64,
    /// Later.
    pub avoidance: f64,
}

impl Default for PacingGains {
    /// 2 in slow start, as Linux (`tcp_pacing_ss_ratio`): the window doubles within the round.
    /// 1.25 later, as RFC 9002, section 7.7, suggests; Linux has 1.2.
    fn default() -> Self {
        Self { slow_start: 2.0, avoidance: 1.25 }
    }
}

/// The least window, in datagrams (RFC 9002, section 7.2).
pub(crate) const MIN_WINDOW: u64 = 2;

/// Settings of all controllers, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// A full-sized datagram.
    pub(crate) datagram: u64,
    pub(crate) initial_window: u64,
    pub(crate) max_window: Option<u64>,
    /// Where slow start ends at the beginning; none for no such place.
    pub(crate) initial_ssthresh: Option<u64>,
    pub(crate) pacing: Option<PacingGains>,
}

impl Settings {
    /// `window`, neither too small nor too large.
    pub(crate) fn clamp(&self, window: u64) -> u64 {
        let least = self.datagram.saturating_mul(MIN_WINDOW);
        window.min(self.max_window.unwrap_or(u64::MAX)).max(least)
    }
}
