//! Content, as HTTP/1.1 delimits it (RFC 9112 §6, §7).

use bytes::Bytes;

use super::Error;
use super::error::malformed;
use super::section::{SectionReader, parse_trailers};
use crate::fields::Fields;

/// How the end of the content is known (RFC 9112 §6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// It has so many bytes.
    Known(u64),
    /// It comes in chunks.
    Chunked,
    /// The connection ends with it.
    UntilClose,
}

/// What content consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyPiece {
    /// Bytes, at least one, in the memory they arrived in.
    Data(Bytes),
    /// The end, with the trailers that chunked content may have.
    End(Fields),
}

/// Bytes the line in front of a chunk may have: its size, and extensions nobody uses.
const MAX_CHUNK_LINE: usize = 256;

/// Bytes trailers may have.
const MAX_TRAILERS: usize = 8 * 1024;

#[derive(Debug)]
enum State {
    Known(u64),
    UntilClose,
    /// In the line in front of a chunk.
    ChunkLine(Vec<u8>),
    /// In a chunk, with so many bytes to come.
    Chunk(u64),
    /// In the line break behind a chunk, of which so many bytes have come.
    ChunkEnd(usize),
    Trailers(SectionReader),
    Ended,
}

/// Reads content. It keeps at most a line of 256 bytes or trailers of 8 KiB.
#[derive(Debug)]
pub struct BodyReader(State);

impl BodyReader {
    /// For content of this length.
    #[must_use]
    pub fn new(length: BodyLength) -> Self {
        Self(match length {
            BodyLength::Known(length) => State::Known(length),
            BodyLength::Chunked => State::ChunkLine(Vec::new()),
            BodyLength::UntilClose => State::UntilClose,
        })
    }

    /// Takes a piece off `input`; `None` if that needs more bytes, or after the end.
    ///
    /// # Errors
    ///
    /// If chunks or trailers are malformed.
    pub fn decode(&mut self, input: &mut Bytes) -> Result<Option<BodyPiece>, Error> {
        loop {
            match &mut self.0 {
                State::Known(0) => return Ok(Some(self.end(Fields::new()))),
                State::Ended => return Ok(None),
                State::Trailers(section) => {
                    let Some(section) = section.read(input)? else { return Ok(None) };
                    let trailers = parse_trailers(&section)?;
                    return Ok(Some(self.end(trailers)));
                }
                State::Chunk(0) => self.0 = State::ChunkEnd(0),
                _ if input.is_empty() => return Ok(None),
                State::Known(remaining) | State::Chunk(remaining) => {
                    let len = input.len().min(usize::try_from(*remaining).unwrap_or(usize::MAX));
                    *remaining -= len as u64;
                    return Ok(Some(BodyPiece::Data(input.split_to(len))));
                }
                State::UntilClose => return Ok(Some(BodyPiece::Data(input.split_off(0)))),
                State::ChunkLine(line) => {
                    if let Some(size) = chunk_size(line, input)? {
                        self.0 = after_chunk_line(size);
                    }
                }
                State::ChunkEnd(seen) => {
                    if input.split_to(1) != b"\r\n"[*seen..=*seen] {
                        return Err(malformed("a chunk that does not end where it should"));
                    }
                    self.0 = match *seen {
                        0 => State::ChunkEnd(1),
                        _ => State::ChunkLine(Vec::new()),
                    };
                }
            }
        }
    }

    /// When the connection ends.
    ///
    /// # Errors
    ///
    /// If the content does not (RFC 9112 §8).
    pub fn finish(&self) -> Result<(), Error> {
        match self.0 {
            State::Known(0) | State::UntilClose | State::Ended => Ok(()),
            _ => Err(malformed("a connection that ends before the content")),
        }
    }

    fn end(&mut self, trailers: Fields) -> BodyPiece {
        self.0 = State::Ended;
        BodyPiece::End(trailers)
    }
}

fn after_chunk_line(size: u64) -> State {
    match size {
        0 => State::Trailers(SectionReader::trailers(MAX_TRAILERS)),
        size => State::Chunk(size),
    }
}

/// Adds `input` to the line in front of a chunk, and returns the size once the line is whole
/// (RFC 9112 §7.1).
fn chunk_size(line: &mut Vec<u8>, input: &mut Bytes) -> Result<Option<u64>, Error> {
    let end = input.iter().position(|&byte| byte == b'\n').map_or(input.len(), |end| end + 1);
    if line.len() + end > MAX_CHUNK_LINE {
        return Err(malformed("a line in front of a chunk that is too long"));
    }
    line.extend_from_slice(&input.split_to(end));
    if line.last() != Some(&b'\n') {
        return Ok(None);
    }
    // To httparse no digits at all are a size of 0.
    let has_digits = line[0].is_ascii_hexdigit();
    match httparse::parse_chunk_size(line) {
        Ok(httparse::Status::Complete((_, size))) if has_digits => Ok(Some(size)),
        _ => Err(malformed("a chunk without its size")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All content and the trailers, and what is left behind them.
    fn read(
        length: BodyLength,
        input: &'static str,
    ) -> Result<(String, Option<Fields>, Bytes), Error> {
        let mut input = Bytes::from_static(input.as_bytes());
        let mut reader = BodyReader::new(length);
        let mut content = String::new();
        let mut trailers = None;
        while let Some(piece) = reader.decode(&mut input)? {
            match piece {
                BodyPiece::Data(data) => content.push_str(std::str::from_utf8(&data).unwrap()),
                BodyPiece::End(fields) => trailers = Some(fields),
            }
        }
        assert_eq!(reader.finish().is_ok(), trailers.is_some() || length == BodyLength::UntilClose);
        Ok((content, trailers, input))
    }

    #[test]
    fn known_length() {
        let (content, trailers, rest) = read(BodyLength::Known(5), "12345GET").unwrap();
        assert_eq!((&content[..], trailers.unwrap().len(), &rest[..]), ("12345", 0, &b"GET"[..]));
        let (_, trailers, rest) = read(BodyLength::Known(0), "GET").unwrap();
        assert_eq!((trailers.unwrap().len(), &rest[..]), (0, &b"GET"[..]));
        assert_eq!(read(BodyLength::Known(5), "1234").unwrap().1, None);
    }

    #[test]
    fn until_close() {
        let (content, trailers, _) = read(BodyLength::UntilClose, "12345").unwrap();
        assert_eq!((&content[..], trailers), ("12345", None));
    }

    #[test]
    fn chunked() {
        let body = "4\r\nWiki\r\nA;x=y\r\n0123456789\r\n000\r\nDigest: z\r\n\r\nGET";
        let (content, trailers, rest) = read(BodyLength::Chunked, body).unwrap();
        assert_eq!((&content[..], &rest[..]), ("Wiki0123456789", &b"GET"[..]));
        assert_eq!(trailers.unwrap().get("digest").unwrap(), "z");
        let (content, trailers, rest) = read(BodyLength::Chunked, "0\r\n\r\nGET").unwrap();
        assert_eq!((&content[..], trailers.unwrap().len(), &rest[..]), ("", 0, &b"GET"[..]));
    }

    #[test]
    fn malformed_chunks() {
        let long = Box::leak(format!("1;{}", "x".repeat(300)).into_boxed_str());
        let trailers = Box::leak(format!("0\r\n{}", "x: y\r\n".repeat(2000)).into_boxed_str());
        let bad = [
            "x\r\n",
            "\r\n",
            "-1\r\n",
            "0x1\r\n",
            "1\nx",
            "1\r\nxy",
            "1\r\nx\ry",
            "1\r\nx\n",
            "11111111111111111\r\n",
            "0\r\nx y\r\n\r\n",
            "0\r\nx\r\n\r\n",
            long,
            trailers,
        ];
        for body in bad {
            assert!(read(BodyLength::Chunked, body).is_err(), "{body:?}");
        }
    }
}
