//! Under which conditions a request wants a representation, and how much of it.

use headway_wire::range::Range;
use headway_wire::{Fields, Request};

/// What tells one state of a resource from another (RFC 9110, section 8.8).
#[derive(Clone, Copy, Debug)]
pub(super) struct Validators<'a> {
    /// Value of ETag.
    pub(super) etag: Option<&'a [u8]>,
    /// Value of Last-Modified.
    pub(super) last_modified: Option<&'a [u8]>,
}

impl<'a> Validators<'a> {
    /// Those among the fields of a response.
    pub(super) fn of(fields: &'a Fields) -> Self {
        let value = |name| fields.get(name).map(AsRef::as_ref);
        Self { etag: value("etag"), last_modified: value("last-modified") }
    }

    /// Whether the client has the representation already: status 304 to GET and HEAD.
    ///
    /// If-None-Match decides, and If-Modified-Since without it (RFC 9110, section 13.2.2). Without
    /// validators there is nothing to compare.
    pub(super) fn is_unchanged(&self, request: &Request) -> bool {
        if !matches!(&request.method[..], "GET" | "HEAD") {
            return false;
        }
        match request.fields.joined("if-none-match") {
            Some(tags) => self.etag.is_some_and(|etag| is_listed(etag, &tags)),
            None => self.is_not_newer(request.fields.get("if-modified-since").map(AsRef::as_ref)),
        }
    }

    /// The range that is wanted: of GET only (RFC 9110, section 14.2), and with If-Range only of
    /// this very representation (section 13.1.5).
    pub(super) fn range(&self, request: &Request) -> Option<Range> {
        let is_same = request.fields.get("if-range").is_none_or(|value| self.is_exactly(value));
        if !is_same || request.method != "GET" {
            return None;
        }
        Range::parse(&request.fields.joined("range")?)
    }

    /// RFC 9110, section 13.1.3; a value that is no date is ignored.
    fn is_not_newer(&self, asked: Option<&[u8]>) -> bool {
        let date = |value: Option<&[u8]>| {
            std::str::from_utf8(value?).ok().and_then(|text| httpdate::parse_http_date(text).ok())
        };
        match (date(self.last_modified), date(asked)) {
            (Some(last_modified), Some(asked)) => last_modified <= asked,
            _ => false,
        }
    }

    /// Strong comparison of entity tags (RFC 9110, section 8.8.3.2); dates must be the same text.
    fn is_exactly(&self, value: &[u8]) -> bool {
        !value.starts_with(WEAK) && [self.etag, self.last_modified].contains(&Some(value))
    }
}

/// What a weak entity tag begins with.
const WEAK: &[u8] = b"W/";

/// Weak comparison with the members of If-None-Match (RFC 9110, section 13.1.2).
fn is_listed(etag: &[u8], list: &[u8]) -> bool {
    let opaque = |tag: &'_ [u8]| tag.strip_prefix(WEAK).unwrap_or(tag).to_vec();
    let mut in_quotes = false;
    let is_separator = |byte: &u8| {
        in_quotes ^= *byte == b'"';
        *byte == b',' && !in_quotes
    };
    list.split(is_separator)
        .map(<[u8]>::trim_ascii)
        .any(|tag| tag == b"*" || opaque(tag) == opaque(etag))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

    fn request(fields: &[(&'static str, &'static str)]) -> Request {
        let mut request = Request::get("https", "a.test", "/");
        fields.iter().for_each(|&(name, value)| request.fields.push(name, value));
        request
    }

    fn is_unchanged(etag: Option<&str>, fields: &[(&'static str, &'static str)]) -> bool {
        let last_modified = Some(DATE.as_bytes());
        Validators { etag: etag.map(str::as_bytes), last_modified }.is_unchanged(&request(fields))
    }

    /// RFC 9110, sections 8.8.3.2 and 13.1.2.
    #[test]
    fn entity_tags() {
        let cases = [
            (r#""a""#, r#""a""#, true),
            (r#"W/"a""#, r#""a""#, true),
            (r#""a""#, r#"W/"a""#, true),
            (r#""a""#, r#""b", "a""#, true),
            (r#""a,b""#, r#""c","a,b""#, true),
            (r#""a""#, r#""x,"a",""#, false),
            (r#""a""#, r#""b""#, false),
            (r#""a""#, "*", true),
            ("bare", "bare", true),
        ];
        for (etag, asked, unchanged) in cases {
            assert_eq!(is_unchanged(Some(etag), &[("if-none-match", asked)]), unchanged, "{asked}");
        }
        let twice = [("if-none-match", r#""b""#), ("if-none-match", r#""a""#)];
        assert!(is_unchanged(Some(r#""a""#), &twice));
        assert!(!is_unchanged(None, &[("if-none-match", r#""a""#)]));
    }

    /// RFC 9110, sections 5.6.7 and 13.1.3: the three forms of the same second.
    #[test]
    fn dates() {
        let forms = [DATE, "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"];
        for later in forms.into_iter().chain(["Mon, 07 Nov 1994 00:00:00 GMT"]) {
            assert!(is_unchanged(None, &[("if-modified-since", later)]), "{later}");
        }
        for not in ["Sun, 06 Nov 1994 08:49:36 GMT", "yesterday", ""] {
            assert!(!is_unchanged(None, &[("if-modified-since", not)]), "{not}");
        }
        let none = Validators { etag: None, last_modified: None };
        assert!(!none.is_unchanged(&request(&[("if-modified-since", DATE)])));
    }

    #[test]
    fn entity_tags_count_more_than_dates() {
        let both = |tag| [("if-none-match", tag), ("if-modified-since", DATE)];
        assert!(is_unchanged(Some(r#""a""#), &both(r#""a""#)));
        assert!(!is_unchanged(Some(r#""a""#), &both(r#""b""#)));
    }

    #[test]
    fn other_methods_have_no_304() {
        let asked = Request { method: "POST".into(), ..request(&[("if-none-match", "*")]) };
        assert!(!Validators { etag: Some(b"\"a\""), last_modified: None }.is_unchanged(&asked));
    }

    #[test]
    fn a_range_of_the_same_only() {
        let validators =
            |etag| Validators { etag: Some(etag), last_modified: Some(DATE.as_bytes()) };
        let wants = |etag: &'static [u8], condition| {
            let asked = request(&[("range", "bytes=1-2"), ("if-range", condition)]);
            validators(etag).range(&asked).is_some()
        };
        assert!(wants(b"\"a\"", "\"a\"") && wants(b"\"a\"", DATE));
        assert!(!wants(b"\"a\"", "\"b\"") && !wants(b"W/\"a\"", "W/\"a\""));
        assert!(!wants(b"\"a\"", "Sun Nov  6 08:49:37 1994"));
        let head = Request { method: "HEAD".into(), ..request(&[("range", "bytes=1-2")]) };
        assert!(validators(b"\"a\"").range(&head).is_none());
    }
}
