use std::io;

use bytes::Bytes;

/// What a stream carries, made when it may be sent: never more ahead than the peer's windows and the
/// congestion window let go.
pub trait Source: std::fmt::Debug {
    /// Bytes that were not read.
    fn remaining(&self) -> u64;

    /// The next bytes: as many as are asked for and remain.
    ///
    /// # Errors
    /// There are none for another reason than the end.
    fn read(&mut self, length: usize) -> io::Result<Bytes>;

    /// The last bytes read could not be sent now, and are to be read again.
    ///
    /// # Returns
    /// Whether they will be. If not, the reader keeps them, as it should if they take no memory of
    /// their own.
    fn unread(&mut self, length: usize) -> bool;
}
