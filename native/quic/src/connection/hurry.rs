//! A handshake that is speeded up (RFC 9002, section 6.2.3).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Of how many probe timeouts the time has come at once: that of Initial packets, and that of Handshake packets.
const PROBES: u32 = 2;
/// Timers that are later, as those of idle connections, may not fire.
const LATEST: Duration = Duration::from_secs(10);
/// A probe timeout before there is a sample of the RTT, in initial RTTs (RFC 9002, sections 6.2.1 and 6.2.2):
/// the RTT, and four times its half as variation.
const INITIAL_RTTS: u32 = 3;
/// Beyond it, so that the timer is due.
const MARGIN: Duration = Duration::from_millis(1);

/// Notices a ClientHello that comes again: the client did not get the answer.
///
/// It need not wait for this side's own probe timeout, which is a second while no RTT is known. quinn-proto does wait;
/// so it is told that the time has come, for its Initial packets and for those of the handshake, which the client may have
/// thrown away while it had no keys.
#[derive(Debug, Default)]
pub(super) struct Hurry {
    answered: bool,
    received: u64,
    probes: u32,
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
        if !again {
            return;
        }
        for _ in 0..PROBES {
            let timeout = initial_rtt * INITIAL_RTTS * (1 << self.probes) + MARGIN;
            if timeout > LATEST {
                return;
            }
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
        let mut repeat = |count| {
            hurry.look(now, true, (count, 2), RTT);
            waits(&mut hurry, now)
        };
        assert_eq!(repeat(2), [1000, 1999]);
        assert_eq!(repeat(3), [3997, 7993]);
        assert!(repeat(4).is_empty());
    }
}
