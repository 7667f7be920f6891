//! Where content of requests goes: nowhere, and it is said how much came; or it is refused.

use headway_wire::{Request, Response};

use super::files::GENERATED;
use super::{Body, Reply, Service};

/// Answers POST and PUT, to whatever path: with a generated body where GET would have one, or else with the number of
/// bytes that had come as text. Other requests are another service's.
pub struct Sink {
    others: Box<dyn Service>,
    verdict: Verdict,
}

/// How content is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The status of the answer.
    pub status: u16,
    /// It goes once the head has come, and not once all content has.
    pub is_early: bool,
}

impl Default for Verdict {
    fn default() -> Self {
        Self { status: 200, is_early: false }
    }
}

impl Sink {
    /// Before a service that answers other requests.
    #[must_use]
    pub fn before(others: Box<dyn Service>, verdict: Verdict) -> Self {
        Self { others, verdict }
    }
}

impl Service for Sink {
    fn respond(&mut self, request: &Request) -> Reply {
        if has_content(request) {
            self.acknowledge(request, 0)
        } else {
            self.others.respond(request)
        }
    }

    fn awaits_content(&self, request: &Request) -> bool {
        has_content(request) && !self.verdict.is_early
    }

    fn acknowledge(&mut self, request: &Request, content_bytes: u64) -> Reply {
        let Verdict { status, .. } = self.verdict;
        if request.path.starts_with(GENERATED) && status == 200 {
            return self.others.respond(&Request { method: "GET".into(), ..request.clone() });
        }
        let text = format!("{content_bytes}\n");
        let mut response = Response::new(status);
        if status == 405 {
            response.fields.push("allow", "GET, HEAD");
        }
        response.fields.push("content-type", "text/plain");
        response.fields.push("content-length", text.len().to_string());
        Reply { response, body: Body::Bytes(text.into()) }
    }
}

fn has_content(request: &Request) -> bool {
    matches!(&request.method[..], "POST" | "PUT")
}
