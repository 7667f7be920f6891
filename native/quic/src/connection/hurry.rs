//! A handshake that is speeded up (RFC 9002, section 6.2.3).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Packets that quinn-proto sends when a probe timeout is over.
const PER_TIMEOUT: u64 = 2;
/// As many timeouts are over at once at most: that of Initial packets, and two of Handshake packets.
const TIMEOUTS: u64 = 3;
/// Timers that are later, as those of idle connections, may not fire.
const LATEST: Duration = Duration::from_secs(10);
/// A probe timeout before there is a sample of the RTT, in initial RTTs (RFC 9002, sections 6.2.1 and 6.2.2):
/// the RTT, and four times its half as variation.
const INITIAL_RTTS: u32 = 3;
/// Probes come in pairs, which are one question; no timeout is as short.
const PAIR: Duration = Duration::from_millis(10);
/// Beyond it, so that the timer is due.
const MARGIN: Duration = Duration::from_millis(1);

/// Notices that what was said did not get through, before a probe timeout, which is a second while no RTT is known.
///
/// A server sees a ClientHello again: its answer is repeated, Initial packets and those of the handshake, which the client
/// may have thrown away while it had no keys. A client sees packets for which it has no keys: the ServerHello was lost, and
/// it says its ClientHello again, which tells the server so. quinn-proto waits; so it is told that the time has come.
#[derive(Debug, Default)]
pub(super) struct Hurry {
    answered: bool,
    received: u64,
    flight: Option<u64>,
    probes: u32,
    repeated: Option<Instant>,
    due: VecDeque<Instant>,
}

impl Hurry {
    /// Looks at a server's connection after a datagram.
    ///
    /// # Arguments
    /// * `handshaking` - the handshake is still going on.
    /// * `crypto` - CRYPTO frames that were received and sent so far.
    ///
    /// * `initial_rtt` - what the RTT is taken to be.
    pub(super) fn look(
        &mut self,
        now: Instant,
        handshaking: bool,
        crypto: (u64, u64),
        initial_rtt: Duration,
    ) {
        let (received, sent) = crypto;
        let again = self.answered && handshaking && received > self.received;
        (self.received, self.answered) = (received, sent > 0);
        let in_pair = self.repeated.is_some_and(|before| now - before < PAIR);
        if !again || in_pair {
            return;
        }
        self.repeated = Some(now);
        // One of the frames was the ServerHello; but those behind it take a packet more than they did, as probes are
        // smaller.
        let flight = *self.flight.get_or_insert(sent);
        let timeouts = 1 + flight.div_ceil(PER_TIMEOUT);
        for _ in 0..timeouts.min(TIMEOUTS) {
            self.time_out(now, initial_rtt);
        }
    }

    /// A client's packet that it has no keys for, and nothing before: once, as packets may also overtake each other.
    pub(super) fn unreadable(&mut self, now: Instant, initial_rtt: Duration) {
        if self.probes == 0 {
            self.time_out(now, initial_rtt);
        }
    }

    fn time_out(&mut self, now: Instant, initial_rtt: Duration) {
        let timeout = initial_rtt * INITIAL_RTTS * (1 << self.probes) + MARGIN;
        if timeout <= LATEST {
            self.due.push_back(now + timeout);
            self.probes += 1;
        }
    }

    /// A time at which the next probe timeout is surely over, if it is to be over now.
    pub(super) fn next(&mut self) -> Option<Instant> {
        self.due.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(333);

    fn waits(hurry: &mut Hurry, now: Instant) -> Vec<u128> {
        std::iter::from_fn(|| hurry.next()).map(|due| (due - now).as_millis()).collect()
    }

    #[test]
    fn a_hello_in_two_packets_is_no_repeated_one() {
        let (now, mut hurry) = (Instant::now(), Hurry::default());
        for crypto in [(1, 0), (2, 0), (2, 3), (2, 3)] {
            hurry.look(now, true, crypto, RTT);
        }
        hurry.look(now, false, (3, 3), RTT);
        assert!(waits(&mut hurry, now).is_empty());
    }

    #[test]
    fn a_repeated_hello_is_answered_and_not_for_ever() {
        let (now, mut hurry) = (Instant::now(), Hurry::default());
        hurry.look(now, true, (1, 2), RTT);
        let mut repeat = |ms, received, sent| {
            let now = now + Duration::from_millis(ms);
            hurry.look(now, true, (received, sent), RTT);
            waits(&mut hurry, now)
        };
        assert_eq!(repeat(300, 2, 2), [1000, 1999]);
        assert!(repeat(301, 3, 4).is_empty(), "the same question");
        assert_eq!(repeat(900, 4, 4), [3997, 7993]);
        assert!(repeat(2100, 5, 6).is_empty());
    }

    #[test]
    fn a_client_hurries_once() {
        let (now, mut hurry) = (Instant::now(), Hurry::default());
        hurry.unreadable(now, RTT);
        hurry.unreadable(now, RTT);
        assert_eq!(waits(&mut hurry, now), [1000]);
    }

    #[test]
    fn all_that_was_sent_is_repeated_at_once() {
        for (sent, timeouts) in [(1, 2), (2, 2), (3, 3), (9, 3)] {
            let (now, mut hurry) = (Instant::now(), Hurry::default());
            hurry.look(now, true, (1, sent), RTT);
            hurry.look(now, true, (2, sent), RTT);
            assert_eq!(waits(&mut hurry, now).len(), timeouts);
        }
    }
}
