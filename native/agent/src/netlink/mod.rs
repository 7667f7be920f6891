//! Netlink: requests to the kernel as messages with attributes, and its answers.
//!
//! The `ip`, `tc` and `ss` programs do the same, but starting them costs a lab more than all they do.
//! Layouts: linux/netlink.h.

mod readers;

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) use readers::{
    Connection, Discipline, DisciplineReader, QUEUE_FIELDS, QueueReader, TcpReader, tcp_fields,
};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send,
    socket_with,
};

pub(crate) const REQUEST: u16 = 0x001;
const ACK: u16 = 0x004;
pub(crate) const ECHO: u16 = 0x008;
pub(crate) const DUMP: u16 = 0x300;
pub(crate) const REPLACE: u16 = 0x100;
pub(crate) const EXCLUSIVE: u16 = 0x200;
pub(crate) const CREATE: u16 = 0x400;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const NESTED: u16 = 0x8000;
const TYPE_MASK: u16 = 0x3FFF;
const HEADER_BYTES: usize = 16;
const BUFFER_BYTES: usize = 16384;

/// Numbers of netlink sockets, above those of processes. To find one itself, the kernel would draw
/// from the random numbers that a run's seed determines, and so change the run.
static NEXT_PORT: AtomicU32 = AtomicU32::new(1 << 16);

/// A request that is being written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    /// A request of a kind, with flags.
    pub(crate) fn new(kind: u16, flags: u16) -> Self {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(REQUEST | flags).to_ne_bytes());
        Self(bytes)
    }

    /// With bytes at its end, which fill a multiple of four.
    pub(crate) fn with(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// With an attribute at its end.
    pub(crate) fn attribute(mut self, kind: u16, value: &[u8]) -> Self {
        self.begin(kind, 4 + value.len());
        self.with(value)
    }

    /// With an attribute that is a string.
    pub(crate) fn string(self, kind: u16, value: &str) -> Self {
        self.attribute(kind, format!("{value}\0").as_bytes())
    }

    /// With an attribute that is a number.
    pub(crate) fn number(self, kind: u16, value: u32) -> Self {
        self.attribute(kind, &value.to_ne_bytes())
    }

    /// With an attribute that consists of what is written inside.
    pub(crate) fn nest(self, kind: u16, write: impl FnOnce(Self) -> Self) -> Self {
        self.enclose(NESTED | kind, write)
    }

    /// As `nest`, for what is older than the flag that says so.
    pub(crate) fn enclose(mut self, kind: u16, write: impl FnOnce(Self) -> Self) -> Self {
        let start = self.0.len();
        self.begin(kind, 0);
        let mut written = write(self);
        let length = u16::try_from(written.0.len() - start).expect("attributes are short");
        written.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        written
    }

    fn begin(&mut self, kind: u16, length: usize) {
        let length = u16::try_from(length).expect("attributes are short");
        self.0.extend_from_slice(&length.to_ne_bytes());
        self.0.extend_from_slice(&kind.to_ne_bytes());
    }

    /// Its bytes, with its number and whether it is to be acknowledged.
    fn finished(&self, number: u32, acknowledged: bool) -> Vec<u8> {
        let mut bytes = self.0.clone();
        let length = u32::try_from(bytes.len()).expect("messages are short");
        bytes[0..4].copy_from_slice(&length.to_ne_bytes());
        if acknowledged {
            bytes[6] |= ACK as u8;
        }
        bytes[8..12].copy_from_slice(&number.to_ne_bytes());
        bytes
    }
}

/// A netlink socket of the network namespace in which it was made.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

impl Netlink {
    /// A socket to ask for links, addresses, routes and queueing disciplines.
    pub(crate) fn route() -> Result<Self, Errno> {
        Self::new(None)
    }

    /// A socket to ask for sockets.
    pub(crate) fn sock_diag() -> Result<Self, Errno> {
        Self::new(Some(rustix::net::netlink::INET_DIAG))
    }

    fn new(protocol: Option<Protocol>) -> Result<Self, Errno> {
        let family = AddressFamily::NETLINK;
        let socket = socket_with(family, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?;
        let port = NEXT_PORT.fetch_add(1, Ordering::Relaxed);
        bind(&socket, &SocketAddrNetlink::new(port, 0))?;
        Ok(Self { socket, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Have requests carried out, in order.
    ///
    /// # Errors
    /// The number of the first that the kernel refused, and why.
    pub(crate) fn carry_out(&mut self, requests: &[Message]) -> Result<(), (usize, Errno)> {
        let Some(last) = requests.len().checked_sub(1) else {
            return Ok(());
        };
        let bytes: Vec<u8> = requests
            .iter()
            .zip(0..)
            .flat_map(|(one, number)| one.finished(number, number as usize == last))
            .collect();
        self.send(&bytes).map_err(|error| (0, error))?;
        let mut refused = None;
        loop {
            let received = self.receive().map_err(|error| (last, error))?;
            for answer in answers(&self.buffer[..received]) {
                let number = answer.number as usize;
                let error = answer.error().filter(|_| answer.kind == ERROR);
                refused = refused.or(error.map(|error| (number, error)));
                if number == last {
                    return refused.map_or(Ok(()), Err);
                }
            }
        }
    }

    /// Ask for one thing: the answer's kind and what is after its header.
    fn ask_one(&mut self, request: &[u8]) -> Result<(u16, &[u8]), Errno> {
        self.send(request)?;
        let received = self.receive()?;
        let first = answers(&self.buffer[..received]).next();
        first.map(|answer| (answer.kind, answer.body)).ok_or(Errno::INVAL)
    }

    /// Ask for many things, of which each is shown.
    fn ask_all(&mut self, request: &[u8], mut show: impl FnMut(&[u8])) -> Result<(), Errno> {
        self.send(request)?;
        loop {
            let received = self.receive()?;
            for answer in answers(&self.buffer[..received]) {
                match answer.kind {
                    DONE => return Ok(()),
                    ERROR => return Err(answer.error().unwrap_or(Errno::INVAL)),
                    _ => show(answer.body),
                }
            }
        }
    }

    fn send(&self, bytes: &[u8]) -> Result<(), Errno> {
        send(&self.socket, bytes, SendFlags::empty()).map(drop)
    }

    fn receive(&mut self) -> Result<usize, Errno> {
        recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::empty()).map(|(bytes, _)| bytes)
    }
}

/// A message of the kernel.
struct Answer<'a> {
    kind: u16,
    number: u32,
    body: &'a [u8],
}

impl Answer<'_> {
    /// What an answer of the kind `ERROR` tells; None if that is success.
    fn error(&self) -> Option<Errno> {
        let number = i32::from_ne_bytes(array(self.body, 0));
        (number != 0).then(|| Errno::from_raw_os_error(-number))
    }
}

fn answers(mut data: &[u8]) -> impl Iterator<Item = Answer<'_>> {
    std::iter::from_fn(move || {
        if data.len() < HEADER_BYTES {
            return None;
        }
        let length = u32::from_ne_bytes(array(data, 0)) as usize;
        let length = length.clamp(HEADER_BYTES, data.len());
        let answer = Answer {
            kind: u16::from_ne_bytes(array(data, 4)),
            number: u32::from_ne_bytes(array(data, 8)),
            body: &data[HEADER_BYTES..length],
        };
        data = &data[length.next_multiple_of(4).min(data.len())..];
        Some(answer)
    })
}

/// The attributes in a nest: their types and values.
pub(crate) fn attributes(mut data: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        if data.len() < 4 {
            return None;
        }
        let length = usize::from(u16::from_ne_bytes(array(data, 0))).clamp(4, data.len());
        let kind = u16::from_ne_bytes(array(data, 2)) & TYPE_MASK;
        let value = &data[4..length];
        data = &data[length.next_multiple_of(4).min(data.len())..];
        Some((kind, value))
    })
}

/// The first attribute of a type in a nest; empty if there is none.
pub(crate) fn attribute(data: &[u8], wanted: u16) -> &[u8] {
    attributes(data).find(|(kind, _)| *kind == wanted).map_or(&[], |(_, value)| value)
}

/// So many bytes from a place on; zeros where there are none.
pub(crate) fn array<const N: usize>(data: &[u8], at: usize) -> [u8; N] {
    data.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_headers_and_nested_attributes() {
        let request = Message::new(16, CREATE)
            .with(&[7; 4])
            .string(3, "ab")
            .nest(18, |inner| inner.number(1, 5))
            .finished(9, true);
        let header = [[40, 0, 0, 0], [16, 0, 5, 4], [9, 0, 0, 0], [0; 4], [7; 4]].concat();
        let name = [7, 0, 3, 0, b'a', b'b', 0, 0];
        let nest = [12, 0, 18, 0x80, 8, 0, 1, 0, 5, 0, 0, 0];
        assert_eq!(request, [header.as_slice(), &name, &nest].concat());
    }

    #[test]
    fn answers_come_one_after_the_other_and_may_be_cut() {
        let one = Message::new(36, 0).with(&[1, 2, 3, 4]).finished(1, false);
        let two = Message::new(ERROR, 0).with(&(-2i32).to_ne_bytes()).finished(2, false);
        let data = [one, two, vec![9; 5]].concat();
        let found: Vec<_> = answers(&data).map(|one| (one.kind, one.number)).collect();
        assert_eq!(found, [(36, 1), (ERROR, 2)]);
        let error = answers(&data).last().and_then(|answer| answer.error());
        assert_eq!(error, Some(Errno::NOENT));
    }
}
