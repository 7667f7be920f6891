//! How connections end, and how the other end is told.

use std::io;
use std::time::Instant;

use headway_quic::{Close, Network};

use super::{LinkId, Pep};
use crate::link::{Link, pass_on};
use crate::record::Ending;
use crate::splitter::{Ends, Peer};

impl Pep {
    /// Closes all connections; [`Self::transmit`] tells the peers.
    pub fn close(&mut self, now: Instant, reason: &str) {
        self.settings.pool = None;
        let code = self.settings.failure_code;
        for id in self.links.keys().copied().collect::<Vec<_>>() {
            self.close_end(now, id, Peer::Client, code, reason);
            self.close_end(now, id, Peer::Server, code, reason);
            let reason = reason.to_owned();
            self.remove(now, id, Ending { by: None, code: Some(code), reason });
        }
    }

    /// A peer's connection is over: the other's will be, when all that came has been delivered.
    pub(super) fn closed(&mut self, now: Instant, id: LinkId, peer: Peer, close: &Close) {
        let failure_code = self.settings.failure_code;
        let Some(link) = self.links.get_mut(&id) else { return };
        if let Some(closing) = link.closing.take() {
            return self.remove(now, id, closing.ending);
        }
        let closing = pass_on(peer, close, failure_code);
        let client = link.client_key().and_then(|key| self.downstream.connection(key));
        let server = self.upstream.connection(link.server);
        link.splitter.drain(now, &mut Ends { client, server }, closing.peer);
        link.closing = Some(closing);
        self.finish_closing(now, id);
    }

    /// Closes connections of which all is delivered that was to be.
    ///
    /// # Returns
    /// Whether there were any.
    pub(super) fn finish_closings(&mut self, now: Instant) -> bool {
        let closing = self.links.iter().filter(|(_, link)| link.closing.is_some());
        let closing: Vec<LinkId> = closing.map(|(id, _)| *id).collect();
        closing.into_iter().filter(|id| self.finish_closing(now, *id)).count() > 0
    }

    fn finish_closing(&mut self, now: Instant, id: LinkId) -> bool {
        let Some(link) = self.links.get_mut(&id) else { return false };
        let Some(closing) = &link.closing else { return false };
        let connection = match closing.peer {
            Peer::Client => link.client_key().and_then(|key| self.downstream.connection(key)),
            Peer::Server => self.upstream.connection(link.server),
        };
        if let Some(connection) = connection.filter(|connection| !connection.is_handshaking()) {
            if !link.splitter.is_delivered(closing.peer, connection) {
                return false;
            }
        }
        let closing = closing.clone();
        self.close_end(now, id, closing.peer, closing.code, &closing.reason);
        self.remove(now, id, closing.ending);
        true
    }

    /// Refuses a link's client that still waits to be accepted when the next hop's connection ends.
    ///
    /// # Returns
    /// Whether there was one; the link is gone then.
    pub(super) fn refuse_waiting(
        &mut self,
        now: Instant,
        network: &mut impl Network,
        id: LinkId,
        close: &Close,
    ) -> io::Result<bool> {
        let Some(link) = self.links.get_mut(&id) else { return Ok(false) };
        let Some(incoming) = link.take_waiting() else { return Ok(false) };
        let ending = pass_on(Peer::Server, close, self.settings.failure_code).ending;
        self.remove(now, id, ending);
        self.downstream.refuse(network, incoming)?;
        Ok(true)
    }

    /// Gives up what took too long.
    ///
    /// # Returns
    /// Whether there was anything.
    pub(super) fn expire(&mut self, now: Instant, network: &mut impl Network) -> io::Result<bool> {
        let timeout = self.settings.connect_timeout;
        let mut any = false;
        while let Some(index) = self.beginners.iter().position(|b| b.since + timeout <= now) {
            any = true;
            let beginner = self.beginners.swap_remove(index);
            self.downstream.refuse(network, beginner.incoming)?;
        }
        let is_late = |link: &Link| link.given_up_at(timeout).is_some_and(|at| at <= now);
        let late = self.links.iter().filter(|(_, link)| is_late(link));
        for id in late.map(|(id, _)| *id).collect::<Vec<_>>() {
            any = true;
            let close = Close::Transport(format!("no connection within {timeout:?}"));
            self.close_end(now, id, Peer::Server, self.settings.failure_code, "took too long");
            if !self.refuse_waiting(now, network, id, &close)? {
                self.closed(now, id, Peer::Server, &close);
            }
        }
        Ok(any)
    }

    /// Closes one connection of a link, if there is one.
    pub(super) fn close_end(
        &mut self,
        now: Instant,
        id: LinkId,
        peer: Peer,
        code: u64,
        reason: &str,
    ) {
        let Some(link) = self.links.get(&id) else { return };
        let connection = match peer {
            Peer::Client => link.client_key().and_then(|key| self.downstream.connection(key)),
            Peer::Server => self.upstream.connection(link.server),
        };
        if let Some(connection) = connection {
            connection.close(now, code, reason);
        }
    }

    /// A link is over.
    pub(super) fn remove(&mut self, now: Instant, id: LinkId, ending: Ending) {
        self.leave_pool(now, id);
        let Some(mut link) = self.links.remove(&id) else { return };
        self.by_server.remove(&link.server);
        self.looks.remove(id);
        if let Some(client) = link.client.as_ref().filter(|_| link.is_counted) {
            self.addresses.close(client.address.ip());
        }
        if let Some(key) = link.client_key() {
            self.by_client.remove(&key);
        }
        self.records.extend(link.record(now, ending));
    }
}
