use std::iter::zip;

use bytes::Bytes;
use headway_wire::range::{ContentRange, Range};
use headway_wire::{Field, Fields, Request, Response};

use crate::service::conditions::Validators;
use crate::service::{Body, Reply};

/// A recorded request, as far as its path is not its key, and the response to it.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) method: String,
    pub(super) scheme: String,
    pub(super) query: String,
    /// Its fields as recorded, without Content-Length.
    pub(super) response: Response,
    pub(super) body: Bytes,
}

/// How similar a recorded request is to another one for its host and path, by the first of these
/// that differs.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Closeness {
    /// The method is the same, and not GET for HEAD.
    has_method: bool,
    /// The scheme is the same.
    has_scheme: bool,
    /// The query is the same.
    is_exact: bool,
    /// How many bytes the queries have in common at their beginning.
    common_bytes: usize,
}

impl Exchange {
    /// Whether requests of this method may be answered with it.
    pub(super) fn answers(&self, method: &str) -> bool {
        self.method == method || (method == "HEAD" && self.method == "GET")
    }

    /// How similar its request is to one for the same host and path.
    pub(super) fn closeness(&self, method: &str, scheme: &str, query: &str) -> Closeness {
        Closeness {
            has_method: self.method == method,
            has_scheme: self.scheme == scheme,
            is_exact: self.query == query,
            common_bytes: common_bytes(&self.query, query),
        }
    }

    /// The recorded response, or what the conditions of the request make of it.
    pub(super) fn replay(&self, request: &Request) -> Reply {
        let mut reply = self.answer(request);
        if request.method == "HEAD" {
            reply.body = Body::empty();
        }
        reply
    }

    fn answer(&self, request: &Request) -> Reply {
        let fields = &self.response.fields;
        if self.response.status != 200 {
            return self.whole();
        }
        let validators = Validators::of(fields);
        if validators.is_unchanged(request) {
            let kept = fields.iter().filter(|field| !is_of_content(field)).cloned().collect();
            return reply(304, kept, Bytes::new());
        }
        match validators.range(request) {
            Some(range) => self.part(range),
            None => self.whole(),
        }
    }

    /// RFC 9110, sections 15.3.7 and 15.5.17.
    fn part(&self, range: Range) -> Reply {
        let size = self.body.len() as u64;
        let Some(part) = range.resolve(size) else {
            let value = ContentRange::Unsatisfied(size).to_string();
            let fields = vec![Field::new("content-range", value)].into();
            return reply(416, with_length(fields, &Bytes::new()), Bytes::new());
        };
        let body = self.body.slice(part.start as usize..part.end as usize);
        let mut fields = with_length(self.response.fields.clone(), &body);
        fields.push("content-range", ContentRange::of(&part, size).to_string());
        reply(206, fields, body)
    }

    /// The response as it was recorded.
    fn whole(&self) -> Reply {
        let Response { status, fields } = self.response.clone();
        if self.response.has_content(self.method == "HEAD") {
            reply(status, with_length(fields, &self.body), self.body.clone())
        } else {
            reply(status, fields, Bytes::new())
        }
    }
}

fn reply(status: u16, fields: Fields, body: Bytes) -> Reply {
    Reply { response: Response { status, fields }, body: Body::Bytes(body) }
}

fn with_length(mut fields: Fields, body: &Bytes) -> Fields {
    fields.push("content-length", body.len().to_string());
    fields
}

/// What a 304 leaves out, since the client has the content it describes (RFC 9110, section 15.4.5).
fn is_of_content(field: &Field) -> bool {
    matches!(&field.name[..], b"content-type" | b"content-encoding" | b"content-language")
}

fn common_bytes(one: &str, other: &str) -> usize {
    zip(one.bytes(), other.bytes()).take_while(|(a, b)| a == b).count()
}
