//! Writing JSON texts without building them first.

use std::time::Duration;

use serde_json::to_writer;

/// An object's members, as they are written.
pub(super) struct Members<'a> {
    out: &'a mut Vec<u8>,
    any: bool,
}

/// An array's items, as they are written.
pub(super) struct Items<'a> {
    out: &'a mut Vec<u8>,
    any: bool,
}

const INFALLIBLE: &str = "a vector takes all that is written";

/// Writes an object.
pub(super) fn object(out: &mut Vec<u8>, fill: impl FnOnce(&mut Members<'_>)) {
    out.push(b'{');
    fill(&mut Members { out, any: false });
    out.push(b'}');
}

fn text(out: &mut Vec<u8>, value: &str) {
    to_writer(out, value).expect(INFALLIBLE);
}

fn number(out: &mut Vec<u8>, value: u64) {
    to_writer(out, &value).expect(INFALLIBLE);
}

/// Three digits.
fn thousandths(out: &mut Vec<u8>, value: u32) {
    let digit = |unit: u32| b'0' + (value / unit % 10) as u8;
    out.extend_from_slice(&[digit(100), digit(10), digit(1)]);
}

impl Members<'_> {
    fn key(&mut self, key: &'static str) -> &mut Vec<u8> {
        if std::mem::replace(&mut self.any, true) {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    pub(super) fn number(&mut self, key: &'static str, value: u64) -> &mut Self {
        number(self.key(key), value);
        self
    }

    pub(super) fn flag(&mut self, key: &'static str, value: bool) -> &mut Self {
        let text: &[u8] = if value { b"true" } else { b"false" };
        self.key(key).extend_from_slice(text);
        self
    }

    pub(super) fn text(&mut self, key: &'static str, value: &str) -> &mut Self {
        text(self.key(key), value);
        self
    }

    /// Bytes of what should be text.
    pub(super) fn lossy(&mut self, key: &'static str, value: &[u8]) -> &mut Self {
        self.text(key, &String::from_utf8_lossy(value))
    }

    /// Bytes as a text of hexadecimal digits.
    pub(super) fn hex(&mut self, key: &'static str, bytes: &[u8]) -> &mut Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let out = self.key(key);
        out.push(b'"');
        for byte in bytes {
            let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
            out.extend_from_slice(&[DIGITS[high], DIGITS[low]]);
        }
        out.push(b'"');
        self
    }

    /// Milliseconds, exact to the nanosecond.
    pub(super) fn millis(&mut self, key: &'static str, value: Duration) -> &mut Self {
        let out = self.key(key);
        number(out, value.as_secs() * 1_000 + u64::from(value.subsec_millis()));
        let (rest_us, rest_ns) = (value.subsec_micros() % 1_000, value.subsec_nanos() % 1_000);
        if rest_us != 0 || rest_ns != 0 {
            out.push(b'.');
            thousandths(out, rest_us);
        }
        if rest_ns != 0 {
            thousandths(out, rest_ns);
        }
        self
    }

    pub(super) fn object(
        &mut self,
        key: &'static str,
        fill: impl FnOnce(&mut Members<'_>),
    ) -> &mut Self {
        object(self.key(key), fill);
        self
    }

    pub(super) fn array(
        &mut self,
        key: &'static str,
        fill: impl FnOnce(&mut Items<'_>),
    ) -> &mut Self {
        let out = self.key(key);
        out.push(b'[');
        fill(&mut Items { out, any: false });
        self.out.push(b']');
        self
    }
}

impl Items<'_> {
    fn item(&mut self) -> &mut Vec<u8> {
        if std::mem::replace(&mut self.any, true) {
            self.out.push(b',');
        }
        self.out
    }

    pub(super) fn object(&mut self, fill: impl FnOnce(&mut Members<'_>)) {
        object(self.item(), fill);
    }

    pub(super) fn text(&mut self, value: &str) {
        text(self.item(), value);
    }

    pub(super) fn pair(&mut self, first: u64, second: u64) {
        let out = self.item();
        out.push(b'[');
        number(out, first);
        out.push(b',');
        number(out, second);
        out.push(b']');
    }
}
