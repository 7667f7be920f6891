//! Who is connected, and for how long.

use std::net::IpAddr;
use std::time::Instant;

use headway_reactor::Addresses;

use crate::limits::Limits;

/// Counts connections against `--max-connections` and `connections-per-address`.
#[derive(Debug)]
pub(crate) struct Guests {
    pub(crate) limits: Limits,
    max_connections: usize,
    open: usize,
    half_open: usize,
    addresses: Addresses,
    /// Connections that were one too many.
    refused: u64,
}

impl Guests {
    pub(crate) fn new(limits: Limits, max_connections: usize) -> Self {
        let addresses = Addresses::new(limits.newcomers.connections_per_address);
        Self { limits, max_connections, open: 0, half_open: 0, addresses, refused: 0 }
    }

    /// Whether there is room for one more connection.
    pub(crate) fn has_room(&mut self) -> bool {
        let has_room = self.open < self.max_connections;
        self.refused += u64::from(!has_room);
        has_room
    }

    /// Whether an address may have one more connection, which is counted then.
    pub(crate) fn enter(&mut self, address: IpAddr) -> bool {
        let may = self.addresses.open(address);
        self.open += usize::from(may);
        may
    }

    /// A connection that was counted is over.
    pub(crate) fn leave(&mut self, address: IpAddr) {
        self.open -= 1;
        self.addresses.close(address);
    }

    /// One more connection is in a handshake, of an address that nobody has validated.
    pub(crate) fn begin_half_open(&mut self) {
        self.half_open += 1;
    }

    pub(crate) fn end_half_open(&mut self) {
        self.half_open -= 1;
    }

    /// Whether there are as many of those as may be.
    pub(crate) fn is_crowded(&self) -> bool {
        self.limits.newcomers.is_crowded(self.half_open, self.max_connections)
    }

    /// What was refused, in words.
    pub(crate) fn refusals(&self) -> impl Iterator<Item = String> {
        let (most, refused) = (self.max_connections, self.refused);
        let all = format!("--max-connections {most}: {refused} more were refused");
        (refused > 0).then_some(all).into_iter().chain(self.addresses.refusals())
    }
}

/// What a connection is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The handshake.
    Handshake,
    /// The first flow's request.
    Request,
    /// Flows, of which so many bytes were sent or received so far.
    Flows(u64),
}

/// How long a connection has been in the middle of the same, and how long it has been there.
#[derive(Debug)]
pub(crate) struct Patience {
    of_phase: headway_reactor::Patience<Phase>,
    of_all: headway_reactor::Patience<()>,
}

impl Patience {
    /// A connection begins.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            of_phase: headway_reactor::Patience::new(Phase::Handshake, now),
            of_all: headway_reactor::Patience::new((), now),
        }
    }

    /// When it will have lasted too long, if there is a limit.
    ///
    /// # Arguments
    /// * `phase` - what the connection is in the middle of now.
    ///
    /// # Errors
    /// It has, in words: the limit and the time.
    pub(crate) fn check(
        &mut self,
        phase: Phase,
        now: Instant,
        limits: &Limits,
    ) -> Result<Option<Instant>, String> {
        self.of_phase.note(phase, now);
        let (limit, what) = match phase {
            Phase::Handshake => {
                (("handshake-time", limits.newcomers.handshake_time), "no handshake")
            }
            Phase::Request => (("request-time", limits.request_time), "no whole request"),
            Phase::Flows(_) => (("idle-time", limits.idle_time), "no progress"),
        };
        let phase = self.of_phase.check(now, limit, what)?;
        let whole = ("connection-time", limits.connection_time);
        let all = self.of_all.check(now, whole, "the connection was there")?;
        Ok([phase, all].into_iter().flatten().min())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use headway_knobs::limits::Limits as _;

    use super::*;

    #[test]
    fn each_phase_has_its_time_and_all_have_one() {
        let limits =
            Limits::parse("off,handshake-time=1s,request-time=2s,idle-time=3s,connection-time=9s");
        let (limits, start) = (limits.unwrap(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut patience = Patience::new(start);
        let mut check = |phase, seconds| patience.check(phase, at(seconds), &limits);
        assert_eq!(check(Phase::Handshake, 0), Ok(Some(at(1))));
        let said = check(Phase::Handshake, 1).unwrap_err();
        assert_eq!(said, "handshake-time=1s: no handshake for 1.0 s");
        assert_eq!(check(Phase::Request, 1), Ok(Some(at(3))));
        let said = check(Phase::Request, 3).unwrap_err();
        assert_eq!(said, "request-time=2s: no whole request for 2.0 s");
        for seconds in 3..8 {
            let next = at((seconds + 3).min(9));
            assert_eq!(check(Phase::Flows(seconds), seconds), Ok(Some(next)));
        }
        let said = check(Phase::Flows(8), 9).unwrap_err();
        assert_eq!(said, "connection-time=9s: the connection was there for 9.0 s");
        let said = check(Phase::Flows(8), 12).unwrap_err();
        assert_eq!(said, "idle-time=3s: no progress for 3.0 s");
    }

    #[test]
    fn what_is_refused_is_told() {
        let mut guests = Guests::new(Limits::parse("connections-per-address=1").unwrap(), 2);
        let [one, other] = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        assert!(guests.has_room() && guests.enter(one) && !guests.enter(one));
        assert!(guests.has_room() && guests.enter(other) && !guests.has_room());
        let said: Vec<_> = guests.refusals().collect();
        assert_eq!(said[0], "--max-connections 2: 1 more were refused");
        assert_eq!(said[1], "connections-per-address=1: 1 more were refused");
        guests.leave(one);
        assert!(guests.has_room());
    }
}
