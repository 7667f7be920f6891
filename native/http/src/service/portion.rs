//! How much of a representation is sent (RFC 9110, section 14).

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::ops::Range;

use bytes::Bytes;
use headway_wire::range::{self, ContentRange};
use ring::digest::{SHA256, digest};

use super::Body;

/// Parts of one answer, at most: who asks for more gets the whole (RFC 9110, section 14.2).
const MAX_PARTS: usize = 100;

/// How much of a representation a request wants. Ranges are from the first byte up to but without
/// the last one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Portion {
    /// All of it.
    Whole,
    /// A range that it does not have: status 416.
    Nothing,
    /// A range: status 206.
    Part(Range<u64>),
    /// Several: status 206 and `multipart/byteranges`.
    Parts(Vec<Range<u64>>),
}

impl Portion {
    /// What ranges mean of a representation of so many bytes.
    pub(super) fn of(asked: Option<&[range::Range]>, size: u64) -> Self {
        let Some(asked) = asked.filter(|asked| asked.len() <= MAX_PARTS) else {
            return Self::Whole;
        };
        let there: Vec<_> = asked.iter().filter_map(|range| range.resolve(size)).collect();
        let mut parts = without_overlaps(there);
        match parts.len() {
            0 => Self::Nothing,
            1 => Self::Part(parts.remove(0)),
            _ => Self::Parts(parts),
        }
    }
}

/// Ranges in their order, if no two have bytes in common or touch; otherwise joined, in the order of
/// bytes (RFC 9110, section 15.3.7.2): nobody gets a byte twice.
fn without_overlaps(ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let mut sorted = ranges.clone();
    sorted.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    if joined.len() == ranges.len() { ranges } else { joined }
}

/// Several parts of a representation as one content (RFC 9110, section 14.6).
pub(super) struct Multipart {
    boundary: String,
    heads: Vec<String>,
    parts: Vec<Range<u64>>,
}

impl Multipart {
    /// Of a representation of so many bytes.
    ///
    /// # Arguments
    /// * `content_type` - of each part, if it is known.
    /// * `state` - tells this representation from all others: its entity tag, or itself. The boundary
    ///   is its digest, which the content cannot hold but by chance.
    pub(super) fn new(
        parts: Vec<Range<u64>>,
        size: u64,
        content_type: Option<&str>,
        state: &[u8],
    ) -> Self {
        let boundary =
            digest(&SHA256, state).as_ref()[..16].iter().fold(String::new(), |mut text, byte| {
                write!(text, "{byte:02x}").expect("a string takes all");
                text
            });
        let content_type =
            content_type.map(|text| format!("content-type: {text}\r\n")).unwrap_or_default();
        let head = |(number, part): (usize, &Range<u64>)| {
            let line_end = if number == 0 { "" } else { "\r\n" };
            format!(
                "{line_end}--{boundary}\r\n{content_type}content-range: {}\r\n\r\n",
                ContentRange::of(part, size)
            )
        };
        let heads = parts.iter().enumerate().map(head).collect();
        Self { boundary, heads, parts }
    }

    /// Value of Content-Type.
    pub(super) fn content_type(&self) -> String {
        format!("multipart/byteranges; boundary={}", self.boundary)
    }

    /// The content, of the content of the parts.
    pub(super) fn body(self, mut part: impl FnMut(&Range<u64>) -> Body) -> Body {
        let end = format!("\r\n--{}--\r\n", self.boundary);
        let mut bodies = VecDeque::new();
        for (head, range) in self.heads.into_iter().zip(&self.parts) {
            bodies.extend([Body::Bytes(head.into()), part(range)]);
        }
        bodies.push_back(Body::Bytes(Bytes::from(end)));
        Body::chain(bodies)
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;

    use super::*;

    /// What is asked for of 100 bytes, and what is sent.
    #[test]
    #[allow(clippy::single_range_in_vec_init)]
    fn portions() {
        let parts = |ranges: &[Range<u64>]| Portion::Parts(ranges.to_vec());
        let cases = [
            ("bytes=10-19", Portion::Part(10..20)),
            ("bytes=90-200", Portion::Part(90..100)),
            ("bytes=100-", Portion::Nothing),
            ("bytes=100-,-0", Portion::Nothing),
            ("bytes=0-0,-1", parts(&[0..1, 99..100])),
            ("bytes=-1,0-0", parts(&[99..100, 0..1])),
            ("bytes=0-0,100-,50-50", parts(&[0..1, 50..51])),
            ("bytes=0-0,100-", Portion::Part(0..1)),
            ("bytes=0-9,10-19", Portion::Part(0..20)),
            ("bytes=50-,0-9,5-19", parts(&[0..20, 50..100])),
            ("bytes=0-,0-,0-", Portion::Part(0..100)),
            ("lines=0-9", Portion::Whole),
        ];
        for (value, portion) in cases {
            let asked = range::Range::parse_all(value.as_bytes());
            assert_eq!(Portion::of(asked.as_deref(), 100), portion, "{value}");
        }
        let many =
            |count| (0..count).map(|n| range::Range::FromTo(2 * n, 2 * n)).collect::<Vec<_>>();
        assert!(
            matches!(Portion::of(Some(&many(100)), 1000), Portion::Parts(all) if all.len() == 100)
        );
        assert_eq!(Portion::of(Some(&many(101)), 1000), Portion::Whole);
    }

    #[test]
    fn content_of_several_parts() {
        let whole = Bytes::from_static(b"0123456789");
        let parts = Multipart::new(vec![7..10, 0..1], 10, Some("text/plain"), b"1");
        let boundary = parts.content_type().split_once("boundary=").unwrap().1.to_owned();
        assert_eq!(boundary.len(), 32);
        let mut body =
            parts.body(|range| Body::Bytes(whole.slice(range.start as usize..range.end as usize)));
        let (length, mut bytes) = (body.remaining(), BytesMut::new());
        // In pieces that end anywhere.
        while body.remaining() > 0 {
            assert!((1..=7).contains(&body.read(&mut bytes, 7).unwrap()));
        }
        let expected = format!(
            "--{boundary}\r\ncontent-type: text/plain\r\ncontent-range: bytes 7-9/10\r\n\r\n789\r\n\
             --{boundary}\r\ncontent-type: text/plain\r\ncontent-range: bytes 0-0/10\r\n\r\n0\r\n\
             --{boundary}--\r\n"
        );
        assert_eq!(std::str::from_utf8(&bytes).unwrap(), expected);
        assert_eq!(length, expected.len() as u64);
    }
}
