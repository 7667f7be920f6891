//! NewReno (RFC 9002, section 7.3).

use std::num::NonZeroU32;

use crate::loss_based::{Progress, WindowLaw};

/// The window's factor on congestion (RFC 9002, `kLossReductionFactor`).
const BETA: f64 = 0.5;

/// Grows by a datagram per acknowledged window, and halves.
#[derive(Clone, Debug)]
pub(crate) struct NewReno {
    datagram: u64,
    /// How many connections it is as aggressive as.
    connections: u32,
    /// Acknowledged bytes, times the connections, that have not made the window grow yet.
    credit: u64,
}

impl NewReno {
    pub(crate) fn new(datagram: u64, connections: NonZeroU32) -> Self {
        Self { datagram, connections: connections.get(), credit: 0 }
    }
}

impl WindowLaw for NewReno {
    fn avoidance_growth(&mut self, progress: &Progress) -> u64 {
        let earned = progress.bytes.saturating_mul(u64::from(self.connections));
        self.credit = self.credit.saturating_add(earned);
        let datagrams = self.credit / progress.window;
        self.credit %= progress.window;
        datagrams.saturating_mul(self.datagram)
    }

    fn on_congestion(&mut self, window: u64) -> u64 {
        self.credit = 0;
        (window as f64 * several(BETA, self.connections)) as u64
    }
}

/// The factor of `connections` connections of which one shrinks by `beta`.
pub(crate) fn several(beta: f64, connections: u32) -> f64 {
    let connections = f64::from(connections);
    (connections - 1.0 + beta) / connections
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::{Rtt, Time};

    fn reno(connections: u32) -> NewReno {
        NewReno::new(1000, NonZeroU32::new(connections).expect("not zero"))
    }

    fn grow(law: &mut NewReno, window: u64, bytes: u64) -> u64 {
        let (now, rtt) = (Time::ZERO, Rtt::default());
        law.avoidance_growth(&Progress { now, bytes, window, rtt })
    }

    #[test]
    fn a_window_acknowledged_is_worth_a_datagram() {
        let mut law = reno(1);
        let growth: Vec<_> = (0..10).map(|_| grow(&mut law, 10_000, 1000)).collect();
        assert_eq!(growth, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1000]);
        assert_eq!(grow(&mut law, 10_000, 9_999), 0);
        assert_eq!(grow(&mut law, 10_000, 10_001), 2000, "nothing is forgotten");
    }

    #[test]
    fn congestion_halves_the_window() {
        assert_eq!(reno(1).on_congestion(10_000), 5000);
    }

    #[test]
    fn two_connections_grow_twice_and_lose_a_quarter() {
        let mut law = reno(2);
        assert_eq!(grow(&mut law, 10_000, 5000), 1000);
        assert_eq!(law.on_congestion(10_000), 7500);
    }
}
