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
    /// The same of all responses of the connection.
    all_bytes: Rc<Cell<u64>>,
}

impl Content {
    /// # Arguments
    /// * `sent_bytes` - counts what was read of it.
    /// * `all_bytes` - counts what was ever read of any.
    pub(super) fn new(body: Body, sent_bytes: Rc<Cell<u64>>, all_bytes: Rc<Cell<u64>>) -> Self {
        Self { body, sent_bytes, all_bytes }
    }
}

impl Source for Content {
    fn remaining(&self) -> u64 {
        self.body.remaining()
    }

    fn read(&mut self, length: usize) -> io::Result<Bytes> {
        let bytes = self.body.take(length)?;
        for count in [&self.sent_bytes, &self.all_bytes] {
            count.set(count.get() + bytes.len() as u64);
        }
        Ok(bytes)
    }

    fn unread(&mut self, length: usize) -> bool {
        let unread = self.body.unread(length);
        if unread {
            for count in [&self.sent_bytes, &self.all_bytes] {
                count.set(count.get() - length as u64);
            }
        }
        unread
    }
}
