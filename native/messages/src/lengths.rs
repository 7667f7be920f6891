//! Messages behind their lengths: a byte that says that they are not compressed, four for the length, and the
//! message (gRPC over HTTP/2, Length-Prefixed-Message).

use bytes::{Buf, BytesMut};

use crate::Wrong;

const PREFIX_BYTES: usize = 5;
/// A message has no more bytes.
pub(crate) const MOST_BYTES: usize = 16 << 20;
pub(crate) const LONG: Wrong = Wrong("a message is longer than 16 MiB");
const COMPRESSED: Wrong = Wrong("a message is compressed");

/// A message behind its length.
///
/// # Panics
/// If the message has 4 GiB or more.
#[must_use]
pub fn written(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("messages are short");
    [&[0], &length.to_be_bytes()[..], message].concat()
}

/// Reads messages.
#[derive(Debug, Default)]
pub struct Reader {
    waiting: BytesMut,
}

impl Reader {
    pub(crate) fn kept(&self) -> usize {
        self.waiting.len()
    }

    /// Takes what came.
    ///
    /// # Arguments
    /// * `message` - is called with each message that is complete.
    ///
    /// # Errors
    /// What comes is no message.
    pub fn read(&mut self, piece: &[u8], mut message: impl FnMut(&[u8])) -> Result<(), Wrong> {
        self.waiting.extend_from_slice(piece);
        while let Some((&[flag, a, b, c, d], rest)) = self.waiting.split_first_chunk() {
            let length = u32::from_be_bytes([a, b, c, d]) as usize;
            if flag != 0 {
                return Err(COMPRESSED);
            }
            if length > MOST_BYTES {
                return Err(LONG);
            }
            let Some(text) = rest.get(..length) else { break };
            message(text);
            self.waiting.advance(PREFIX_BYTES + length);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_do_not_matter(sizes in prop::collection::vec(0usize..400, 0..8), cut in 1usize..300) {
            let messages: Vec<Vec<u8>> = sizes.iter().map(|&size| vec![size as u8; size]).collect();
            let stream: Vec<u8> = messages.iter().flat_map(|message| written(message)).collect();
            let (mut reader, mut read) = (Reader::default(), Vec::new());
            for piece in stream.chunks(cut) {
                reader.read(piece, |message| read.push(message.to_vec())).unwrap();
            }
            prop_assert_eq!(read, messages);
        }
    }

    #[test]
    fn what_is_no_message() {
        let read = |bytes: &[u8]| Reader::default().read(bytes, |_| ());
        assert_eq!(read(&[1, 0, 0, 0, 0]), Err(COMPRESSED));
        assert_eq!(read(&[0, 255, 0, 0, 0]), Err(LONG));
        assert_eq!(read(&[0, 0, 0, 0]), Ok(()));
    }
}
