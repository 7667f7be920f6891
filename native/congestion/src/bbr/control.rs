//! What either version of BBR sends by: its window, its pacing rate and its loss recovery.

use std::time::Duration;

use crate::rate::Rate;
use crate::settings::Settings;

/// `BBRMinPipeCwnd`, in datagrams.
pub(super) const MIN_PIPE: u64 = 4;
/// `ProbeRTTDuration`.
pub(super) const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// The round-trip time that the first pacing rate assumes while none is known.
const ASSUMED_RTT: Duration = Duration::from_millis(1);
/// The most bytes of a burst, and the time whose bytes it has within its limits.
const MAX_BURST: u64 = 65_536;
const BURST_TIME: Duration = Duration::from_millis(1);

/// A loss recovery, by packet numbers.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// The packet sent last when it began: its first round lasts until a later one is acknowledged.
    first_round_end: u64,
    /// The packet sent last at the latest loss: it lasts until a later one is acknowledged.
    end: u64,
}

/// The control parameters (draft-ietf-ccwg-bbr-06, section 2.4), and what of them is kept.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) settings: Settings,
    startup_gain: f64,
    window: u64,
    /// The window to return to after recovery or `ProbeRTT`.
    saved_window: u64,
    /// None before the first acknowledgement.
    pacing_rate: Option<Rate>,
    recovery: Option<Recovery>,
}

impl Control {
    /// # Arguments
    /// * `startup_gain` - of the pacing rate while the pipe is not full.
    pub(super) fn new(settings: &Settings, startup_gain: f64) -> Self {
        Self {
            settings: *settings,
            startup_gain,
            window: settings.clamp(settings.initial_window),
            saved_window: 0,
            pacing_rate: None,
            recovery: None,
        }
    }

    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Sets the window, within the settings.
    pub(super) fn set_window(&mut self, window: u64) {
        self.window = self.settings.clamp(window);
    }

    /// `BBRMinPipeCwnd`.
    pub(super) fn min_pipe(&self) -> u64 {
        self.settings.datagram.saturating_mul(MIN_PIPE)
    }

    /// The pacing rate; none before the first acknowledgement.
    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }

    /// The pacing rate, or the one before the first acknowledgement (`BBRInitPacingRate`).
    pub(super) fn pacing_rate_or_first(&self, srtt: Duration) -> Rate {
        self.pacing_rate.unwrap_or_else(|| {
            let rtt = if srtt.is_zero() { ASSUMED_RTT } else { srtt };
            let nominal = Rate::over(self.settings.initial_window, rtt).unwrap_or_default();
            nominal.scaled(self.startup_gain)
        })
    }

    /// An acknowledgement came: there is a pacing rate from now on.
    pub(super) fn begin_pacing(&mut self, srtt: Duration) {
        self.pacing_rate = Some(self.pacing_rate_or_first(srtt));
    }

    /// Sets the pacing rate, which falls only once the pipe is full (`BBRSetPacingRateWithGain`).
    pub(super) fn set_pacing_rate(&mut self, rate: Rate, is_full: bool) {
        if is_full || self.pacing_rate.is_none_or(|slower| rate > slower) {
            self.pacing_rate = Some(rate);
        }
    }

    /// The bytes of a millisecond, and not more than a burst may have.
    pub(super) fn burst(&self) -> u64 {
        self.pacing_rate.unwrap_or_default().bytes_in(BURST_TIME).min(MAX_BURST)
    }

    /// Notes the window that is to be reduced (`BBRSaveCwnd`).
    pub(super) fn save_window(&mut self, probing_rtt: bool) {
        let reduced = self.recovery.is_some() || probing_rtt;
        self.saved_window = if reduced { self.saved_window.max(self.window) } else { self.window };
    }

    /// Returns to the window that was noted (`BBRRestoreCwnd`).
    pub(super) fn restore_window(&mut self) {
        self.window = self.window.max(self.saved_window);
    }

    pub(super) fn is_recovering(&self) -> bool {
        self.recovery.is_some()
    }

    /// Whether an acknowledgement belongs to the first round of a recovery; none outside of any.
    pub(super) fn is_first_round(&self, largest_acked: u64) -> Option<bool> {
        self.recovery.map(|recovery| largest_acked <= recovery.first_round_end)
    }

    /// Something was lost: the recovery begins, or lasts until a later packet than the one sent last.
    pub(super) fn recover(&mut self, last_sent: u64) {
        let first_round_end = self.recovery.map_or(last_sent, |recovery| recovery.first_round_end);
        self.recovery = Some(Recovery { first_round_end, end: last_sent });
    }

    /// Ends the recovery once a packet is acknowledged that was sent after its last loss.
    pub(super) fn check_recovery(&mut self, largest_acked: u64) {
        if self.recovery.is_some_and(|recovery| largest_acked > recovery.end) {
            self.recovery = None;
            self.restore_window();
        }
    }
}
