//! Reading a replay tree: `site.json`, and the bodies that it names.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use headway_wire::{Field, Fields, Response};
use serde::Deserialize;

use super::exchange::Exchange;
use super::url::Url;

/// Name of the file that lists the exchanges.
const LIST: &str = "site.json";

/// Why a replay tree cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The list of exchanges does not have the form it should have.
    #[error("{}: {source}", path.display())]
    Form {
        /// The list.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// An exchange cannot be replayed.
    #[error("{}: {method} {url:?}: {why}", path.display())]
    Exchange {
        /// The list.
        path: PathBuf,
        /// Method of the request.
        method: String,
        /// URL of the request.
        url: String,
        /// What is wrong.
        why: String,
    },
}

/// What `site.json` has and a server needs.
#[derive(Deserialize)]
struct List {
    exchanges: Vec<Entry>,
}

/// An exchange as `site.json` has it.
#[derive(Deserialize)]
struct Entry {
    method: String,
    url: String,
    status: u16,
    /// Names and values of fields.
    headers: Vec<(String, String)>,
    /// The file with the content, relative to the tree.
    body: String,
    /// How long that is.
    bytes: usize,
}

/// Reads a tree: its exchanges in the order in which they were recorded. Interim responses, which
/// answer nothing (RFC 9110, section 15.2), are left out.
pub(super) fn read(directory: &Path) -> Result<Vec<(Url, Exchange)>, SiteError> {
    let path = directory.join(LIST);
    let text = read_file(&path)?;
    let list: List = serde_json::from_slice(&text)
        .map_err(|source| SiteError::Form { path: path.clone(), source })?;
    let mut bodies = Bodies { directory, read: HashMap::new() };
    let finals = list.exchanges.into_iter().filter(|entry| !matches!(entry.status, 100..=199));
    finals
        .map(|entry| {
            let body = bodies.get(&entry.body)?;
            let (method, url) = (entry.method.clone(), entry.url.clone());
            entry.into_exchange(body).map_err(|why| SiteError::Exchange {
                path: path.clone(),
                method,
                url,
                why,
            })
        })
        .collect()
}

impl Entry {
    fn into_exchange(self, body: Bytes) -> Result<(Url, Exchange), String> {
        let mut url = Url::parse(&self.url).ok_or("no URL of HTTP")?;
        if body.len() != self.bytes {
            let (is, should) = (body.len(), self.bytes);
            return Err(format!("its body has {is} bytes and should have {should}"));
        }
        let response = response(self.status, self.headers)?;
        let exchange = Exchange {
            method: self.method,
            scheme: std::mem::take(&mut url.scheme),
            query: std::mem::take(&mut url.query),
            response,
            body,
        };
        Ok((url, exchange))
    }
}

/// A response that every version of HTTP can send.
fn response(status: u16, headers: Vec<(String, String)>) -> Result<Response, String> {
    if headers.iter().any(|(name, _)| name == "content-length") {
        return Err("content-length, which is the server's to say".into());
    }
    let headers = headers.into_iter().map(|(name, value)| Field::new(name, value));
    let status = Field::new(":status", status.to_string());
    let section: Fields = std::iter::once(status).chain(headers).collect();
    Response::from_section(section).map_err(|error| error.to_string())
}

/// The bodies read so far; exchanges may share them.
struct Bodies<'a> {
    directory: &'a Path,
    read: HashMap<String, Bytes>,
}

impl Bodies<'_> {
    fn get(&mut self, name: &str) -> Result<Bytes, SiteError> {
        if let Some(body) = self.read.get(name) {
            return Ok(body.clone());
        }
        let body = Bytes::from(read_file(&self.directory.join(name))?);
        self.read.insert(name.to_owned(), body.clone());
        Ok(body)
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, SiteError> {
    std::fs::read(path).map_err(|source| SiteError::File { path: path.to_owned(), source })
}
