//! What clients may take, and what becomes of those that take more.

use std::time::Instant;

use super::{LinkId, Pep};
use crate::limits::Limits;
use crate::link::{Link, Phase};
use crate::record::Ending;
use crate::splitter::Peer;

impl Pep {
    /// Whether there are as many clients as there may be.
    pub(super) fn is_full(&self) -> bool {
        let clients = self.links.len() - self.pool.len() + self.beginners.len();
        clients >= self.settings.max_clients
    }

    /// Whether as many clients as may be are in a handshake without proof of their address.
    pub(super) fn is_crowded(&self) -> bool {
        let beginners = self.beginners.iter().filter(|one| !one.incoming.is_validated());
        let links = self.links.values().filter(|link| link.is_half_open);
        let half_open = beginners.count() + links.count();
        self.settings.limits.newcomers.is_crowded(half_open, self.settings.max_clients)
    }

    /// A client has shown that it has its address: it counts there from now on, or ends.
    pub(super) fn validated(&mut self, now: Instant, id: LinkId) {
        let Some(link) = self.links.get_mut(&id) else { return };
        link.is_half_open = false;
        let Some(client) = link.client.as_ref().filter(|_| !link.is_counted) else { return };
        link.is_counted = self.addresses.open(client.address.ip());
        if !link.is_counted {
            let limit = self.settings.limits.newcomers.connections_per_address.unwrap_or_default();
            let reason = format!("connections-per-address={limit}: this is one more");
            self.end_for(now, id, &reason);
        }
    }

    /// What was refused to whole addresses, in words.
    #[must_use]
    pub fn refusals(&self) -> Option<String> {
        self.addresses.refusals()
    }

    /// Ends clients that have had their time, and those that take too much.
    ///
    /// # Returns
    /// Whether there were any.
    pub(super) fn keep_limits(&mut self, now: Instant) -> bool {
        let mut any = false;
        while let Some(id) = self.looks.next(now) {
            let Some(link) = self.links.get_mut(&id) else { continue };
            match look(link, now, &self.settings.limits) {
                Ok(at) => self.looks.add(id, now, at),
                Err(reason) => {
                    any = true;
                    self.end_for(now, id, &reason);
                }
            }
        }
        any | self.end_greedy(now)
    }

    fn end_greedy(&mut self, now: Instant) -> bool {
        let received = self.downstream.received_bytes() + self.upstream.received_bytes();
        if !self.budget.is_due(now, received) {
            return false;
        }
        let kept = self.kept();
        let greedy = self.budget.greedy(kept);
        for (id, reason) in &greedy {
            self.end_for(now, *id, reason);
        }
        !greedy.is_empty()
    }

    /// Memory that each client and its server make the proxy keep, in bytes.
    fn kept(&mut self) -> Vec<(LinkId, u64)> {
        let mut kept = Vec::new();
        for (&id, link) in &self.links {
            let client = link.client_key().and_then(|key| self.downstream.connection(key));
            let server = self.upstream.connection(link.server);
            let ends = [client, server].into_iter().flatten();
            let transport: u64 = ends.map(|connection| connection.kept()).sum();
            kept.push((id, transport + link.splitter.kept()));
        }
        kept
    }

    /// A client's link ends for what the client did or did not do, which both ends are told.
    fn end_for(&mut self, now: Instant, id: LinkId, reason: &str) {
        let code = self.settings.failure_code;
        for peer in [Peer::Client, Peer::Server] {
            self.close_end(now, id, peer, code, reason);
        }
        self.remove(now, id, Ending { by: None, code: Some(code), reason: reason.to_owned() });
    }
}

fn look(link: &mut Link, now: Instant, limits: &Limits) -> Result<Option<Instant>, String> {
    let (limit, what) = match link.note_phase(now) {
        Phase::Waiting => return Ok(None),
        Phase::Handshake => (("handshake-time", limits.newcomers.handshake_time), "no handshake"),
        Phase::Streams(_) => (("idle-time", limits.idle_time), "no byte"),
    };
    link.patience.check(now, limit, what)
}
