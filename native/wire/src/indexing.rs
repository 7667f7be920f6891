//! Which fields are worth a place in a dynamic table, and which must not have one.

/// What an encoder does with a field that no table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Indexing {
    /// It is likely to come again.
    Insert,
    /// It is not.
    Pass,
    /// It is a secret: neither this encoder nor another one on the way may put it into a table, where
    /// who can send fields, too, could guess it by what lengths become (RFC 7541 §7.1.3, RFC 9204 §7.1).
    Never,
}

/// Cookies below this length, in bytes, are guessed too easily (RFC 7541 §7.1.3).
const SHORT_COOKIE: usize = 20;

/// What to do with a field.
pub(crate) fn indexing(name: &[u8], value: &[u8]) -> Indexing {
    match name {
        b"authorization" | b"proxy-authorization" => Indexing::Never,
        b"cookie" | b"set-cookie" if value.len() < SHORT_COOKIE => Indexing::Never,
        // Different from message to message: what they would push out of the table is worth more.
        b":path" | b"age" | b"content-length" | b"content-range" | b"etag"
        | b"if-modified-since" | b"if-none-match" | b"last-modified" | b"location" | b"range"
        | b"set-cookie" => Indexing::Pass,
        _ => Indexing::Insert,
    }
}
