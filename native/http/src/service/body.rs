use std::collections::VecDeque;
use std::io;

use bytes::{Buf, Bytes, BytesMut};

use super::growing::Growing;
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
    /// Content that comes over time.
    Growing(Growing),
}

/// Bodies one after the other.
pub struct Chain {
    bodies: VecDeque<Body>,
    remaining: u64,
    read_of_first: usize,
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
        Self::Chain(Chain { bodies, remaining, read_of_first: 0 })
    }

    /// Content that is still to come.
    #[must_use]
    pub fn growing() -> Self {
        Self::Growing(Growing::default())
    }

    /// Whether more may come than what is there.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Growing(growing) if growing.is_open())
    }

    /// Whether it ends with the next `length` bytes.
    #[must_use]
    pub fn ends_with(&self, length: u64) -> bool {
        self.remaining() == length && !self.is_open()
    }

    /// More of it comes; only what grows takes it.
    ///
    /// # Arguments
    /// * `ends` - whether that is all.
    pub fn extend(&mut self, content: Bytes, ends: bool) {
        if let Self::Growing(growing) = self {
            growing.push(content);
            if ends {
                growing.end();
            }
        }
    }

    /// Bytes of content that grows and waits to be taken.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        if let Self::Growing(growing) = self { growing.remaining() } else { 0 }
    }

    /// What it takes of memory that no other one has, about, in bytes; without what is read ahead.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        /// Of a body among others.
        const OF_EACH: usize = 256;
        match self {
            Self::Chain(chain) => {
                let each = chain.bodies.iter().map(|body| match body {
                    // The heads of parts.
                    Self::Bytes(bytes) => OF_EACH + bytes.len(),
                    _ => OF_EACH,
                });
                each.sum()
            }
            Self::Bytes(_) | Self::Generated(_) | Self::File(_) | Self::Growing(_) => 0,
        }
    }

    /// How much of it has not been read, in bytes.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        match self {
            Self::Chain(chain) => chain.remaining,
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Generated(body) => body.remaining(),
            Self::File(part) => part.remaining(),
            Self::Growing(growing) => growing.remaining(),
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
            Self::Growing(growing) => growing.read(into, length),
        }
        Ok(length)
    }

    /// The next bytes: as many as there are, but at most `limit`. Those of memory are not copied.
    ///
    /// # Errors
    /// As of [`Body::read`].
    pub(crate) fn take(&mut self, limit: usize) -> io::Result<Bytes> {
        let length = usize::try_from(self.remaining()).unwrap_or(usize::MAX).min(limit);
        match self {
            Self::Bytes(bytes) => Ok(bytes.split_to(length)),
            Self::File(part) => part.take(length),
            Self::Generated(_) | Self::Chain(_) | Self::Growing(_) => {
                let mut piece = BytesMut::with_capacity(length);
                self.read(&mut piece, length)?;
                Ok(piece.freeze())
            }
        }
    }

    /// The last `length` bytes, which were read before, come again, unless they are in memory anyway.
    ///
    /// # Returns
    /// Whether they do.
    pub(crate) fn unread(&mut self, length: usize) -> bool {
        match self {
            Self::Bytes(_) | Self::Growing(_) => return false,
            Self::Generated(body) => body.unread(length),
            Self::File(part) => part.unread(length),
            Self::Chain(chain) => return chain.unread(length),
        }
        true
    }
}

impl Chain {
    /// Appends the next `length` bytes, which must be there.
    fn read(&mut self, into: &mut BytesMut, mut length: usize) -> io::Result<()> {
        while let (1.., Some(first)) = (length, self.bodies.front_mut()) {
            let bytes = first.read(into, length)?;
            (self.remaining, length) = (self.remaining - bytes as u64, length - bytes);
            self.read_of_first += bytes;
            if first.remaining() == 0 {
                self.bodies.pop_front();
                self.read_of_first = 0;
            }
        }
        Ok(())
    }

    /// What is of a body that was read to its end does not come again.
    fn unread(&mut self, length: usize) -> bool {
        let unread = length <= self.read_of_first
            && self.bodies.front_mut().is_some_and(|first| first.unread(length));
        if unread {
            self.read_of_first -= length;
            self.remaining += length as u64;
        }
        unread
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
        let name = format!("headway-body-{}-{:?}", std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(name);
        std::fs::File::create(&path).unwrap().write_all(content).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    fn body_of(size: u64) -> Body {
        Body::Generated(Box::new(Generated::new(size, 0, size)))
    }

    #[test]
    fn all_kinds_are_read_in_pieces() {
        let content: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        assert_eq!(drain(Body::Bytes(content.clone().into()), 777), content);
        let part = FilePart::new(file_with(&content), 1000, 150_000);
        assert_eq!(drain(Body::File(part), 1400), content[1000..151_000]);
        // Small pieces are read ahead, large ones are not.
        for limits in [&[1400, 40_000, 70_000][..], &[40_000, 1400, 70_000], &[200_000]] {
            let mut body = Body::File(FilePart::new(file_with(&content), 1000, 150_000));
            let mut taken: Vec<u8> = Vec::new();
            let mut limits = limits.iter().cycle();
            while body.remaining() > 0 {
                taken.extend(body.take(*limits.next().unwrap()).unwrap());
            }
            assert_eq!(taken, content[1000..151_000]);
        }
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
        // What could not be sent is read again.
        for mut body in [
            Body::File(FilePart::new(file_with(&content), 1000, 150_000)),
            Body::Generated(Box::new(Generated::new(150_000, 0, 150_000))),
            Body::chain([Body::Bytes(content.clone().into()), body_of(150_000)].into()),
        ] {
            body.take(usize::try_from(body.remaining() - 150_000).unwrap()).unwrap();
            let first = body.take(70_001).unwrap();
            assert!(body.unread(70_000));
            let rest = body.take(200_000).unwrap();
            assert_eq!((&first[1..], rest.len()), (&rest[..70_000], 149_999));
        }
        let bytes = Body::Bytes(content.clone().into());
        let mut chain = Body::chain([bytes, body_of(10)].into());
        chain.take(200_001).unwrap();
        assert!(!chain.unread(2) && chain.remaining() == 9);
        // A file that has become shorter is an error, not an endless loop.
        for length in [1, 100_000] {
            let nothing = || std::fs::File::open("/dev/null").unwrap();
            let body = || Body::File(FilePart::new(nothing(), 0, length));
            assert!(body().read(&mut BytesMut::new(), 100_000).is_err());
            assert!(body().take(100_000).is_err());
        }
    }

    #[test]
    fn what_grows_ends_when_that_is_told() {
        let mut body = Body::growing();
        assert!(body.is_open() && !body.ends_with(0));
        body.extend("abc".into(), false);
        body.extend("de".into(), false);
        let mut read = BytesMut::new();
        assert_eq!((body.read(&mut read, 4).unwrap(), &read[..]), (4, &b"abcd"[..]));
        assert!(!body.ends_with(1));
        body.extend(Bytes::new(), true);
        assert!(body.ends_with(1) && !body.is_open());
        assert_eq!(body.take(10).unwrap(), "e");
        assert!(body.ends_with(0) && Body::empty().ends_with(0));
    }

    #[test]
    fn reading_ahead_of_many_files_is_bounded() {
        let content: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        let mut parts: Vec<FilePart> =
            (0..100).map(|_| FilePart::new(file_with(&content), 0, 200_000)).collect();
        let mut piece = BytesMut::new();
        for part in &mut parts {
            part.read(&mut piece, 1400).unwrap();
        }
        let ahead: usize = parts.iter().map(FilePart::ahead_bytes).sum();
        assert_eq!(ahead, 4 << 20);
        // All of them go on.
        for part in &mut parts {
            piece.clear();
            part.read(&mut piece, 198_600).unwrap();
            assert!(piece == content[1400..]);
        }
        assert_eq!(parts.iter().map(FilePart::ahead_bytes).sum::<usize>(), 0);
    }
}
