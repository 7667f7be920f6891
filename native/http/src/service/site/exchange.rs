use std::iter::zip;
use std::ops::Range;

use bytes::Bytes;
use headway_wire::range::ContentRange;
use headway_wire::{Field, Fields, Request, Response};

use crate::service::conditions::{Validators, Verdict};
use crate::service::portion::{Multipart, Portion};
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
        let portion = Portion::of(validators.ranges(request).as_deref(), self.body.len() as u64);
        match (validators.judge(request), portion) {
            (Verdict::Unchanged, _) => {
                let kept = fields.iter().filter(|field| !is_of_content(field)).cloned().collect();
                reply(304, kept, Body::empty())
            }
            (Verdict::Failed, _) => reply(412, with_length(Fields::new(), 0), Body::empty()),
            (Verdict::Answer, portion) => self.send(portion),
        }
    }

    /// RFC 9110, sections 15.3.7 and 15.5.17.
    fn send(&self, portion: Portion) -> Reply {
        let size = self.body.len() as u64;
        let part = |part: &Range<u64>| {
            Body::Bytes(self.body.slice(part.start as usize..part.end as usize))
        };
        match portion {
            Portion::Whole => self.whole(),
            Portion::Nothing => {
                let value = ContentRange::Unsatisfied(size).to_string();
                let fields = vec![Field::new("content-range", value)].into();
                reply(416, with_length(fields, 0), Body::empty())
            }
            Portion::Part(range) => {
                let length = range.end - range.start;
                let mut fields = with_length(self.response.fields.clone(), length);
                fields.push("content-range", ContentRange::of(&range, size).to_string());
                reply(206, fields, part(&range))
            }
            Portion::Parts(parts) => {
                let (types, others): (Vec<_>, Vec<_>) =
                    self.response.fields.iter().cloned().partition(|f| f.name == "content-type");
                let of_parts = types.first().map(|f| String::from_utf8_lossy(&f.value));
                let parts = Multipart::new(parts, size, of_parts.as_deref(), &self.body);
                let content_type = Field::new("content-type", parts.content_type());
                let body = parts.body(part);
                let fields = others.into_iter().chain([content_type]).collect();
                reply(206, with_length(fields, body.remaining()), body)
            }
        }
    }

    /// The response as it was recorded.
    fn whole(&self) -> Reply {
        let Response { status, fields } = self.response.clone();
        if self.response.has_content(self.method == "HEAD") {
            let body = Body::Bytes(self.body.clone());
            reply(status, with_length(fields, self.body.len() as u64), body)
        } else {
            reply(status, fields, Body::empty())
        }
    }
}

fn reply(status: u16, fields: Fields, body: Body) -> Reply {
    Reply { response: Response { status, fields }, body }
}

fn with_length(mut fields: Fields, length: u64) -> Fields {
    fields.push("content-length", length.to_string());
    fields
}

/// What a 304 leaves out, since the client has the content it describes (RFC 9110, section 15.4.5).
fn is_of_content(field: &Field) -> bool {
    matches!(&field.name[..], b"content-type" | b"content-encoding" | b"content-language")
}

fn common_bytes(one: &str, other: &str) -> usize {
    zip(one.bytes(), other.bytes()).take_while(|(a, b)| a == b).count()
}
