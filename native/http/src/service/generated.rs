use aes::Aes256;
use bytes::BytesMut;
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use ring::digest::{SHA256, digest};

/// A body that looks random and depends on nothing but its size.
///
/// It is the key stream of AES-256 in counter mode (NIST SP 800-38A, section 6.5) from counter 0,
/// under the SHA-256 of `headway body SIZE`: the bytes of the lab's files `SIZE.bin`.
pub struct Generated {
    stream: Ctr128BE<Aes256>,
    remaining: u64,
}

impl Generated {
    /// A part of the body of some size.
    ///
    /// # Arguments
    /// * `size` - of the whole body, in bytes.
    /// * `offset`, `length` - the part, in bytes; what lies beyond the end is not in it.
    #[must_use]
    pub fn new(size: u64, offset: u64, length: u64) -> Self {
        let key = digest(&SHA256, format!("headway body {size}").as_bytes());
        let mut stream = Ctr128BE::<Aes256>::new_from_slices(key.as_ref(), &[0; 16])
            .expect("a SHA-256 is as long as an AES-256 key");
        let offset = offset.min(size);
        stream.seek(offset);
        Self { stream, remaining: length.min(size - offset) }
    }

    /// How much of it has not been read, in bytes.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Appends the next `length` bytes, which must be there.
    pub(crate) fn read(&mut self, into: &mut BytesMut, length: usize) {
        let start = into.len();
        into.resize(start + length, 0);
        self.stream.apply_keystream(&mut into[start..]);
        self.remaining -= length as u64;
    }

    /// Goes back by `length` bytes, which were read before.
    pub(crate) fn unread(&mut self, length: usize) {
        let next: u64 = self.stream.current_pos();
        self.stream.seek(next - length as u64);
        self.remaining += length as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(size: u64) -> BytesMut {
        let mut body = Generated::new(size, 0, size);
        let mut bytes = BytesMut::new();
        body.read(&mut bytes, usize::try_from(size).unwrap());
        bytes
    }

    #[test]
    fn same_as_the_labs_files() {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        // Made by src/headway/lab/bodies.py.
        let of = |size| hex(digest(&SHA256, &whole(size)).as_ref());
        assert_eq!(of(1), "fcb5f40df9be6bae66c1d77a6c15968866a9e6cbd7314ca432b019d17392f6f4");
        assert_eq!(
            of(1_000_000),
            "01a6c43531b6aa6cce59c7553d2051a3156f632d3d53edd4d7419065579885b3"
        );
    }

    #[test]
    fn a_part_is_the_same_bytes() {
        let all = whole(10_000);
        for (offset, length) in [(0, 10), (15, 2), (16, 16), (4097, 5903), (9_999, 50), (20_000, 1)]
        {
            let mut part = Generated::new(10_000, offset, length);
            let mut bytes = BytesMut::new();
            let start = usize::try_from(offset).unwrap().min(all.len());
            let end = start + usize::try_from(part.remaining()).unwrap();
            // In pieces that do not fall on blocks.
            while part.remaining() > 0 {
                part.read(&mut bytes, usize::try_from(part.remaining().min(7)).unwrap());
            }
            assert_eq!(bytes, all[start..end]);
        }
    }
}
