//! Content against its Content-Length.

use super::{Fields, Malformed};

/// Counts content against the Content-Length its message announced: any difference makes the message
/// malformed (RFC 9114 §4.1.2, RFC 9113 §8.1.1).
#[derive(Clone, Copy, Debug)]
pub struct ContentLength {
    announced: Option<u64>,
    seen: u64,
}

impl ContentLength {
    /// For a message with these fields. `content_expected` is false for responses to HEAD and for
    /// status 204 and 304, which have none whatever the field says (RFC 9110 §6.4.1).
    ///
    /// # Errors
    ///
    /// If Content-Length is malformed.
    pub fn new(fields: &Fields, content_expected: bool) -> Result<Self, Malformed> {
        let announced = fields.content_length()?;
        Ok(Self { announced: if content_expected { announced } else { Some(0) }, seen: 0 })
    }

    /// Counts a piece of content.
    ///
    /// # Errors
    ///
    /// If that is more than was announced.
    pub fn add(&mut self, bytes: usize) -> Result<(), Malformed> {
        self.seen += bytes as u64;
        if self.announced.is_some_and(|announced| self.seen > announced) {
            return Err(Malformed("more content than announced"));
        }
        Ok(())
    }

    /// At the end of the content.
    ///
    /// # Errors
    ///
    /// If there was less than announced.
    pub fn finish(self) -> Result<(), Malformed> {
        if self.announced.is_some_and(|announced| self.seen < announced) {
            return Err(Malformed("less content than announced"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(length: &'static str, content_expected: bool) -> ContentLength {
        let mut fields = Fields::new();
        fields.push("content-length", length);
        ContentLength::new(&fields, content_expected).unwrap()
    }

    #[test]
    fn content_must_be_as_long_as_announced() {
        let mut length = announced("5", true);
        length.add(3).unwrap();
        assert!(length.finish().is_err(), "two bytes short");
        length.add(2).unwrap();
        length.finish().unwrap();
        assert!(length.add(1).is_err(), "one too many");
    }

    #[test]
    fn content_that_is_not_expected() {
        announced("5", false).finish().unwrap();
        assert!(announced("5", false).add(1).is_err());
    }

    #[test]
    fn nothing_announced() {
        let mut length = ContentLength::new(&Fields::new(), true).unwrap();
        length.add(7).unwrap();
        length.finish().unwrap();
    }
}
