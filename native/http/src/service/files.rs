use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use headway_wire::range::ContentRange;
use headway_wire::{Field, Request, Response, varint};

use super::coding::{Coding, NotAcceptable, choose};
use super::conditions::{Validators, Verdict};
use super::path::Named;
use super::portion::{Multipart, Portion};
use super::root::{Found, Root};
use super::{Body, FilePart, Generated, Reply, Service};

/// Where generated bodies are: `/bytes/SIZE`.
pub(super) const GENERATED: &str = "/bytes/";
/// A Last-Modified that is older than this stands for one state only (RFC 9110, section 8.8.2.2).
const STRONG_AGE: Duration = Duration::from_secs(1);

/// Tells the time of day.
pub type Clock = fn() -> SystemTime;

/// Static files, and generated bodies of any size at `/bytes/SIZE`.
///
/// GET and HEAD (RFC 9110), with conditions, byte ranges, and content codings of which there are files
/// beside the file asked for. A directory is its `index.html`.
#[derive(Debug)]
pub struct Files {
    root: Option<Root>,
    fields: Vec<Field>,
    clock: Option<Clock>,
}

/// What a path leads to.
struct Resource {
    content: Content,
    size: u64,
    etag: String,
    changed: Option<SystemTime>,
    content_type: Cow<'static, str>,
    coding: Option<Coding>,
    /// Whether others might get it in another coding.
    varies: bool,
}

enum Content {
    Generated,
    File(Arc<File>),
}

/// What a request finds.
enum Outcome {
    Resource(Resource),
    /// The path of a directory, without its slash: here is the right one.
    Elsewhere(String),
    /// There is something, but only in codings that the client does not accept.
    NotAcceptable {
        varies: bool,
    },
    Nothing,
}

impl Files {
    /// Those below a directory.
    ///
    /// # Arguments
    /// * `root` - the directory of its files; without one there are only generated bodies.
    /// * `fields` - added to every response.
    ///
    /// # Errors
    /// The root cannot be opened.
    pub fn new(root: Option<&Path>, fields: Vec<Field>) -> io::Result<Self> {
        Ok(Self { root: root.map(Root::open).transpose()?, fields, clock: None })
    }

    /// Has Date in every response, and Last-Modified in those with a file.
    #[must_use]
    pub fn dated(self, clock: Clock) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// # Errors
    /// The kernel is short of something; what is there is not known.
    fn find(&self, request: &Request) -> io::Result<Outcome> {
        let path = request.path.split(['?', '#']).next().unwrap_or_default();
        let outcome = match (path.strip_prefix(GENERATED), &self.root) {
            (Some(size), _) => {
                size.parse().map_or(Outcome::Nothing, |size| match choose(&[], &request.fields) {
                    Ok(_) => Outcome::Resource(generated(size)),
                    Err(NotAcceptable) => Outcome::NotAcceptable { varies: false },
                })
            }
            (None, Some(root)) => match Named::parse(path) {
                Some(named) => find_on_disk(root, &named, request)?,
                None => Outcome::Nothing,
            },
            (None, None) => Outcome::Nothing,
        };
        Ok(match outcome {
            // HTTP/3 can say no larger size, and what one version has the others have.
            Outcome::Resource(resource) if resource.size > varint::MAX => Outcome::Nothing,
            other => other,
        })
    }

    fn answer(&self, request: &Request, now: Option<SystemTime>) -> Reply {
        if !matches!(&request.method[..], "GET" | "HEAD") {
            return plain(405, "method not allowed\n", [Field::new("allow", "GET, HEAD")]);
        }
        match self.find(request) {
            Ok(Outcome::Resource(resource)) => resource.deliver(request, now),
            Ok(Outcome::Elsewhere(path)) => {
                plain(301, "moved permanently\n", [Field::new("location", path)])
            }
            Ok(Outcome::NotAcceptable { varies }) => {
                plain(406, "no acceptable content coding\n", vary(varies))
            }
            Ok(Outcome::Nothing) => plain(404, "not found\n", []),
            Err(_) => plain(503, "out of file descriptors or memory\n", []),
        }
    }
}

impl Service for Files {
    fn respond(&mut self, request: &Request) -> Reply {
        let now = self.clock.map(|clock| clock());
        let Reply { mut response, mut body } = self.answer(request, now);
        let date = now.map(|now| Field::new("date", httpdate::fmt_http_date(now)));
        response.fields.extend(self.fields.iter().cloned().chain(date));
        if request.method == "HEAD" {
            body = Body::empty();
        }
        Reply { response, body }
    }
}

impl Resource {
    /// RFC 9110, sections 13 to 15.
    fn deliver(self, request: &Request, now: Option<SystemTime>) -> Reply {
        // RFC 9110, section 8.8.2.1: not in the future.
        let changed = now.and_then(|now| Some(self.changed?.min(now)));
        let last_modified = changed.map(httpdate::fmt_http_date);
        let validators = Validators {
            etag: Some(self.etag.as_bytes()),
            last_modified: last_modified.as_deref().map(str::as_bytes),
            is_strong_date: now.zip(changed).is_some_and(|(now, changed)| {
                now.duration_since(changed).is_ok_and(|age| age > STRONG_AGE)
            }),
        };
        let verdict = validators.judge(request);
        let portion = Portion::of(validators.ranges(request).as_deref(), self.size);
        let state = [Field::new("etag", self.etag.clone())]
            .into_iter()
            .chain(last_modified.map(|date| Field::new("last-modified", date)))
            .chain(vary(self.varies));
        match (verdict, portion) {
            (Verdict::Failed, _) => plain(412, "precondition failed\n", state),
            // RFC 9110, section 15.4.5.
            (Verdict::Unchanged, _) => reply(304, state.collect(), Body::empty()),
            (Verdict::Answer, Portion::Nothing) => {
                let value = ContentRange::Unsatisfied(self.size).to_string();
                plain(416, "range not satisfiable\n", [Field::new("content-range", value)])
            }
            (Verdict::Answer, portion) => self.send(portion, state),
        }
    }

    /// The content, or the part of it that is wanted.
    fn send(self, portion: Portion, state: impl Iterator<Item = Field>) -> Reply {
        let whole = 0..self.size;
        let (status, content_type, body, range) = match portion {
            Portion::Part(part) => {
                let range =
                    Field::new("content-range", ContentRange::of(&part, self.size).to_string());
                (206, self.content_type.clone(), self.body(&part), Some(range))
            }
            Portion::Parts(parts) => {
                let (of_parts, state) = (Some(&*self.content_type), self.etag.as_bytes());
                let parts = Multipart::new(parts, self.size, of_parts, state);
                let content_type = parts.content_type().into();
                (206, content_type, parts.body(|part| self.body(part)), None)
            }
            Portion::Whole | Portion::Nothing => {
                (200, self.content_type.clone(), self.body(&whole), None)
            }
        };
        let mut fields = vec![
            Field::new("content-length", body.remaining().to_string()),
            Field::new("content-type", content_type.into_owned()),
            Field::new("accept-ranges", "bytes"),
        ];
        fields.extend(state);
        fields.extend(self.coding.map(|coding| Field::new("content-encoding", coding.name())));
        fields.extend(range);
        reply(status, fields, body)
    }

    fn body(&self, part: &Range<u64>) -> Body {
        let length = part.end - part.start;
        match &self.content {
            Content::Generated => {
                Body::Generated(Box::new(Generated::new(self.size, part.start, length)))
            }
            Content::File(file) => Body::File(FilePart::new(Arc::clone(file), part.start, length)),
        }
    }
}

fn reply(status: u16, fields: Vec<Field>, body: Body) -> Reply {
    Reply { response: Response { status, fields: fields.into() }, body }
}

fn plain(status: u16, text: &'static str, more: impl IntoIterator<Item = Field>) -> Reply {
    let mut fields = vec![
        Field::new("content-length", text.len().to_string()),
        Field::new("content-type", "text/plain"),
    ];
    fields.extend(more);
    reply(status, fields, Body::Bytes(Bytes::from_static(text.as_bytes())))
}

/// What caches have to know if there is more than one coding (RFC 9110, section 12.5.5).
fn vary(varies: bool) -> Option<Field> {
    varies.then(|| Field::new("vary", "accept-encoding"))
}

fn generated(size: u64) -> Resource {
    Resource {
        content: Content::Generated,
        size,
        etag: format!("\"{size}\""),
        changed: None,
        content_type: UNKNOWN_TYPE.into(),
        coding: None,
        varies: false,
    }
}

fn find_on_disk(root: &Root, named: &Named, request: &Request) -> io::Result<Outcome> {
    let Some(located) = root.locate(&named.file)? else { return Ok(Outcome::Nothing) };
    if located.is_directory && !named.has_slash {
        let query = request.path.split_once('?').map(|(_, query)| format!("?{query}"));
        return Ok(Outcome::Elsewhere(named.with_slash() + &query.unwrap_or_default()));
    }
    if !located.is_directory && named.has_slash {
        return Ok(Outcome::Nothing);
    }
    let content_type = content_type(&located.file);
    let mut there = Vec::new();
    for coding in Coding::ALL.into_iter().filter(|_| compresses(&content_type)) {
        if root.is_file(&sibling(&located.file, coding))? {
            there.push(coding);
        }
    }
    let varies = !there.is_empty();
    let Ok(coding) = choose(&there, &request.fields) else {
        return Ok(Outcome::NotAcceptable { varies });
    };
    let file = coding.map_or_else(|| located.file.clone(), |coding| sibling(&located.file, coding));
    let Some(Found { file, size, changed }) = root.read(&file)? else {
        return Ok(Outcome::Nothing);
    };
    let changed_ns = changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let ending = coding.map_or("", Coding::ending);
    Ok(Outcome::Resource(Resource {
        content: Content::File(Arc::new(file)),
        size,
        etag: format!("\"{size}-{changed_ns}{ending}\""),
        changed: Some(changed),
        content_type,
        coding,
        varies,
    }))
}

/// Where the content of a file is in a coding.
fn sibling(file: &Path, coding: Coding) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(coding.ending());
    name.into()
}

/// Of content that nothing is known of.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// By the ending of a file's name. Texts are taken to be UTF-8, as nearly all are.
fn content_type(file: &Path) -> Cow<'static, str> {
    match mime_guess::from_path(file).first_raw() {
        // RFC 9239 has made them one.
        Some("application/javascript") => "text/javascript; charset=utf-8".into(),
        Some(text) if text.starts_with("text/") => format!("{text}; charset=utf-8").into(),
        Some(other) => other.into(),
        None => UNKNOWN_TYPE.into(),
    }
}

/// Whether content of a type becomes smaller by a coding. Of other types nobody keeps encoded
/// siblings, and looking for them would take time.
fn compresses(content_type: &str) -> bool {
    const WORDS: [&str; 8] =
        ["text/", "json", "xml", "javascript", "wasm", "font/ttf", "font/otf", "image/bmp"];
    WORDS.iter().any(|word| content_type.contains(word))
}

#[cfg(test)]
mod tests;
