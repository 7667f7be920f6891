//! Requests, responses and their fields, the same for all versions of HTTP (RFC 9110).

mod length;
mod message;
mod syntax;

use bytes::Bytes;

pub use length::ContentLength;
pub use message::{Request, Response, WEBSOCKET, trailers};
pub(crate) use syntax::{is_authority, is_scheme, number};

/// A field line as field sections carry it: name and value (RFC 9114 §4.2, RFC 9113 §8.2).
pub type Line<'a> = (&'a [u8], &'a [u8]);

/// Bytes a field line costs beyond its name and value where the size of a section is counted
/// (RFC 9114 §4.2.2, RFC 9113 §6.5.2).
pub const LINE_OVERHEAD: u64 = 32;

/// The message breaks the rules of HTTP, in a way that leaves the connection usable: H3_MESSAGE_ERROR
/// (RFC 9114 §4.1.2), PROTOCOL_ERROR on the stream (RFC 9113 §8.1.1) or status 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed message: {0}")]
pub struct Malformed(pub &'static str);

/// A field: a name in lower case, and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: Bytes,
    /// The value, without white space around it.
    pub value: Bytes,
}

impl Field {
    /// A field of `name` and `value`.
    pub fn new(name: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        Self { name: name.into(), value: value.into() }
    }

    /// Bytes of the field in a section: name, value and [`LINE_OVERHEAD`].
    #[must_use]
    pub fn size(&self) -> u64 {
        self.name.len() as u64 + self.value.len() as u64 + LINE_OVERHEAD
    }
}

/// Fields in the order in which they were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<Field>);

impl Fields {
    /// No fields.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends a field; its name must be in lower case.
    pub fn push(&mut self, name: impl Into<Bytes>, value: impl Into<Bytes>) {
        self.0.push(Field::new(name, value));
    }

    /// The value of the first field with this name, which is in lower case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Bytes> {
        self.0.iter().find(|field| field.name == name).map(|field| &field.value)
    }

    /// Whether a field that is a list has this member, whatever its case.
    #[must_use]
    pub fn has_member(&self, name: &str, member: &str) -> bool {
        self.all(name)
            .flat_map(|value| value.split(|&byte| byte == b','))
            .any(|found| found.trim_ascii().eq_ignore_ascii_case(member.as_bytes()))
    }

    /// The values of all fields with this name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Bytes> {
        self.0.iter().filter(move |field| field.name == name).map(|field| &field.value)
    }

    /// The values of all fields with this name as one list (RFC 9110 §5.3): joined with commas.
    #[must_use]
    pub fn joined(&self, name: &str) -> Option<Bytes> {
        let values: Vec<&[u8]> = self.all(name).map(AsRef::as_ref).collect();
        match values.len() {
            0 => None,
            1 => self.get(name).cloned(),
            _ => Some(values.join(&b", "[..]).into()),
        }
    }

    /// The fields.
    pub fn iter(&self) -> impl Iterator<Item = &Field> {
        self.0.iter()
    }

    /// The fields as lines of a section.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        self.0.iter().map(|field| (field.name.as_ref(), field.value.as_ref()))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The size of the section in bytes, as its limits are counted (see [`LINE_OVERHEAD`]).
    #[must_use]
    pub fn size(&self) -> u64 {
        self.0.iter().map(Field::size).sum()
    }

    /// The Content-Length (RFC 9110 §8.6); repeated, it must say the same.
    ///
    /// # Errors
    ///
    /// If it is no number or says different things.
    pub fn content_length(&self) -> Result<Option<u64>, Malformed> {
        let mut length = None;
        for value in self.all("content-length").flat_map(|value| value.split(|&byte| byte == b','))
        {
            let value =
                number(value.trim_ascii()).ok_or(Malformed("Content-Length is not a number"))?;
            if length.replace(value).is_some_and(|earlier| earlier != value) {
                return Err(Malformed("Content-Length says different things"));
            }
        }
        Ok(length)
    }
}

impl From<Vec<Field>> for Fields {
    fn from(fields: Vec<Field>) -> Self {
        Self(fields)
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        Self(fields.into_iter().collect())
    }
}

impl Extend<Field> for Fields {
    fn extend<I: IntoIterator<Item = Field>>(&mut self, fields: I) {
        self.0.extend(fields);
    }
}

impl IntoIterator for Fields {
    type Item = Field;
    type IntoIter = std::vec::IntoIter<Field>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookup_and_size() {
        let mut fields = Fields::new();
        fields.push("vary", "accept");
        fields.push("date", "");
        fields.push("vary", "origin");
        assert_eq!(fields.get("vary").unwrap(), "accept");
        assert_eq!(fields.joined("vary").unwrap(), "accept, origin");
        assert_eq!(fields.joined("date").unwrap(), "");
        assert_eq!(fields.joined("age"), None);
        assert_eq!(fields.size(), (4 + 6 + 32) + (4 + 32) + (4 + 6 + 32));
        assert_eq!(fields.len(), 3);
    }

    #[test]
    fn content_length() {
        let length = |values: &[&'static str]| {
            let field = |value: &&'static str| Field::new("content-length", *value);
            values.iter().map(field).collect::<Fields>().content_length()
        };
        assert_eq!(length(&[]), Ok(None));
        assert_eq!(length(&["17"]), Ok(Some(17)));
        assert_eq!(length(&["17", "17, 17"]), Ok(Some(17)));
        assert_eq!(length(&["18446744073709551615"]), Ok(Some(u64::MAX)));
        for bad in ["", "+1", "-1", "0x1", "1 2", "18446744073709551616", "1,2", "1,"] {
            assert!(length(&[bad]).is_err(), "{bad}");
        }
    }
}
