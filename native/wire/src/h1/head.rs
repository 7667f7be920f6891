//! The heads of requests and responses, and what they say about the connection and the content.

use std::borrow::Cow;

use bytes::Bytes;
use httparse::Status;

use super::error::malformed;
use super::section::{MAX_FIELDS, SectionReader, fields};
use super::{BodyLength, Error};
use crate::fields::{Fields, Request, Response, is_authority, is_scheme};

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead {
    /// The request.
    pub request: Request,
    /// How long its content is.
    pub body: BodyLength,
    /// Whether another request may follow (RFC 9112 §9.3).
    pub keep_alive: bool,
    /// Whether the response may come in chunks: not to a client of HTTP/1.0 (RFC 9112 §6.1).
    pub takes_chunks: bool,
    /// Whether the client waits for 100 before it sends the content (RFC 9110 §10.1.1).
    pub expects_continue: bool,
}

/// The head of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// The response.
    pub response: Response,
    /// How long its content is.
    pub body: BodyLength,
    /// Whether the connection can be used further (RFC 9112 §9.3).
    pub keep_alive: bool,
}

/// Reads the heads of requests.
#[derive(Debug)]
pub struct RequestReader {
    section: SectionReader,
    scheme: &'static str,
}

impl RequestReader {
    /// For a connection whose requests are for `scheme`. A head may have `max_head` bytes, and that
    /// many are kept.
    #[must_use]
    pub fn new(scheme: &'static str, max_head: usize) -> Self {
        Self { section: SectionReader::head(max_head), scheme }
    }

    /// Whether the connection may end here: between two requests.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.section.is_empty()
    }

    /// Memory that a head which is not whole takes, in bytes.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.section.kept()
    }

    /// Takes the next head off `input`; `None` if that needs more bytes.
    ///
    /// # Errors
    ///
    /// See [`Error::status`].
    pub fn decode(&mut self, input: &mut Bytes) -> Result<Option<RequestHead>, Error> {
        let Some(head) = self.section.read(input)? else { return Ok(None) };
        parse_request(&with_known_minor(head), self.scheme).map(Some)
    }
}

/// Reads the heads of responses.
#[derive(Debug)]
pub struct ResponseReader {
    section: SectionReader,
}

impl ResponseReader {
    /// A head may have `max_head` bytes, and that many are kept.
    #[must_use]
    pub fn new(max_head: usize) -> Self {
        Self { section: SectionReader::head(max_head) }
    }

    /// Takes the next head, of a response to a request with this method, off `input`; `None` if that
    /// needs more bytes.
    ///
    /// # Errors
    ///
    /// If the response cannot be used.
    pub fn decode(
        &mut self,
        method: &str,
        input: &mut Bytes,
    ) -> Result<Option<ResponseHead>, Error> {
        let head = self.section.read(input).map_err(|error| match error {
            // Responses have a status line where requests have their target.
            Error::TargetTooLong => Error::HeadTooLarge,
            error => error,
        })?;
        let Some(head) = head else { return Ok(None) };
        parse_response(&with_known_minor(head), method).map(Some)
    }
}

/// The head with HTTP/1.1 in its first line in place of a later minor version, as which it is to be read
/// (RFC 9110 §2.5).
fn with_known_minor(head: Bytes) -> Bytes {
    const MAJOR: &[u8] = b"HTTP/1.";
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let digit = if line.starts_with(MAJOR) {
        MAJOR.len()
    } else if line.len() > MAJOR.len() && line[..line.len() - 1].ends_with(MAJOR) {
        line.len() - 1
    } else {
        return head;
    };
    // Of one digit (RFC 9112 §2.3).
    let is_alone = line.get(digit + 1).is_none_or(|&byte| byte == b' ');
    if !(is_alone && matches!(line.get(digit), Some(b'2'..=b'9'))) {
        return head;
    }
    let mut known = head.to_vec();
    known[digit] = b'1';
    known.into()
}

fn parse_request(head: &Bytes, scheme: &str) -> Result<RequestHead, Error> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut headers);
    let (Status::Complete(_), Some(method), Some(target), Some(minor)) =
        (parsed.parse(head)?, parsed.method, parsed.path, parsed.version)
    else {
        return Err(malformed("an empty line that is not one"));
    };
    if !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(malformed("a request target with characters it must not have"));
    }
    let fields = fields(head, parsed.headers);
    let host = host(&fields, minor)?;
    let target = Target::parse(method, target, scheme, host)?;
    let content_length = fields.content_length()?;
    let body = match transfer_coding(&fields, minor)? {
        true if content_length.is_some() => return Err(AMBIGUOUS),
        true => BodyLength::Chunked,
        false => BodyLength::Known(content_length.unwrap_or(0)),
    };
    Ok(RequestHead {
        keep_alive: keep_alive(&fields, minor),
        takes_chunks: minor > 0,
        expects_continue: minor > 0 && fields.has_member("expect", "100-continue"),
        body,
        request: Request {
            method: method.to_owned(),
            protocol: String::new(),
            scheme: target.scheme.to_owned(),
            authority: target.authority.to_owned(),
            path: target.path.into_owned(),
            fields,
        },
    })
}

fn parse_response(head: &Bytes, method: &str) -> Result<ResponseHead, Error> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Response::new(&mut headers);
    let (Status::Complete(_), Some(status @ 100..), Some(minor)) =
        (parsed.parse(head)?, parsed.code, parsed.version)
    else {
        return Err(malformed("a status below 100, or an empty line that is not one"));
    };
    let fields = fields(head, parsed.headers);
    let content_length = fields.content_length()?;
    let has_no_content = method == "HEAD" || matches!(status, 100..=199 | 204 | 304);
    let body = match (transfer_coding(&fields, minor)?, content_length) {
        _ if has_no_content => BodyLength::Known(0),
        (true, Some(_)) => return Err(AMBIGUOUS),
        (true, None) => BodyLength::Chunked,
        (false, Some(length)) => BodyLength::Known(length),
        (false, None) => BodyLength::UntilClose,
    };
    let keep_alive = keep_alive(&fields, minor) && body != BodyLength::UntilClose;
    Ok(ResponseHead { response: Response { status, fields }, body, keep_alive })
}

/// RFC 9112 §6.3: somebody on the way may have understood the other one.
const AMBIGUOUS: Error = malformed("both Content-Length and Transfer-Encoding");

/// RFC 9112 §3.2: HTTP/1.1 requires one Host.
fn host(fields: &Fields, minor: u8) -> Result<&str, Error> {
    let mut hosts = fields.all("host");
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host,
        (None, _) if minor == 0 => return Ok(""),
        (None, _) => return Err(malformed("a request without Host")),
        (Some(_), Some(_)) => return Err(malformed("Host twice")),
    };
    // RFC 9110 §7.2: empty where the target has no authority.
    std::str::from_utf8(host)
        .ok()
        .filter(|host| host.is_empty() || is_authority(host.as_bytes()))
        .ok_or(malformed("a Host that is not a host and a port"))
}

/// What a request is for.
struct Target<'a> {
    scheme: &'a str,
    authority: &'a str,
    path: Cow<'a, str>,
}

impl<'a> Target<'a> {
    /// RFC 9112 §3.2 and §3.3.
    fn parse(method: &str, target: &'a str, scheme: &'a str, host: &'a str) -> Result<Self, Error> {
        if method == "CONNECT" {
            if !is_authority(target.as_bytes()) {
                return Err(malformed("a target of CONNECT that is not a host and a port"));
            }
            return Ok(Self { scheme: "", authority: target, path: Cow::Borrowed("") });
        }
        if target.starts_with('/') || (target == "*" && method == "OPTIONS") {
            return Ok(Self { scheme, authority: host, path: Cow::Borrowed(target) });
        }
        let absolute = target.split_once("://").filter(|(scheme, _)| is_scheme(scheme.as_bytes()));
        let (scheme, rest) = absolute.ok_or(malformed("a request target in no known form"))?;
        let authority_len = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(authority_len);
        if !is_authority(authority.as_bytes()) {
            // RFC 9110 §4.2.4: userinfo, too, is to be treated as an error.
            return Err(malformed(
                "an absolute request target whose authority is not a host and a port",
            ));
        }
        // RFC 9110 §4.2.3: an empty path is the same as a slash.
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self { scheme, authority, path: Cow::Owned(format!("{slash}{path}")) })
    }
}

/// Whether the content is chunked (RFC 9112 §6.1).
fn transfer_coding(fields: &Fields, minor: u8) -> Result<bool, Error> {
    match fields.joined("transfer-encoding") {
        None => Ok(false),
        Some(_) if minor == 0 => Err(malformed("Transfer-Encoding in HTTP/1.0")),
        Some(coding) if coding.eq_ignore_ascii_case(b"chunked") => Ok(true),
        Some(_) => Err(Error::UnknownCoding),
    }
}

/// RFC 9112 §9.3.
fn keep_alive(fields: &Fields, minor: u8) -> bool {
    if fields.has_member("connection", "close") {
        return false;
    }
    minor > 0 || fields.has_member("connection", "keep-alive")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(head: &'static str) -> Result<RequestHead, Error> {
        let mut input = Bytes::from_static(head.as_bytes());
        let head = RequestReader::new("http", 1000).decode(&mut input)?;
        assert!(input.is_empty());
        Ok(head.expect("a whole head"))
    }

    fn response(method: &str, head: &'static str) -> Result<ResponseHead, Error> {
        let mut input = Bytes::from_static(head.as_bytes());
        Ok(ResponseReader::new(1000).decode(method, &mut input)?.expect("a whole head"))
    }

    #[test]
    fn plain_request() {
        let head =
            request("\r\n\nGET /x?y HTTP/1.1\r\nHost: a.example:81\r\nX-Y: \t z \r\n\r\n").unwrap();
        let mut expected = Request::get("http", "a.example:81", "/x?y");
        expected.fields.push("host", "a.example:81");
        expected.fields.push("x-y", "z");
        assert_eq!(head.request, expected);
        assert_eq!(head.body, BodyLength::Known(0));
        assert!(head.keep_alive && !head.expects_continue);
    }

    #[test]
    fn targets() {
        let target = |head| request(head).map(|head| head.request).unwrap();
        let absolute = target("GET https://b.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n");
        assert_eq!((&absolute.scheme[..], &absolute.path[..]), ("https", "/x"));
        assert_eq!(absolute.authority, "b.example");
        assert_eq!(target("GET http://b.example HTTP/1.1\r\nHost: a\r\n\r\n").path, "/");
        assert_eq!(target("GET http://zz?x HTTP/1.1\r\nHost: a\r\n\r\n").path, "/?x");
        assert_eq!(target("GET / HTTP/1.1\r\nHost:\r\n\r\n").authority, "");
        assert_eq!(target("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").path, "*");
        let connect = target("CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!((&connect.authority[..], &connect.path[..]), ("a.example:443", ""));
        assert_eq!(target("GET / HTTP/1.0\r\n\r\n").authority, "");
    }

    #[test]
    fn connection_and_body() {
        let post = request(
            "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: Chunked\r\n\
             connection: x, Close\r\nexpect: 100-Continue\r\n\r\n",
        );
        let post = post.unwrap();
        assert_eq!(post.body, BodyLength::Chunked);
        assert!(!post.keep_alive && post.expects_continue);
        assert!(!request("GET / HTTP/1.0\r\n\r\n").unwrap().keep_alive);
        assert!(request("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").unwrap().keep_alive);
        let length = request("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 17\r\n\r\n");
        assert_eq!(length.unwrap().body, BodyLength::Known(17));
    }

    #[test]
    fn responses() {
        let head =
            response("GET", "HTTP/1.1 206 Some Content\r\nContent-Length: 5\r\n\r\n").unwrap();
        assert_eq!((head.response.status, head.body), (206, BodyLength::Known(5)));
        assert!(head.keep_alive);
        let head = response("HEAD", "HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\n").unwrap();
        assert_eq!(head.body, BodyLength::Known(0));
        let head = response("GET", "HTTP/1.1 304\r\nContent-Length: 5\r\n\r\n").unwrap();
        assert_eq!(head.body, BodyLength::Known(0));
        let head = response("GET", "HTTP/1.1 200 OK\r\n\r\n").unwrap();
        assert_eq!((head.body, head.keep_alive), (BodyLength::UntilClose, false));
        assert!(response("GET", "HTTP/1.1 099 X\r\n\r\n").is_err());
    }

    #[test]
    fn a_status_for_every_error() {
        let cases = [
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nhost: a\r\nb\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nhost : a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nhost: a\r\n b: folded\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nhost: a\r\nb: c\x01\r\n\r\n", 400),
            ("GET x HTTP/1.1\r\nhost: a\r\n\r\n", 400),
            ("GET http:///x HTTP/1.1\r\nhost: a\r\n\r\n", 400),
            ("GET http://?x HTTP/1.1\r\nhost: a\r\n\r\n", 400),
            ("GET http://user@a/x HTTP/1.1\r\nhost: a\r\n\r\n", 400),
            ("CONNECT a/b HTTP/1.1\r\nhost: a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nhost: a/b@c?d\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nhost: user@a\r\n\r\n", 400),
            ("GET / HTTP/1.10\r\nhost: a\r\n\r\n", 400),
            ("GET /ü HTTP/1.1\r\nhost: a\r\n\r\n", 400),
            ("G@T / HTTP/1.1\r\nhost: a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nhost: a b\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n", 400),
            (
                "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
                400,
            ),
            ("GET / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n", 501),
            ("PRI * HTTP/2.0\r\n\r\n", 505),
            ("GET / HTTP/1.1\r\nhost: a\r\n\r\r\n", 400),
        ];
        for (head, status) in cases {
            assert_eq!(request(head).unwrap_err().status(), status, "{head:?}");
        }
    }

    /// RFC 9110 §2.5.
    #[test]
    fn later_minor_versions_are_read_as_the_last_one_that_is_known() {
        let head = request("GET /x HTTP/1.2\r\nhost: a\r\n\r\n").unwrap();
        assert!(head.keep_alive && head.request.path == "/x");
        assert_eq!(request("GET /x HTTP/2.0\r\nhost: a\r\n\r\n").unwrap_err().status(), 505);
        let head = response("GET", "HTTP/1.9 200 OK\r\ncontent-length: 1\r\n\r\n").unwrap();
        assert!(head.keep_alive && head.body == BodyLength::Known(1));
        assert!(response("GET", "HTTP/2.0 200 OK\r\n\r\n").is_err());
    }

    #[test]
    fn limits() {
        let long = format!("HTTP/1.1 200 {}", "x".repeat(1000));
        let error = ResponseReader::new(1000).decode("GET", &mut long.into()).unwrap_err();
        assert_eq!(error.to_string(), "a head larger than the limit");
        let status = |head: String| {
            RequestReader::new("http", 1000).decode(&mut head.into()).unwrap_err().status()
        };
        assert_eq!(status(format!("GET /{}", "x".repeat(1000))), 414);
        assert_eq!(status(format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(1000))), 431);
        let many: String = (0..=MAX_FIELDS).map(|_| "a:b\r\n").collect();
        assert_eq!(status(format!("GET / HTTP/1.1\r\n{many}\r\n")), 431);
    }
}
