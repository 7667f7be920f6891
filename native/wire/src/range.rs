//! Parts of a representation (RFC 9110 §14), in bytes.

use std::fmt;
use std::ops;

use crate::fields::number;

/// A range of bytes, as a Range field asks for it. Other units are not understood: a server may ignore
/// them (RFC 9110 §14.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// From the first to the last byte, both included, as far as they exist.
    FromTo(u64, u64),
    /// From this byte to the end.
    From(u64),
    /// So many bytes at the end.
    Last(u64),
}

impl Range {
    /// Reads the value of a Range field with a single range; `None` if it is to be ignored.
    #[must_use]
    pub fn parse(value: &[u8]) -> Option<Self> {
        match Self::parse_all(value)?[..] {
            [range] => Some(range),
            _ => None,
        }
    }

    /// Reads the value of a Range field: one range or several, in their order; `None` if it is to be
    /// ignored.
    #[must_use]
    pub fn parse_all(value: &[u8]) -> Option<Vec<Self>> {
        let (unit, ranges) = split_once(value, b'=')?;
        if !unit.eq_ignore_ascii_case(b"bytes") {
            return None;
        }
        // RFC 9110 §5.6.1.2: members of a list may be empty.
        let members = ranges.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        let ranges: Option<Vec<_>> =
            members.filter(|member| !member.is_empty()).map(Self::parse_one).collect();
        ranges.filter(|ranges| !ranges.is_empty())
    }

    fn parse_one(range: &[u8]) -> Option<Self> {
        let (first, last) = split_once(range, b'-')?;
        match (first, last) {
            (b"", last) => Some(Self::Last(number(last)?)),
            (first, b"") => Some(Self::From(number(first)?)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::FromTo(first, last))
            }
        }
    }

    /// The bytes, from the first up to but without the last, of a representation of `complete` bytes;
    /// `None` if there are none: status 416 (RFC 9110 §15.5.17).
    #[must_use]
    pub fn resolve(self, complete: u64) -> Option<ops::Range<u64>> {
        let bytes = match self {
            Self::FromTo(first, last) => first..complete.min(last.saturating_add(1)),
            Self::From(first) => first..complete,
            Self::Last(len) => complete.saturating_sub(len)..complete,
        };
        (!bytes.is_empty()).then_some(bytes)
    }
}

/// The value of a Range field.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FromTo(first, last) => write!(f, "bytes={first}-{last}"),
            Self::From(first) => write!(f, "bytes={first}-"),
            Self::Last(len) => write!(f, "bytes=-{len}"),
        }
    }
}

/// What a Content-Range field says (RFC 9110 §14.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentRange {
    /// The content is this part.
    Part {
        /// Its first byte.
        first: u64,
        /// Its last byte.
        last: u64,
        /// Bytes of the whole, if they are known.
        complete: Option<u64>,
    },
    /// There is no such part of so many bytes (status 416).
    Unsatisfied(u64),
}

impl ContentRange {
    /// For the part `bytes`, which is not empty, of `complete`.
    #[must_use]
    pub const fn of(bytes: &ops::Range<u64>, complete: u64) -> Self {
        Self::Part {
            first: bytes.start,
            last: bytes.end.saturating_sub(1),
            complete: Some(complete),
        }
    }

    /// Reads the value of a Content-Range field; `None` if it is not valid.
    #[must_use]
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (unit, rest) = split_once(value, b' ')?;
        if !unit.eq_ignore_ascii_case(b"bytes") {
            return None;
        }
        let (part, complete) = split_once(rest, b'/')?;
        if part == b"*" {
            return Some(Self::Unsatisfied(number(complete)?));
        }
        let (first, last) = split_once(part, b'-')?;
        let (first, last) = (number(first)?, number(last)?);
        let complete = if complete == b"*" { None } else { Some(number(complete)?) };
        let valid = first <= last && complete.is_none_or(|complete| last < complete);
        valid.then_some(Self::Part { first, last, complete })
    }
}

/// The value of a Content-Range field.
impl fmt::Display for ContentRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part { first, last, complete: Some(complete) } => {
                write!(f, "bytes {first}-{last}/{complete}")
            }
            Self::Part { first, last, complete: None } => write!(f, "bytes {first}-{last}/*"),
            Self::Unsatisfied(complete) => write!(f, "bytes */{complete}"),
        }
    }
}

fn split_once(bytes: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|&byte| byte == separator)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// RFC 9110 §14.1.2, of 10000 bytes.
    #[test]
    fn examples_of_the_rfc() {
        let resolved = |value: &str| Range::parse(value.as_bytes()).unwrap().resolve(10_000);
        assert_eq!(resolved("bytes=0-499"), Some(0..500));
        assert_eq!(resolved("bytes=500-999"), Some(500..1000));
        assert_eq!(resolved("bytes=-500"), Some(9500..10_000));
        assert_eq!(resolved("bytes=9500-"), Some(9500..10_000));
        assert_eq!(resolved("Bytes= 9500-99999 "), Some(9500..10_000));
        assert_eq!(resolved("bytes=-99999"), Some(0..10_000));
    }

    #[test]
    fn ignored() {
        for value in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "lines=1-2",
            "bytes=2-1",
            "bytes=a-b",
            "bytes=1-2,4-5",
            "bytes=1 - 2",
            "bytes=+1-2",
            "bytes=18446744073709551616-",
        ] {
            assert_eq!(Range::parse(value.as_bytes()), None, "{value}");
        }
    }

    /// RFC 9110 §14.1.2, of 10000 bytes.
    #[test]
    fn several() {
        use Range::{From, FromTo, Last};
        let cases: [(&str, Option<Vec<Range>>); 7] = [
            ("bytes=500-600,601-999", Some(vec![FromTo(500, 600), FromTo(601, 999)])),
            (
                "bytes= 0-999, 4500-5499, -1000",
                Some(vec![FromTo(0, 999), FromTo(4500, 5499), Last(1000)]),
            ),
            ("bytes=0-0,-1", Some(vec![FromTo(0, 0), Last(1)])),
            ("bytes=,9-,,", Some(vec![From(9)])),
            ("bytes=,", None),
            ("bytes=1-2,x", None),
            ("bytes=1-2;3-4", None),
        ];
        for (value, ranges) in cases {
            assert_eq!(Range::parse_all(value.as_bytes()), ranges, "{value}");
        }
    }

    #[test]
    fn unsatisfiable() {
        assert_eq!(Range::From(10).resolve(10), None);
        assert_eq!(Range::FromTo(10, u64::MAX).resolve(10), None);
        assert_eq!(Range::Last(0).resolve(10), None);
        assert_eq!(Range::Last(5).resolve(0), None);
        assert_eq!(Range::FromTo(0, u64::MAX).resolve(10), Some(0..10));
    }

    #[test]
    fn content_ranges() {
        let part = ContentRange::of(&(42..1234), 1234);
        assert_eq!(part.to_string(), "bytes 42-1233/1234");
        let unknown = ContentRange::Part { first: 42, last: 1233, complete: None };
        for (value, range) in [
            ("bytes 42-1233/1234", part),
            ("bytes 42-1233/*", unknown),
            ("bytes */1234", ContentRange::Unsatisfied(1234)),
        ] {
            assert_eq!(ContentRange::parse(value.as_bytes()), Some(range));
            assert_eq!(range.to_string(), value);
        }
        for value in ["bytes 2-1/9", "bytes 1-9/9", "bytes 1-2", "bytes */*", "lines 1-2/3", "x"] {
            assert_eq!(ContentRange::parse(value.as_bytes()), None, "{value}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(first: u64, len: u64, complete: u64) {
            let last = first.saturating_add(len);
            for range in [Range::FromTo(first, last), Range::From(first), Range::Last(first)] {
                prop_assert_eq!(Range::parse(range.to_string().as_bytes()), Some(range));
                if let Some(bytes) = range.resolve(complete) {
                    prop_assert!(bytes.start < bytes.end && bytes.end <= complete);
                }
            }
        }

        #[test]
        fn any_bytes(value: Vec<u8>) {
            let range = [b"bytes=", &value[..]].concat();
            let _ = Range::parse_all(&range);
            let _ = ContentRange::parse(&value);
        }
    }
}
