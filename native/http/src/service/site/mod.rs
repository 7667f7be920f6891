//! A recorded site, replayed.

mod exchange;
mod tree;
mod url;

use std::collections::HashMap;
use std::path::Path;

use bytes::Bytes;
use headway_wire::{Field, Request, Response};

pub use tree::SiteError;

use self::exchange::{Closeness, Exchange};
use self::url::{Url, host_of, split_target};
use super::{Body, Reply, Service};

/// The exchanges of a recorded site: a request gets the response to the most similar one.
///
/// As in Mahimahi (Netravali et al. 2015), host (without a port), path and method must be the same,
/// and GET may answer HEAD. Of several exchanges those of the same scheme come first; among them the
/// one with the same query, or else with the longest common beginning of it, or else the first.
/// Without any the answer is 404.
///
/// A recorded 200 is subject to the request's conditions and its range (RFC 9110, sections 13
/// and 14). Responses have the recorded fields, Content-Length, and no others.
#[derive(Debug, Default)]
pub struct Site {
    /// By host and path, in the order in which they were recorded.
    exchanges: HashMap<String, HashMap<String, Vec<Exchange>>>,
}

impl Site {
    /// Reads a replay tree, with all bodies, into memory.
    ///
    /// # Arguments
    /// * `directory` - holds `site.json` and what that names.
    ///
    /// # Errors
    /// A file cannot be read, or the tree is not valid.
    pub fn open(directory: &Path) -> Result<Self, SiteError> {
        let mut site = Self::default();
        for (url, exchange) in tree::read(directory)? {
            site.add(url, exchange);
        }
        Ok(site)
    }

    fn add(&mut self, url: Url, exchange: Exchange) {
        let paths = self.exchanges.entry(url.host).or_default();
        paths.entry(url.path).or_default().push(exchange);
    }

    fn find(&self, request: &Request) -> Option<&Exchange> {
        let (path, query) = split_target(&request.path);
        let paths = self.exchanges.get(&host_of(&request.authority))?;
        let closeness = |exchange: &&Exchange| -> Closeness {
            exchange.closeness(&request.method, scheme(request), query)
        };
        let candidates = paths.get(path)?.iter().filter(|one| one.answers(&request.method));
        // The first of the closest, and the last is what max_by_key() gives.
        candidates.rev().max_by_key(closeness)
    }
}

impl Service for Site {
    fn respond(&mut self, request: &Request) -> Reply {
        match self.find(request) {
            Some(exchange) => exchange.replay(request),
            None => not_recorded(request.method == "HEAD"),
        }
    }
}

/// What the client asked for, which a proxy before the server tells.
fn scheme(request: &Request) -> &str {
    match request.fields.get("x-forwarded-proto") {
        Some(value) if value == "https" => "https",
        _ => &request.scheme,
    }
}

fn not_recorded(to_head: bool) -> Reply {
    let text = "not recorded\n";
    let fields = [
        Field::new("content-type", "text/plain"),
        Field::new("content-length", text.len().to_string()),
    ];
    let body = if to_head { Bytes::new() } else { Bytes::from_static(text.as_bytes()) };
    let response = Response { status: 404, fields: fields.into_iter().collect() };
    Reply { response, body: Body::Bytes(body) }
}

#[cfg(test)]
mod tests;
