use std::collections::VecDeque;
use std::io;

use bytes::{Buf, Bytes, BytesMut};

use super::{FilePart, Generated};

/// The content of a response, read as it is sent.
pub enum Body {
    /// These bytes.
    Bytes(Bytes),
    /// Part of a body that is computed.
    Generated(Box<Generated>),
    /// Part of a file.
    File(FilePart),
    /// One after the other.
    Chain(Chain),
}

/// Bodies one after the other.
pub struct Chain {
    bodies: VecDeque<Body>,
    remaining: u64,
}

impl Body {
    /// No content.
    #[must_use]
    pub const fn empty() -> Self {
        Self::Bytes(Bytes::new())
    }

    /// These, one after the other.
    #[must_use]
    pub fn chain(bodies: VecDeque<Self>) -> Self {
        let remaining = bodies.iter().map(Self::remaining).sum();
        Self::Chain(Chain { bodies, remaining })
    }

    /// How much of it has not been read, in bytes.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        match self {
            Self::Chain(chain) => chain.remaining,
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Generated(body) => body.remaining(),
            Self::File(part) => part.remaining(),
        }
    }

    /// Appends the next bytes: as many as there are, but at most `limit`.
    ///
    /// # Returns
    /// How many.
    ///
    /// # Errors
    /// The file has become shorter, or its device fails.
    pub fn read(&mut self, into: &mut BytesMut, limit: usize) -> io::Result<usize> {
        let length = usize::try_from(self.remaining()).unwrap_or(usize::MAX).min(limit);
        match self {
            Self::Bytes(bytes) => {
                into.extend_from_slice(&bytes[..length]);
                bytes.advance(length);
            }
            Self::Generated(body) => body.read(into, length),
            Self::File(part) => part.read(into, length)?,
            Self::Chain(chain) => chain.read(into, length)?,
        }
        Ok(length)
    }
}

impl Chain {
    /// Appends the next `length` bytes, which must be there.
    fn read(&mut self, into: &mut BytesMut, mut length: usize) -> io::Result<()> {
        while let (1.., Some(first)) = (length, self.bodies.front_mut()) {
            let bytes = first.read(into, length)?;
            (self.remaining, length) = (self.remaining - bytes as u64, length - bytes);
            if first.remaining() == 0 {
                self.bodies.pop_front();
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({} bytes left)", self.remaining())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn drain(mut body: Body, limit: usize) -> BytesMut {
        let mut bytes = BytesMut::new();
        while body.remaining() > 0 {
            assert!(body.read(&mut bytes, limit).unwrap() <= limit);
        }
        bytes
    }

    fn file_with(content: &[u8]) -> std::fs::File {
        let path = std::env::temp_dir().join(format!("headway-body-{}", std::process::id()));
        std::fs::File::create(&path).unwrap().write_all(content).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    #[test]
    fn all_kinds_are_read_in_pieces() {
        let content: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        assert_eq!(drain(Body::Bytes(content.clone().into()), 777), content);
        let part = FilePart::new(file_with(&content), 1000, 150_000);
        assert_eq!(drain(Body::File(part), 1400), content[1000..151_000]);
        let all = drain(Body::Generated(Box::new(Generated::new(5000, 0, 5000))), 5000);
        assert_eq!(drain(Body::Generated(Box::new(Generated::new(5000, 0, 5000))), 13), all);
        assert!(drain(Body::empty(), 1).is_empty());
        let file = std::sync::Arc::new(file_with(&content));
        let part = |offset, length| Body::File(FilePart::new(file.clone(), offset, length));
        let expected = [&content[5..100_005], b"and", &content[..1]].concat();
        for limit in [1, 1400, usize::MAX] {
            let pieces = [part(5, 100_000), Body::empty(), Body::Bytes("and".into()), part(0, 1)];
            let chain = Body::chain(pieces.into());
            assert_eq!(chain.remaining(), expected.len() as u64);
            assert_eq!(drain(chain, limit), expected);
        }
        // A file that has become shorter is an error, not an endless loop.
        let mut body = Body::File(FilePart::new(std::fs::File::open("/dev/null").unwrap(), 0, 1));
        assert!(body.read(&mut BytesMut::new(), 10).is_err());
    }
}
