use std::time::Duration;

/// A stated cost of processing packets: the model of a slow device.
///
/// In virtual time computing costs nothing. A program of one thread that sleeps for as long as a
/// slow processor would have computed does nothing else meanwhile, and the kernel's socket buffers
/// fill, as on the slow device (Kakhki 2017, section 5.2: phones).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuCost {
    /// For each datagram sent.
    pub per_sent: Duration,
    /// For each datagram received.
    pub per_received: Duration,
}

impl CpuCost {
    /// Spends the cost of datagrams just sent.
    pub fn spend_sent(&self, datagrams: usize) {
        spend(self.per_sent, datagrams);
    }

    /// Spends the cost of datagrams just received.
    pub fn spend_received(&self, datagrams: usize) {
        spend(self.per_received, datagrams);
    }

    /// What a number of datagrams received and sent costs in all.
    #[must_use]
    pub fn of(&self, received: u32, sent: u32) -> Duration {
        self.per_received * received + self.per_sent * sent
    }
}

fn spend(cost: Duration, datagrams: usize) {
    let total = cost * u32::try_from(datagrams).unwrap_or(u32::MAX);
    if !total.is_zero() {
        std::thread::sleep(total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_add_up() {
        let us = Duration::from_micros;
        let cost = CpuCost { per_sent: us(30), per_received: us(50) };
        // 4 received at 50 us and 2 sent at 30 us.
        assert_eq!(cost.of(4, 2), us(260));
        assert_eq!(CpuCost::default().of(1000, 1000), Duration::ZERO);
    }
}
