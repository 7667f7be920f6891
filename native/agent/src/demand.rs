//! Capacity on demand: what a terminal asks for at the beginning of superframes, and what it is granted.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// How a terminal gets capacity. Python's `headway.contract.carrier.Demand` says what each means.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Demand {
    pub(crate) superframe_ns: u64,
    pub(crate) latency_superframes: u64,
    pub(crate) every_superframes: u64,
    pub(crate) constant_bit_s: u64,
    /// Nought if it may not ask for a rate.
    pub(crate) rate_bit_s: u64,
    /// Nought if it may not ask for a volume.
    pub(crate) volume_bytes: u64,
}

/// A request that is on its way to the scheduler, or its grant on the way back.
struct Request {
    granted_in: u64,
    rate_bit_s: Option<u64>,
    volume_bytes: u64,
}

/// The terminal's account of what it asked for and what it was granted.
pub(crate) struct Account {
    demand: Demand,
    /// Of the superframe that has begun.
    number: u64,
    requests: VecDeque<Request>,
    rate_bit_s: u64,
    /// Granted, and not yet in a superframe.
    credit_bytes: u64,
    /// Asked for, and not yet granted.
    asked_bytes: u64,
    /// Since the last request.
    arrived_bytes: u64,
}

impl Account {
    pub(crate) fn new(demand: Demand) -> Self {
        let requests = VecDeque::new();
        Self {
            demand,
            number: 0,
            requests,
            rate_bit_s: 0,
            credit_bytes: 0,
            asked_bytes: 0,
            arrived_bytes: 0,
        }
    }

    /// When the superframe after the one that has begun begins, from the first one on.
    pub(crate) fn next_ns(&self) -> u64 {
        (self.number + 1) * self.demand.superframe_ns
    }

    /// Whether all stays as it is until something is asked for.
    pub(crate) fn is_quiet(&self) -> bool {
        self.requests.is_empty() && self.rate_bit_s == 0 && self.credit_bytes == 0
    }

    /// Skip superframes in which nothing is asked for or granted, up to the one of a time.
    pub(crate) fn skip_until(&mut self, since_first_ns: u64) {
        self.number = self.number.max(since_first_ns / self.demand.superframe_ns);
    }

    /// What the superframe that has begun has without any request.
    pub(crate) fn constant_bit_s(&self, most_bit_s: u64) -> u64 {
        self.demand.constant_bit_s.min(most_bit_s)
    }

    /// Begin the next superframe with so many bytes waiting; returns its rate, of what the carrier has at most.
    pub(crate) fn begin(&mut self, backlog: Backlog, most_bit_s: u64) -> u64 {
        self.number += 1;
        self.arrived_bytes += backlog.arrived_bytes;
        if self.number % self.demand.every_superframes == 0 {
            self.ask(backlog.waiting_bytes);
            self.arrived_bytes = 0;
        }
        while self.requests.front().is_some_and(|request| request.granted_in <= self.number) {
            let Some(request) = self.requests.pop_front() else { break };
            self.rate_bit_s = request.rate_bit_s.unwrap_or(self.rate_bit_s);
            self.credit_bytes += request.volume_bytes;
            self.asked_bytes -= request.volume_bytes;
        }
        let steady = (self.demand.constant_bit_s + self.rate_bit_s).min(most_bit_s);
        let room_bytes = self.bytes_in_superframe(most_bit_s - steady);
        let volume_bytes = self.credit_bytes.min(room_bytes);
        self.credit_bytes -= volume_bytes;
        steady + bits_per_second(volume_bytes, self.demand.superframe_ns)
    }

    fn ask(&mut self, waiting_bytes: u64) {
        let span_ns = self.span_ns();
        let new_bytes = self.arrived_bytes.min(waiting_bytes);
        let old_bytes = (waiting_bytes - new_bytes).saturating_sub(self.awaited_bytes());
        let latency_ns = (self.demand.latency_superframes * self.demand.superframe_ns).max(span_ns);
        let wanted = bits_per_second(new_bytes, span_ns) + bits_per_second(old_bytes, latency_ns);
        let rate = wanted.min(self.demand.rate_bit_s);
        let unasked = waiting_bytes.saturating_sub(self.asked_bytes + self.credit_bytes);
        let volume_bytes = unasked.min(self.demand.volume_bytes);
        let asks_for_rate = self.demand.rate_bit_s > 0 && (rate, self.last_asked()) != (0, 0);
        if volume_bytes > 0 || asks_for_rate {
            self.asked_bytes += volume_bytes;
            self.requests.push_back(Request {
                granted_in: self.number + self.demand.latency_superframes,
                rate_bit_s: asks_for_rate.then_some(rate),
                volume_bytes,
            });
        }
    }

    /// The rate that it asked for last.
    fn last_asked(&self) -> u64 {
        let asked = self.requests.iter().rev().find_map(|request| request.rate_bit_s);
        asked.unwrap_or(self.rate_bit_s)
    }

    /// From a request to the next.
    fn span_ns(&self) -> u64 {
        self.demand.every_superframes * self.demand.superframe_ns
    }

    /// What the rates that it asked for and has not got yet will carry.
    fn awaited_bytes(&self) -> u64 {
        let rates = self.requests.iter().filter_map(|request| request.rate_bit_s);
        rates.map(|rate| bytes_in(rate, self.span_ns())).sum()
    }

    fn bytes_in_superframe(&self, rate_bit_s: u64) -> u64 {
        bytes_in(rate_bit_s, self.demand.superframe_ns)
    }
}

/// What waits when a superframe begins, and what of it came since the one before, in whole frames: what is
/// granted is never part of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog {
    pub(crate) waiting_bytes: u64,
    pub(crate) arrived_bytes: u64,
}

const BIT_NS_PER_BYTE_S: u128 = 8 * 1_000_000_000;

fn bytes_in(rate_bit_s: u64, span_ns: u64) -> u64 {
    (u128::from(rate_bit_s) * u128::from(span_ns) / BIT_NS_PER_BYTE_S) as u64
}

/// Rounded up, so that what was granted is sent by the end of its superframe.
fn bits_per_second(bytes: u64, span_ns: u64) -> u64 {
    (u128::from(bytes) * BIT_NS_PER_BYTE_S).div_ceil(u128::from(span_ns)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn demand() -> Demand {
        Demand {
            superframe_ns: 10 * MS,
            latency_superframes: 5,
            every_superframes: 1,
            constant_bit_s: 0,
            rate_bit_s: 0,
            volume_bytes: 0,
        }
    }

    /// Rates of superframes that begin with so many bytes waiting; what is more than before has come since.
    fn rates(demand: Demand, waiting: &[u64]) -> Vec<u64> {
        let (mut account, mut before) = (Account::new(demand), 0);
        let begin = |bytes: &u64| {
            let arrived_bytes = bytes.saturating_sub(before);
            before = *bytes;
            account.begin(Backlog { waiting_bytes: *bytes, arrived_bytes }, 1_000_000)
        };
        waiting.iter().map(begin).collect()
    }

    #[test]
    fn a_constant_rate_needs_no_request() {
        let demand = Demand { constant_bit_s: 64_000, ..demand() };
        assert_eq!(rates(demand.clone(), &[0, 1000, 9000]), [64_000; 3]);
        let account = Account::new(Demand { constant_bit_s: 2_000_000, ..demand });
        assert_eq!(account.constant_bit_s(1_000_000), 1_000_000);
    }

    #[test]
    fn a_volume_is_granted_once_after_the_latency() {
        let demand = Demand { volume_bytes: 1000, ..demand() };
        // 100 bytes in 10 ms are 80 kbit/s. They wait for all of it and are asked for once.
        let waiting = [100, 100, 100, 100, 100, 100, 0, 0];
        assert_eq!(rates(demand, &waiting), [0, 0, 0, 0, 0, 80_000, 0, 0]);
    }

    #[test]
    fn of_more_than_a_volume_the_rest_is_asked_for_next_time() {
        let demand = Demand { volume_bytes: 1000, ..demand() };
        let waiting = [1500, 1500, 1500, 1500, 1500, 1500, 500, 0];
        assert_eq!(rates(demand, &waiting), [0, 0, 0, 0, 0, 800_000, 400_000, 0]);
    }

    #[test]
    fn what_a_superframe_has_no_room_for_comes_in_the_next() {
        // The carrier has room for 1250 bytes.
        let demand = Demand { volume_bytes: 10_000, ..demand() };
        let waiting = [3000, 3000, 3000, 3000, 3000, 3000, 1750, 500, 0];
        let granted = [1_000_000, 1_000_000, 400_000];
        assert_eq!(rates(demand, &waiting)[5..8], granted);
    }

    #[test]
    fn a_rate_is_granted_until_another_is() {
        let demand = Demand { rate_bit_s: 400_000, ..demand() };
        // 100 bytes per 10 ms are 80 kbit/s, and 1000 more of them more than it may ask for.
        let waiting = [100, 1100, 0, 0, 0, 0, 0, 0, 0];
        let granted = [0, 0, 0, 0, 0, 80_000, 400_000, 0, 0];
        assert_eq!(rates(demand, &waiting), granted);
    }

    #[test]
    fn what_waits_is_asked_for_once() {
        let demand = Demand { rate_bit_s: 1_000_000, ..demand() };
        let waiting = [100, 100, 100, 100, 100, 100, 0];
        assert_eq!(rates(demand, &waiting), [0, 0, 0, 0, 0, 80_000, 0]);
    }

    #[test]
    fn what_could_not_be_asked_for_at_first_is_asked_for_over_the_latency() {
        let demand = Demand { rate_bit_s: 80_000, ..demand() };
        // Of 600 bytes 100 are asked for; the other 500 take 80 kbit/s for the 50 ms of the latency.
        let waiting = [600, 600, 600, 600, 600, 600, 600];
        assert_eq!(rates(demand, &waiting)[5..], [80_000, 80_000]);
    }

    #[test]
    fn it_asks_only_every_so_many_superframes() {
        let demand = Demand { rate_bit_s: 400_000, every_superframes: 4, ..demand() };
        // The fourth superframe asks for what came in 40 ms, the eighth for nothing.
        let waiting = [100, 100, 100, 100, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let mut granted = [0; 14];
        granted[8..12].fill(20_000);
        assert_eq!(rates(demand, &waiting), granted);
    }

    #[test]
    fn a_terminal_is_quiet_until_it_asks() {
        let mut account = Account::new(Demand { volume_bytes: 1000, ..demand() });
        let backlog = |bytes| Backlog { waiting_bytes: bytes, arrived_bytes: bytes };
        account.begin(backlog(0), 1_000_000);
        assert!(account.is_quiet());
        account.skip_until(105 * MS);
        assert_eq!(account.next_ns(), 110 * MS);
        account.begin(backlog(100), 1_000_000);
        assert!(!account.is_quiet());
    }
}
