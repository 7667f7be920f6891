//! Our server.

use std::collections::BTreeMap;
use std::time::Instant;

use headway_http::event::{RequestId, ServerEvent};
use headway_http::h3::{Compression, Server};
use headway_http::limits::Limits;
use headway_http::priorities::Priorities;
use headway_http::service::{Reply, Said};
use headway_quic::{Connection, ConnectionKey, Event};
use headway_wire::{Fields, Request};

use crate::pair::Application;
use crate::pattern;

/// A server on all connections.
pub(crate) struct Serve {
    /// Until they are closed: then their keys can be others'.
    pub(crate) sides: BTreeMap<ConnectionKey, Server>,
    pub(crate) respond: Box<dyn FnMut(&Request) -> Reply>,
    /// Requests are answered once they are complete, and not at once.
    pub(crate) answers_at_end: bool,
    pub(crate) waiting: BTreeMap<RequestId, Request>,
    /// After so many requests it takes no more.
    pub(crate) go_away_after: Option<usize>,
    pub(crate) compression: Compression,
    pub(crate) priorities: Priorities,
    pub(crate) limits: Limits,
    pub(crate) takes_websockets: bool,
    /// What follows the content of responses that grow.
    pub(crate) trailers: Fields,
    pub(crate) requests: usize,
    /// Content of requests, in bytes.
    pub(crate) received: Vec<u64>,
    /// Content of requests that did not say how long it is.
    pub(crate) told: Vec<u8>,
    /// Content of responses, in bytes.
    pub(crate) finished: Vec<u64>,
    /// Why responses were given up.
    pub(crate) aborted: Vec<String>,
}

impl Default for Serve {
    fn default() -> Self {
        Self::with(pattern::respond)
    }
}

impl Serve {
    pub(crate) fn with(respond: impl FnMut(&Request) -> Reply + 'static) -> Self {
        Self {
            sides: BTreeMap::new(),
            respond: Box::new(respond),
            answers_at_end: false,
            waiting: BTreeMap::new(),
            go_away_after: None,
            compression: Compression::default(),
            priorities: Priorities::default(),
            limits: Limits::default(),
            takes_websockets: false,
            trailers: Fields::new(),
            requests: 0,
            received: Vec::new(),
            told: Vec::new(),
            finished: Vec::new(),
            aborted: Vec::new(),
        }
    }

    fn answer(&mut self, key: ConnectionKey, connection: &mut Connection) {
        let side = self.sides.get_mut(&key).unwrap();
        while let Some(event) = side.poll() {
            match event {
                ServerEvent::Request { id, request } => {
                    self.requests += 1;
                    if self.answers_at_end {
                        self.waiting.insert(id, request);
                        side.proceed(connection, id);
                        continue;
                    }
                    side.respond(connection, id, (self.respond)(&request));
                    if self.go_away_after == Some(self.requests) {
                        side.go_away(connection);
                    }
                }
                ServerEvent::Received { id, content_bytes, .. } => {
                    self.received.push(content_bytes);
                    if let Some(request) = self.waiting.remove(&id) {
                        side.respond(connection, id, (self.respond)(&request));
                    }
                    // Other tests say themselves how content goes on that grows.
                    if self.takes_websockets || !self.trailers.is_empty() {
                        let trailers = self.trailers.clone();
                        let said = Said { content: "end".into(), ends: true, trailers };
                        side.say(connection, id, said);
                    }
                }
                ServerEvent::Content { data, .. } => self.told.extend(data),
                ServerEvent::Finished { sent_bytes, .. } => self.finished.push(sent_bytes),
                ServerEvent::Aborted { reason, .. } => self.aborted.push(reason),
            }
        }
    }
}

impl Application for Serve {
    fn accepted(&mut self, key: ConnectionKey) {
        self.sides.insert(
            key,
            Server::new(self.compression)
                .with_websockets(self.takes_websockets)
                .limited(&self.limits)
                .deciding(self.priorities),
        );
    }

    fn handle(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        connection: Option<&mut Connection>,
        event: Event,
    ) {
        let Some(side) = self.sides.get_mut(&key) else { return };
        match connection {
            Some(connection) => {
                side.handle(now, connection, event);
                self.answer(key, connection);
            }
            None => side.close("gone"),
        }
        self.sides.retain(|_, side| !side.is_closed());
    }
}
