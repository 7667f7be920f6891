//! Servers against clients that send mutants of requests.

mod h1;
mod h2;

use std::collections::BTreeMap;

use bytes::BytesMut;
use headway_http::event::{RequestId, ServerEvent};
use headway_http::side::ServerSide;

use crate::pattern::respond;

/// What became of the requests that a server told of.
#[derive(Default)]
struct Answers {
    /// Whether each is over.
    requests: BTreeMap<RequestId, bool>,
    finished: u64,
}

impl Answers {
    /// Answers what came, sends what there is, and goes on until nothing happens.
    ///
    /// # Returns
    /// What was sent.
    fn take(&mut self, server: &mut impl ServerSide) -> BytesMut {
        let mut sent = BytesMut::new();
        loop {
            while let Some(event) = server.poll() {
                self.note(server, event);
            }
            if !server.wants_send() {
                return sent;
            }
            let before = sent.len();
            server.send(300, &mut sent);
            assert!(sent.len() > before, "it wants to send, and does not");
        }
    }

    fn note(&mut self, server: &mut impl ServerSide, event: ServerEvent) {
        match event {
            ServerEvent::Request { id, request } => {
                assert_eq!(self.requests.insert(id, false), None, "told once");
                assert!(!request.method.is_empty() && !request.path.is_empty(), "{request:?}");
                server.respond(id, respond(&request));
            }
            ServerEvent::Finished { id, .. } => {
                self.finished += 1;
                self.end(id);
            }
            ServerEvent::Received { .. } | ServerEvent::Content { .. } => {}
            ServerEvent::Aborted { id, .. } => self.end(id),
        }
    }

    fn end(&mut self, id: RequestId) {
        assert_eq!(self.requests.insert(id, true), Some(false), "{id:?} ends once");
    }

    /// The connection is over, and so is every request.
    ///
    /// # Arguments
    /// * `asked` - how many requests there would have been.
    ///
    /// # Returns
    /// How many were answered whole, and how many were not.
    fn end_all(mut self, server: &mut impl ServerSide, asked: u64) -> [u64; 2] {
        server.close("over");
        self.take(server);
        assert!(self.requests.values().all(|is_over| *is_over), "{:?}", self.requests);
        [self.finished, asked.saturating_sub(self.finished)]
    }
}
