//! A message on its way in, which is read in the same way on both sides.

use std::time::Instant;

use bytes::Bytes;
use headway_quic::StreamId;
use headway_wire::Fields;
use headway_wire::fields::{ContentLength, trailers};
use headway_wire::h3::{Error, RequestFrame, RequestStream, Role};

use super::link::{Link, MAX_SECTION};

/// What comes next of a message.
pub(super) enum Part {
    /// A field section: a head, or the trailers.
    Section(Fields),
    /// Content.
    Content(Bytes),
}

/// A request or a response that is being received.
pub(super) struct Message {
    frames: RequestStream,
    /// What came and was not looked at.
    unread: Bytes,
    /// A field section waits for the dynamic table, and what came behind it with it.
    is_blocked: bool,
    /// Once the head has come that content may follow.
    length: Option<ContentLength>,
    /// What came behind the content.
    pub(super) trailers: Option<Fields>,
}

impl Message {
    /// # Arguments
    /// * `role` - of who receives it.
    pub(super) fn new(role: Role) -> Self {
        let frames = RequestStream::new(role, MAX_SECTION);
        Self { frames, unread: Bytes::new(), is_blocked: false, length: None, trailers: None }
    }

    /// Whether nothing more can be read until its section is [unblocked](Self::unblock).
    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// The section that it waited for is there.
    pub(super) fn unblock(&mut self) {
        self.is_blocked = false;
    }

    /// Memory that it keeps, in bytes.
    pub(super) fn kept(&self) -> u64 {
        (self.frames.kept() + self.unread.len()) as u64
    }

    /// More of it came. All that came before was looked at: nothing is read of one that is blocked.
    pub(super) fn push(&mut self, data: Bytes) {
        debug_assert!(self.unread.is_empty() && !self.is_blocked);
        self.unread = data;
    }

    /// What comes next, if it is there and need not wait.
    pub(super) fn next(
        &mut self,
        now: Instant,
        stream: StreamId,
        link: &mut Link,
    ) -> Result<Option<Part>, Error> {
        if self.is_blocked {
            return Ok(None);
        }
        match (self.frames.decode(&mut self.unread)?, &mut self.length) {
            (None, _) => Ok(None),
            (Some(RequestFrame::Headers(section)), _) => {
                let fields = link.decode(now, stream, section)?;
                self.is_blocked = fields.is_none();
                if self.is_blocked {
                    // A few bytes are not to keep the datagram that they came in.
                    self.unread = Bytes::copy_from_slice(&self.unread);
                }
                Ok(fields.map(Part::Section))
            }
            (Some(RequestFrame::Data(data)), Some(length)) => {
                length.add(data.len())?;
                Ok(Some(Part::Content(data)))
            }
            (Some(RequestFrame::Data(_)), None) => {
                // Nor while a section waits for the table: nothing behind it is decoded until then.
                unreachable!("the decoder lets content come after a header section only")
            }
        }
    }

    /// A head, if these fields are not the trailers, which are kept.
    pub(super) fn head(&mut self, fields: Fields) -> Result<Option<Fields>, Error> {
        if self.length.is_none() {
            return Ok(Some(fields));
        }
        self.trailers = Some(trailers(fields)?);
        Ok(None)
    }

    /// Whether the head has come that content may follow.
    pub(super) fn has_head(&self) -> bool {
        self.length.is_some()
    }

    /// The head has come; content of this length follows.
    pub(super) fn begin_content(&mut self, length: ContentLength) {
        self.length = Some(length);
    }

    /// The head was that of an interim response: another one follows.
    pub(super) fn interim(&mut self) {
        self.frames.interim();
    }

    /// Nothing more comes.
    ///
    /// # Errors
    /// It is not complete.
    pub(super) fn finish(&self) -> Result<(), Error> {
        let complete = self.length.map_or(Ok(()), |length| Ok(length.finish()?));
        self.frames.finish().and(complete)
    }
}
