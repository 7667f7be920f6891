//! Our client.

use std::collections::BTreeMap;
use std::time::Instant;

use bytes::BytesMut;
use headway_http::event::{Asked, ClientEvent, Failure, Importance, RequestId};
use headway_http::h3::Client;
use headway_quic::{Connection, ConnectionKey, Event};
use headway_wire::{Fields, Priority, Request, Response};

use crate::pair::Application;

/// What became of a request.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) sent: u32,
    pub(crate) is_continued: bool,
    pub(crate) response: Option<Response>,
    pub(crate) content: BytesMut,
    pub(crate) trailers: Option<Fields>,
    pub(crate) is_finished: bool,
    pub(crate) failure: Option<Failure>,
}

/// A client on one connection.
#[derive(Default)]
pub(crate) struct Fetch {
    pub(crate) side: Client,
    pub(crate) outcomes: BTreeMap<u64, Outcome>,
    /// Content as it came: of which request, how much.
    pub(crate) came: Vec<(u64, usize)>,
    /// Requests in the order in which their responses were complete.
    pub(crate) finished: Vec<u64>,
    /// After so many bytes of all content, a request's new priority.
    pub(crate) change: Option<(u64, RequestId, Priority)>,
    pub(crate) requests: u64,
}

pub(crate) fn get(path: impl Into<String>) -> Request {
    Request::get("https", "server.test", path)
}

impl Fetch {
    /// Requests for paths, to be sent as soon as there is a connection.
    pub(crate) fn of<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut fetch = Self::default();
        for path in paths {
            fetch.ask(get(path), None, None);
        }
        fetch
    }

    /// One more request.
    pub(crate) fn ask(
        &mut self,
        request: Request,
        importance: Option<Importance>,
        connection: Option<&mut Connection>,
    ) {
        self.side.request(connection, RequestId(self.requests), request, importance);
        self.requests += 1;
        self.take_events();
    }

    /// One more request, with content.
    pub(crate) fn post(&mut self, request: Request, content_bytes: u64) {
        let asked = Asked::new(RequestId(self.requests), request, None);
        self.side.ask(None, Asked { content_bytes: Some(content_bytes), ..asked });
        self.requests += 1;
    }

    pub(crate) fn outcome(&self, request: u64) -> &Outcome {
        &self.outcomes[&request]
    }

    pub(crate) fn status(&self, request: u64) -> Option<u16> {
        self.outcome(request).response.as_ref().map(|response| response.status)
    }

    fn take_events(&mut self) {
        while let Some(event) = self.side.poll() {
            let id = event.id().0;
            let outcome = self.outcomes.entry(id).or_default();
            assert!(!outcome.is_finished && outcome.failure.is_none(), "{event:?} after the end");
            match event {
                ClientEvent::Trailers { fields, .. } => outcome.trailers = Some(fields),
                ClientEvent::Sent { .. } => outcome.sent += 1,
                ClientEvent::Continued { .. } => outcome.is_continued = true,
                ClientEvent::Head { response, .. } => outcome.response = Some(response),
                ClientEvent::Data { data, .. } => {
                    outcome.content.extend_from_slice(&data);
                    self.came.push((id, data.len()));
                }
                ClientEvent::Finished { .. } => {
                    outcome.is_finished = true;
                    self.finished.push(id);
                }
                ClientEvent::Failed { failure, .. } => outcome.failure = Some(failure),
            }
        }
    }

    fn change_when_due(&mut self, connection: &mut Connection) {
        let bytes: usize = self.came.iter().map(|(_, bytes)| bytes).sum();
        if let Some((_, id, priority)) = self.change.take_if(|(after, ..)| *after <= bytes as u64) {
            self.side.reprioritise(connection, id, &priority);
        }
    }
}

impl Application for Fetch {
    fn handle(
        &mut self,
        now: Instant,
        _key: ConnectionKey,
        connection: Option<&mut Connection>,
        event: Event,
    ) {
        match connection {
            Some(connection) => {
                self.side.handle(now, connection, event);
                self.take_events();
                self.change_when_due(connection);
            }
            None => {
                self.side.close("gone");
                self.take_events();
            }
        }
    }
}
