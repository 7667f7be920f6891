use std::cell::Cell;
use std::io;
use std::rc::Rc;

use bytes::Bytes;
use headway_quic::Source;

use crate::service::Body;

/// A response's content, of which each packet's share is made when the packet is.
#[derive(Debug)]
pub(super) struct Content {
    body: Body,
    sent_bytes: Rc<Cell<u64>>,
}

impl Content {
    /// # Arguments
    /// * `sent_bytes` - counts what was read of it.
    pub(super) fn new(body: Body, sent_bytes: Rc<Cell<u64>>) -> Self {
        Self { body, sent_bytes }
    }
}

impl Source for Content {
    fn remaining(&self) -> u64 {
        self.body.remaining()
    }

    fn read(&mut self, length: usize) -> io::Result<Bytes> {
        let bytes = self.body.take(length)?;
        self.sent_bytes.set(self.sent_bytes.get() + bytes.len() as u64);
        Ok(bytes)
    }

    fn unread(&mut self, length: usize) -> bool {
        let unread = self.body.unread(length);
        if unread {
            self.sent_bytes.set(self.sent_bytes.get() - length as u64);
        }
        unread
    }
}
