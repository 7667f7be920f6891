//! What both sides send, each in a datagram of its own. Numbers are in network byte order.
//!
//! A client asks for a download until media come; an upload's first datagram of media begins it. The
//! server sends media to addresses only that have shown its token, so that nobody can have it send
//! to others. Whoever sent the media ends them, until the other side has acknowledged that.

use clap::ValueEnum;

const ASK: u8 = 1;
const MEDIA: u8 = 2;
const END: u8 = 3;
const ACKNOWLEDGE: u8 = 4;
const CHALLENGE: u8 = 5;

/// A call has no more datagrams.
pub(crate) const MOST_MEDIA: u32 = 10_000_000;
/// A series has no shorter intervals.
pub(crate) const SHORTEST_INTERVAL_NS: u64 = 1_000_000;

/// Bytes of media before what fills them up: kind, number, time, the call's count and interval.
pub(crate) const MEDIA_HEADER_BYTES: usize = 1 + 4 + 8 + 4 + 8;
const ASK_BYTES: usize = 1 + 8 + 8 + 8 + 2 + 4;

/// Where the media go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    /// To the client.
    Download,
    /// To the server.
    Upload,
}

/// What a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// Where its media go.
    pub(crate) direction: Direction,
    /// Time between two datagrams.
    pub(crate) every_ns: u64,
    /// Length of an interval of the receiver's series.
    pub(crate) interval_ns: u64,
    /// UDP payload of each datagram.
    pub(crate) payload_bytes: u16,
    /// How many there are.
    pub(crate) count: u32,
}

/// What a datagram says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// A client wants a download, and has this token.
    Ask(Call, u64),
    /// The token to ask with.
    Challenge(u64),
    /// One of the call's datagrams.
    Media(Media),
    /// All media were sent.
    End,
    /// The end is known.
    Acknowledge,
}

/// One of the datagrams that a call consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Media {
    /// Its place, from 0 on.
    pub(crate) number: u32,
    /// When it was sent, on the sender's clock since 1970.
    pub(crate) sent_ns: u64,
    /// How many there will be.
    pub(crate) count: u32,
    /// Length of an interval of the receiver's series.
    pub(crate) interval_ns: u64,
}

impl Message {
    /// The datagram's payload; media are filled up to their size.
    pub(crate) fn written(&self, payload_bytes: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Self::Ask(call, token) => {
                bytes.push(ASK);
                bytes.extend(token.to_be_bytes());
                bytes.extend(call.every_ns.to_be_bytes());
                bytes.extend(call.interval_ns.to_be_bytes());
                bytes.extend(call.payload_bytes.to_be_bytes());
                bytes.extend(call.count.to_be_bytes());
            }
            Self::Challenge(token) => {
                bytes.push(CHALLENGE);
                bytes.extend(token.to_be_bytes());
            }
            Self::Media(media) => {
                bytes.push(MEDIA);
                bytes.extend(media.number.to_be_bytes());
                bytes.extend(media.sent_ns.to_be_bytes());
                bytes.extend(media.count.to_be_bytes());
                bytes.extend(media.interval_ns.to_be_bytes());
                bytes.resize(usize::from(payload_bytes).max(MEDIA_HEADER_BYTES), 0);
            }
            Self::End => bytes.push(END),
            Self::Acknowledge => bytes.push(ACKNOWLEDGE),
        }
        bytes
    }

    /// What a payload says; None if it is nothing that a peer of this program sends.
    pub(crate) fn read(payload: &[u8]) -> Option<Self> {
        let (&kind, rest) = payload.split_first()?;
        let mut rest = Reader(rest);
        match kind {
            ASK if payload.len() == ASK_BYTES => {
                let token = rest.u64()?;
                let every_ns = rest.u64()?;
                let interval_ns = rest.u64()?;
                let payload_bytes = rest.u16()?;
                let count = rest.u32()?;
                let possible = every_ns > 0 && is_possible(count, interval_ns);
                let direction = Direction::Download;
                let call = Call { direction, every_ns, interval_ns, payload_bytes, count };
                possible.then_some(Self::Ask(call, token))
            }
            CHALLENGE => rest.u64().map(Self::Challenge),
            MEDIA => {
                let number = rest.u32()?;
                let sent_ns = rest.u64()?;
                let count = rest.u32()?;
                let interval_ns = rest.u64()?;
                let possible = number < count && is_possible(count, interval_ns);
                possible.then_some(Self::Media(Media { number, sent_ns, count, interval_ns }))
            }
            END => Some(Self::End),
            ACKNOWLEDGE => Some(Self::Acknowledge),
            _ => None,
        }
    }
}

fn is_possible(count: u32, interval_ns: u64) -> bool {
    (1..=MOST_MEDIA).contains(&count) && interval_ns >= SHORTEST_INTERVAL_NS
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let direction = Direction::Download;
        let (every_ns, interval_ns) = (20_000_000, 100_000_000);
        let call = Call { direction, every_ns, interval_ns, payload_bytes: 1200, count: 50 };
        let media = Media { number: 7, sent_ns: 123_456_789_012, count: 50, interval_ns };
        for message in [
            Message::Ask(call, 99),
            Message::Challenge(99),
            Message::Media(media),
            Message::End,
            Message::Acknowledge,
        ] {
            let written = message.written(160);
            assert_eq!(Message::read(&written), Some(message));
            assert_eq!(written.len() == 160, matches!(message, Message::Media(_)));
            if matches!(message, Message::Ask(..)) {
                assert_eq!(Message::read(&written[..written.len() - 1]), None);
            }
        }
    }

    #[test]
    fn nonsense_is_nothing() {
        assert_eq!(Message::read(b""), None);
        assert_eq!(Message::read(b"\x09"), None);
        assert_eq!(Message::read(&[MEDIA; MEDIA_HEADER_BYTES - 1]), None);
        // Its number is not below its count.
        assert_eq!(Message::read(&[[MEDIA; 1].as_slice(), &[0; 24]].concat()), None);
    }
}
