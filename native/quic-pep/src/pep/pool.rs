//! Connections to the next hop that wait, their handshake complete, for a client.

use std::time::{Duration, Instant};

use super::{LinkId, Pep};
use crate::hello::ClientHello;

/// How long after a failure the next one is begun.
const RETRY: Duration = Duration::from_secs(1);

impl Pep {
    /// Begins as many as are missing.
    pub(super) fn fill_pool(&mut self, now: Instant) {
        let Some(pool) = self.settings.pool.clone() else { return };
        if self.pool_retry.is_some_and(|at| at > now) {
            return;
        }
        self.pool_retry = None;
        while self.pool.len() < pool.size {
            match self.connect(now, &pool.server_name, vec![pool.protocol.clone()]) {
                Some(id) => self.pool.push_back(id),
                None => return self.pool_failed(now),
            }
        }
    }

    /// The oldest one whose handshake is complete and that suits a client.
    pub(super) fn take_pooled(&mut self, hello: &ClientHello) -> Option<LinkId> {
        let pool = self.settings.pool.as_ref()?;
        let suits = hello.server_name.as_ref() == Some(&pool.server_name)
            && hello.protocols.contains(&pool.protocol);
        let is_ready = |id: &LinkId| self.links.get(id).is_some_and(|l| l.connected.is_some());
        let index = self.pool.iter().position(is_ready).filter(|_| suits)?;
        self.pool.remove(index)
    }

    /// One of them is over before a client came.
    pub(super) fn leave_pool(&mut self, now: Instant, id: LinkId) {
        if let Some(index) = self.pool.iter().position(|other| *other == id) {
            self.pool.remove(index);
            self.pool_failed(now);
        }
    }

    fn pool_failed(&mut self, now: Instant) {
        self.pool_retry = Some(now + RETRY);
    }
}
