//! Under which conditions a request wants a representation, and how much of it.

use std::time::SystemTime;

use headway_wire::range::Range;
use headway_wire::{Fields, Request};

/// What tells one state of a resource from another (RFC 9110, section 8.8).
#[derive(Clone, Copy, Debug)]
pub(super) struct Validators<'a> {
    /// Value of ETag.
    pub(super) etag: Option<&'a [u8]>,
    /// Value of Last-Modified.
    pub(super) last_modified: Option<&'a [u8]>,
    /// Whether no two states can have the same Last-Modified (section 8.8.2.2).
    pub(super) is_strong_date: bool,
}

/// What the conditions of a request make of the answer (RFC 9110, section 13.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is what it would be without them.
    Answer,
    /// The client has the representation already: status 304.
    Unchanged,
    /// The representation is not the one that the client means: status 412.
    Failed,
}

impl<'a> Validators<'a> {
    /// Those among the fields of a response.
    pub(super) fn of(fields: &'a Fields) -> Self {
        let value = |name| fields.get(name).map(AsRef::as_ref);
        Self { etag: value("etag"), last_modified: value("last-modified"), is_strong_date: true }
    }

    /// Evaluates the conditions of GET and HEAD, in the order of RFC 9110, section 13.2.2; other
    /// methods have none. Without validators there is nothing to compare.
    pub(super) fn judge(&self, request: &Request) -> Verdict {
        if !matches!(&request.method[..], "GET" | "HEAD") {
            return Verdict::Answer;
        }
        let dated = |name| request.fields.get(name).and_then(|value| date(value));
        let is_meant = match request.fields.joined("if-match") {
            Some(tags) => members(&tags).any(|tag| tag == ANY || self.is_tag(tag)),
            None => !matches!(
                (self.date(), dated("if-unmodified-since")),
                (Some(changed), Some(asked)) if changed > asked
            ),
        };
        if !is_meant {
            return Verdict::Failed;
        }
        let is_known = match request.fields.joined("if-none-match") {
            Some(tags) => self.etag.is_some_and(|etag| {
                members(&tags).any(|tag| tag == ANY || opaque(tag) == opaque(etag))
            }),
            None => matches!(
                (self.date(), dated("if-modified-since")),
                (Some(changed), Some(asked)) if changed <= asked
            ),
        };
        if is_known { Verdict::Unchanged } else { Verdict::Answer }
    }

    /// The ranges that are wanted: of GET only (RFC 9110, section 14.2), and with If-Range only of
    /// this very representation (section 13.1.5).
    pub(super) fn ranges(&self, request: &Request) -> Option<Vec<Range>> {
        let is_same = request.fields.get("if-range").is_none_or(|value| self.is_exactly(value));
        if !is_same || request.method != "GET" {
            return None;
        }
        Range::parse_all(&request.fields.joined("range")?)
    }

    fn date(&self) -> Option<SystemTime> {
        date(self.last_modified?)
    }

    /// Strong comparison of entity tags (RFC 9110, section 8.8.3.2).
    fn is_tag(&self, tag: &[u8]) -> bool {
        !tag.starts_with(WEAK) && self.etag == Some(tag)
    }

    /// Dates must be the same text, and one that says enough.
    fn is_exactly(&self, value: &[u8]) -> bool {
        self.is_tag(value) || (self.is_strong_date && self.last_modified == Some(value))
    }
}

/// A date in one of its three forms (RFC 9110, section 5.6.7); what is none is ignored.
fn date(value: &[u8]) -> Option<SystemTime> {
    httpdate::parse_http_date(std::str::from_utf8(value).ok()?).ok()
}

/// In place of a list of entity tags: whichever there is.
const ANY: &[u8] = b"*";
/// What a weak entity tag begins with.
const WEAK: &[u8] = b"W/";

/// An entity tag without the mark of a weak one, for weak comparison.
fn opaque(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(WEAK).unwrap_or(tag)
}

/// The members of a list of entity tags, which may have commas in them.
fn members(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut in_quotes = false;
    let is_separator = move |byte: &u8| {
        in_quotes ^= *byte == b'"';
        *byte == b',' && !in_quotes
    };
    list.split(is_separator).map(<[u8]>::trim_ascii)
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

    fn judge(etag: Option<&str>, fields: &[(&'static str, &'static str)]) -> Verdict {
        let (etag, last_modified) = (etag.map(str::as_bytes), Some(DATE.as_bytes()));
        Validators { etag, last_modified, is_strong_date: true }.judge(&request(fields))
    }

    /// RFC 9110, sections 8.8.3.2, 13.1.1 and 13.1.2: the tag that there is, those asked for, and
    /// whether they are the same by weak and by strong comparison.
    #[test]
    fn entity_tags() {
        let cases = [
            (r#""a""#, r#""a""#, true, true),
            (r#"W/"a""#, r#""a""#, true, false),
            (r#""a""#, r#"W/"a""#, true, false),
            (r#"W/"a""#, r#"W/"a""#, true, false),
            (r#""a""#, r#""b", "a""#, true, true),
            (r#""a,b""#, r#""c","a,b""#, true, true),
            (r#""a""#, r#""x,"a",""#, false, false),
            (r#""a""#, r#""b""#, false, false),
            (r#""a""#, "*", true, true),
            ("bare", "bare", true, true),
        ];
        for (etag, asked, weakly, strongly) in cases {
            let unchanged = judge(Some(etag), &[("if-none-match", asked)]) == Verdict::Unchanged;
            assert_eq!(unchanged, weakly, "If-None-Match: {asked}");
            let meant = judge(Some(etag), &[("if-match", asked)]) == Verdict::Answer;
            assert_eq!(meant, strongly, "If-Match: {asked}");
        }
        let twice = [("if-none-match", r#""b""#), ("if-none-match", r#""a""#)];
        assert_eq!(judge(Some(r#""a""#), &twice), Verdict::Unchanged);
        assert_eq!(judge(None, &[("if-none-match", r#""a""#)]), Verdict::Answer);
        assert_eq!(judge(None, &[("if-match", r#""a""#)]), Verdict::Failed);
    }

    /// RFC 9110, sections 5.6.7, 13.1.3 and 13.1.4: the three forms of the same second.
    #[test]
    fn dates() {
        let forms = [DATE, "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"];
        for later in forms.into_iter().chain(["Mon, 07 Nov 1994 00:00:00 GMT"]) {
            assert_eq!(judge(None, &[("if-modified-since", later)]), Verdict::Unchanged, "{later}");
            assert_eq!(judge(None, &[("if-unmodified-since", later)]), Verdict::Answer, "{later}");
        }
        let earlier = "Sun, 06 Nov 1994 08:49:36 GMT";
        assert_eq!(judge(None, &[("if-modified-since", earlier)]), Verdict::Answer);
        assert_eq!(judge(None, &[("if-unmodified-since", earlier)]), Verdict::Failed);
        let none = Validators { etag: None, last_modified: None, is_strong_date: true };
        for name in ["if-modified-since", "if-unmodified-since"] {
            for no_date in ["yesterday", "", "0"] {
                assert_eq!(judge(None, &[(name, no_date)]), Verdict::Answer, "{name}: {no_date}");
            }
            assert_eq!(none.judge(&request(&[(name, earlier)])), Verdict::Answer);
        }
    }

    /// RFC 9110, section 13.2.2: tags count more than dates, what the client means more than what it
    /// has.
    #[test]
    fn precedence() {
        let (same, other) = (r#""a""#, r#""b""#);
        let earlier = "Sun, 06 Nov 1994 08:49:36 GMT";
        let cases = [
            ([("if-none-match", same), ("if-modified-since", earlier)], Verdict::Unchanged),
            ([("if-none-match", other), ("if-modified-since", DATE)], Verdict::Answer),
            ([("if-match", same), ("if-unmodified-since", earlier)], Verdict::Answer),
            ([("if-match", other), ("if-unmodified-since", DATE)], Verdict::Failed),
            ([("if-match", same), ("if-none-match", same)], Verdict::Unchanged),
            ([("if-match", other), ("if-none-match", same)], Verdict::Failed),
            ([("if-unmodified-since", earlier), ("if-none-match", same)], Verdict::Failed),
        ];
        for (fields, verdict) in cases {
            assert_eq!(judge(Some(same), &fields), verdict, "{fields:?}");
        }
    }

    #[test]
    fn other_methods_have_no_conditions() {
        let asked = Request { method: "POST".into(), ..request(&[("if-none-match", "*")]) };
        let validators =
            Validators { etag: Some(b"\"a\""), last_modified: None, is_strong_date: true };
        assert_eq!(validators.judge(&asked), Verdict::Answer);
    }

    #[test]
    fn a_range_of_the_same_only() {
        let validators = |etag, is_strong_date| Validators {
            etag: Some(etag),
            last_modified: Some(DATE.as_bytes()),
            is_strong_date,
        };
        let wants = |etag: &'static [u8], condition, is_strong_date| {
            let asked = request(&[("range", "bytes=1-2"), ("if-range", condition)]);
            validators(etag, is_strong_date).ranges(&asked).is_some()
        };
        assert!(wants(b"\"a\"", "\"a\"", false) && wants(b"\"a\"", DATE, true));
        assert!(!wants(b"\"a\"", "\"b\"", true) && !wants(b"W/\"a\"", "W/\"a\"", true));
        assert!(!wants(b"\"a\"", DATE, false));
        assert!(!wants(b"\"a\"", "Sun Nov  6 08:49:37 1994", true));
        let head = Request { method: "HEAD".into(), ..request(&[("range", "bytes=1-2")]) };
        assert!(validators(b"\"a\"", true).ranges(&head).is_none());
    }
}
