//! Reno and CUBIC in the whole numbers of Linux 7.2.

use std::fmt;

use super::LinuxPart;
use crate::controller::Time;

/// The kernel's clock ticks a thousand times a second, as that of labs.
fn ticks(time: Time) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// How a window of whole packets grows and shrinks.
pub(crate) trait Law: Clone + fmt::Debug + Send {
    /// Packets to be acknowledged until the window grows by one, of which `acked` just were.
    fn packets_per_growth(&mut self, now: Time, window: u64, acked: u64) -> u64;

    /// The slow start threshold after congestion at a window.
    fn on_congestion(&mut self, window: u64) -> u64;

    /// A sample of the round-trip time.
    fn on_rtt(&mut self, _now: Time, _sample: Time) {}

    /// Whether samples say nothing yet of the path, right after a recovery.
    fn distrusts_samples(&self, _now: Time) -> bool {
        false
    }

    /// After a pause in which nothing was out.
    fn on_idle(&mut self, _now: Time, _pause: Time) {}

    /// A retransmission time-out.
    fn reset(&mut self) {}
}

/// The least slow start threshold.
const LEAST_THRESHOLD: u64 = 2;

/// A part of a window, in whole packets.
#[derive(Clone, Debug, Default)]
struct Shrinking {
    /// Fractions are carried over to the next time, and not cut off.
    carries: bool,
    carried: u64,
}

impl Shrinking {
    fn without(part: Option<LinuxPart>) -> Self {
        Self { carries: part == Some(LinuxPart::Rounding), carried: 0 }
    }

    fn shrink(&mut self, window: u64, share: u64, of: u64) -> u64 {
        let product = window * share + self.carried;
        self.carried = if self.carries { product % of } else { 0 };
        (product / of).max(LEAST_THRESHOLD)
    }
}

/// RFC 5681 in whole packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reno {
    shrinking: Shrinking,
}

impl Reno {
    pub(crate) fn without(part: Option<LinuxPart>) -> Self {
        Self { shrinking: Shrinking::without(part) }
    }
}

impl Law for Reno {
    fn packets_per_growth(&mut self, _now: Time, window: u64, _acked: u64) -> u64 {
        window
    }

    fn on_congestion(&mut self, window: u64) -> u64 {
        self.shrinking.shrink(window, 1, 2)
    }
}

/// Its factor on congestion, 0.7, and what it shares are counted in.
const BETA: u64 = 717;
const ONE: u64 = 1024;
/// The cubic function's factor, 0.4, in the same.
const C: u64 = 410;
/// Windows acknowledged until Reno's window grows by one, in eighths: (1 + beta) / (3 (1 - beta)).
const FRIENDLY_EIGHTHS: u64 = 8 * (ONE + BETA) / 3 / (ONE - BETA);
/// While the window stays, the function is evaluated every 31 ticks.
const EVALUATION_TICKS: u64 = 1000 / 32;
/// Packets per growth at most before the first congestion: 5 % a round.
const UNKNOWN_PATH: u64 = 20;
/// And at least: half a window a round.
const FASTEST: u64 = 2;
/// The window hardly grows while it is above the function.
const SLOWEST_WINDOWS: u64 = 100;

/// A stage of growth.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: u64,
    /// Until the origin, in 1/1024 s.
    k: u64,
    origin: u64,
    /// Packets acknowledged that Reno's window has not grown by.
    acked: u64,
    /// Reno's window.
    reno: u64,
}

/// CUBIC. RFC 9438 describes it but for the arithmetic: windows are whole, and the function is evaluated
/// not at every acknowledgement but when the window changed or 31 ms are over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cubic {
    epoch: Option<Epoch>,
    last_max: u64,
    /// The window and the tick of the latest evaluation.
    evaluated: Option<(u64, u64)>,
    per_growth: u64,
    least_delay: Option<Time>,
    shrinking: Shrinking,
    /// The function is evaluated at every acknowledgement.
    is_eager: bool,
}

impl Cubic {
    pub(crate) fn without(part: Option<LinuxPart>) -> Self {
        let shrinking = Shrinking::without(part);
        Self { shrinking, is_eager: part == Some(LinuxPart::Ticks), ..Self::default() }
    }

    fn begin(&self, now: u64, window: u64, acked: u64) -> Epoch {
        let (origin, k) = if self.last_max <= window {
            (window, 0)
        } else {
            let cube = u128::from(self.last_max - window) * (1 << 40) / u128::from(C);
            (self.last_max, cube_root(cube))
        };
        Epoch { start: now, k, origin, acked, reno: window }
    }

    fn cubic(&self, epoch: &Epoch, now: u64, window: u64) -> u64 {
        let ahead = ticks(self.least_delay.unwrap_or_default());
        let t = (now.saturating_sub(epoch.start) + ahead) * ONE / 1000;
        let distance = u128::from(t.abs_diff(epoch.k));
        let delta = u64::try_from(u128::from(C) * distance.pow(3) >> 40).unwrap_or(u64::MAX);
        let target = if t < epoch.k {
            epoch.origin.saturating_sub(delta)
        } else {
            epoch.origin.saturating_add(delta)
        };
        let per_growth = match target.checked_sub(window) {
            None | Some(0) => window * SLOWEST_WINDOWS,
            Some(missing) => window / missing,
        };
        if self.last_max == 0 { per_growth.min(UNKNOWN_PATH) } else { per_growth }
    }
}

impl Epoch {
    /// Packets per growth if Reno would be ahead.
    fn friendly(&mut self, window: u64) -> Option<u64> {
        let per_growth = (window * FRIENDLY_EIGHTHS / 8).max(1);
        while self.acked > per_growth {
            self.acked -= per_growth;
            self.reno += 1;
        }
        self.reno.checked_sub(window).filter(|ahead| *ahead > 0).map(|ahead| window / ahead)
    }
}

impl Law for Cubic {
    fn packets_per_growth(&mut self, now: Time, window: u64, acked: u64) -> u64 {
        let now = ticks(now);
        if let Some(epoch) = &mut self.epoch {
            epoch.acked += acked;
        }
        if let Some((at_window, at)) = self.evaluated {
            let is_recent = now.saturating_sub(at) <= EVALUATION_TICKS;
            if at_window == window && is_recent && !self.is_eager {
                return self.per_growth;
            }
        }
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(now, window, acked));
        // The function is evaluated once a tick at most.
        let again = self.epoch.is_some() && self.evaluated.is_some_and(|(_, at)| at == now);
        if !again {
            self.evaluated = Some((window, now));
            self.per_growth = self.cubic(&epoch, now, window);
        }
        if let Some(friendly) = epoch.friendly(window) {
            self.per_growth = self.per_growth.min(friendly);
        }
        self.epoch = Some(epoch);
        self.per_growth = self.per_growth.max(FASTEST);
        self.per_growth
    }

    fn on_congestion(&mut self, window: u64) -> u64 {
        self.epoch = None;
        // Fast convergence.
        let shrinking = window < self.last_max;
        self.last_max = if shrinking { window * (ONE + BETA) / (2 * ONE) } else { window };
        self.shrinking.shrink(window, BETA, ONE)
    }

    fn on_rtt(&mut self, now: Time, sample: Time) {
        if !self.distrusts_samples(now) {
            let least = self.least_delay.map_or(sample, |least| least.min(sample));
            self.least_delay = Some(least);
        }
    }

    fn distrusts_samples(&self, now: Time) -> bool {
        self.epoch.is_some_and(|epoch| ticks(now).saturating_sub(epoch.start) < 1000)
    }

    fn on_idle(&mut self, now: Time, pause: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + ticks(pause)).min(ticks(now));
        }
    }

    fn reset(&mut self) {
        let (shrinking, is_eager) = (std::mem::take(&mut self.shrinking), self.is_eager);
        *self = Self { shrinking, is_eager, ..Self::default() };
    }
}

/// The largest whole number whose cube is not above.
fn cube_root(cube: u128) -> u64 {
    let mut root = (cube as f64).cbrt() as u64;
    while u128::from(root).pow(3) > cube {
        root -= 1;
    }
    while u128::from(root + 1).pow(3) <= cube {
        root += 1;
    }
    root
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ms(value: u64) -> Time {
        Duration::from_millis(value)
    }

    #[test]
    fn windows_are_whole() {
        assert_eq!(Cubic::default().on_congestion(7), 4, "and not 4.9");
        assert_eq!(Cubic::default().on_congestion(2), 2);
        let mut reno = Reno::default();
        assert_eq!((reno.on_congestion(7), reno.on_congestion(3)), (3, 2));
        assert_eq!(reno.packets_per_growth(ms(0), 7, 1), 7);
    }

    #[test]
    fn what_is_cut_off_can_be_carried_over() {
        let mut reno = Reno::without(Some(LinuxPart::Rounding));
        assert_eq!([7, 7, 7, 8].map(|window| reno.on_congestion(window)), [3, 4, 3, 4]);
    }

    #[test]
    fn the_function_can_be_looked_at_every_time() {
        let mut law = Cubic::without(Some(LinuxPart::Ticks));
        law.on_congestion(10);
        law.packets_per_growth(ms(0), 10, 1);
        assert_eq!(law.packets_per_growth(ms(20), 10, 18), 10, "19 of 18");
    }

    #[test]
    fn cubes_have_roots() {
        for root in [0, 1, 2, 1000, 4217, 1_000_000] {
            let cube = u128::from(root).pow(3);
            assert_eq!(cube_root(cube), root);
            assert_eq!(cube_root(cube + u128::from(root)), root);
        }
    }

    #[test]
    fn the_function_is_flat_at_the_old_window() {
        let mut law = Cubic::default();
        law.on_congestion(1000);
        // 0.4 (t - 9.086)^3 + 1000, K = cbrt(1000 * 0.3 / 0.4) = 9.086 s.
        assert_eq!(law.packets_per_growth(ms(0), 700, 1), 700, "it begins at 700 and a fraction");
        let growth = law.packets_per_growth(ms(2000), 700, 1);
        // 0.4 (2 - 9.086)^3 + 1000 = 857.7, so 157 packets in a window of 700.
        assert_eq!(growth, 700 / 157);
        assert_eq!(law.packets_per_growth(ms(9086), 1000, 1), 100_000);
    }

    #[test]
    fn an_unknown_path_is_worth_a_twentieth_a_round() {
        assert_eq!(Cubic::default().packets_per_growth(ms(0), 100, 1), 20);
    }

    /// Reno's window of 10 grows by one when more than 18 packets are acknowledged: 1.875 windows, in whole
    /// packets.
    #[test]
    fn small_windows_grow_as_reno_but_only_when_looked_at() {
        let mut law = Cubic::default();
        law.on_congestion(10);
        assert_eq!(law.packets_per_growth(ms(0), 10, 1), 1000);
        assert_eq!(law.packets_per_growth(ms(20), 10, 18), 1000, "19, but within 31 ticks");
        assert_eq!(law.packets_per_growth(ms(31), 10, 0), 1000, "still within");
        assert_eq!(law.packets_per_growth(ms(32), 10, 0), 10);
    }

    /// What is missing to the old window is cut to whole packets, so that the target is above the window
    /// from the beginning.
    #[test]
    fn cutting_off_makes_small_windows_grow_at_once() {
        let mut law = Cubic::default();
        law.on_congestion(10);
        // 10 - 2 (of 2.8) = 8.
        assert_eq!(law.packets_per_growth(ms(40), 7, 1), 7);
    }

    #[test]
    fn a_shrinking_share_converges_fast() {
        let mut law = Cubic::default();
        law.on_congestion(100);
        law.on_congestion(80);
        assert_eq!(law.last_max, 68, "80 (1 + 0.7) / 2");
    }

    #[test]
    fn a_pause_does_not_age_the_stage() {
        let mut law = Cubic::default();
        law.on_congestion(1000);
        law.packets_per_growth(ms(0), 700, 1);
        law.on_idle(ms(60_000), ms(60_000));
        assert_eq!(law.packets_per_growth(ms(60_000), 700, 1), 700);
    }
}
