//! Queries over a TCP connection, each after its length (RFC 1035, section 4.2.2).

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};

const READ_BYTES: usize = 4096;
/// Queries are short; whoever sends more without a whole one among it is no client of DNS.
const MOST_WAITING_BYTES: usize = 65_537;

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Stream {
    socket: TcpStream,
    received: Vec<u8>,
}

impl Stream {
    pub(crate) fn new(socket: TcpStream) -> io::Result<Self> {
        // An answer does not wait until the one before is acknowledged.
        socket.set_nodelay(true)?;
        Ok(Self { socket, received: Vec::new() })
    }

    /// The queries that have come whole; None once the client has ended the connection.
    pub(crate) fn queries(&mut self) -> Option<Vec<Vec<u8>>> {
        let mut buffer = [0; READ_BYTES];
        loop {
            match self.socket.read(&mut buffer) {
                Ok(0) => return None,
                Ok(bytes) => self.received.extend_from_slice(&buffer[..bytes]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
            if self.received.len() > MOST_WAITING_BYTES {
                break;
            }
        }
        let mut found = Vec::new();
        while let Some((length, rest)) = self.received.split_first_chunk::<2>() {
            let length = usize::from(u16::from_be_bytes(*length));
            if rest.len() < length {
                break;
            }
            found.push(rest[..length].to_vec());
            self.received.drain(..2 + length);
        }
        Some(found)
    }

    /// Sends an answer; a client that takes none of it is given up.
    pub(crate) fn answer(&mut self, answer: &[u8]) -> io::Result<()> {
        let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
        self.socket.write_all(&[&length.to_be_bytes()[..], answer].concat())
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
