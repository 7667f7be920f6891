//! Where content of requests goes: nowhere, and it is said how much came.

use headway_wire::{Request, Response};

use super::files::GENERATED;
use super::{Body, Reply, Service};

/// Answers POST and PUT, to whatever path, once all content has come: with a generated body where GET would have
/// one, or else with the number of its bytes as text. Other requests are another service's.
pub struct Sink {
    others: Box<dyn Service>,
}

impl Sink {
    /// Before a service that answers other requests.
    #[must_use]
    pub fn before(others: Box<dyn Service>) -> Self {
        Self { others }
    }
}

impl Service for Sink {
    fn respond(&mut self, request: &Request) -> Reply {
        self.others.respond(request)
    }

    fn awaits_content(&self, request: &Request) -> bool {
        matches!(&request.method[..], "POST" | "PUT")
    }

    fn acknowledge(&mut self, request: &Request, content_bytes: u64) -> Reply {
        if request.path.starts_with(GENERATED) {
            return self.others.respond(&Request { method: "GET".into(), ..request.clone() });
        }
        let text = format!("{content_bytes}\n");
        let mut response = Response::new(200);
        response.fields.push("content-type", "text/plain");
        response.fields.push("content-length", text.len().to_string());
        Reply { response, body: Body::Bytes(text.into()) }
    }
}
