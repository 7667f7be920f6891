//! A request that was sent, as the client sees it.

use std::cell::Cell;
use std::rc::Rc;

use headway_wire::fields::ContentLength;
use headway_wire::h3::Error;
use headway_wire::{Fields, Response};

use super::message::Message;
use crate::event::{Asked, Outgoing};

/// A request that was sent, until its response is complete.
pub(super) struct Open {
    pub(super) asked: Asked,
    pub(super) response: Message,
    /// The request's content, until it is handed to the transport.
    pub(super) content: Option<Outgoing>,
    /// Of a response that is read on demand, what the program takes beyond what it has got; less than nothing if more
    /// came with what it took.
    pub(super) appetite: Option<i64>,
    /// How much of that was put into packets.
    pub(super) sent_bytes: Rc<Cell<u64>>,
}

impl Open {
    /// Whether nothing more is to be read now.
    pub(super) fn is_sated(&self) -> bool {
        self.response.has_head() && self.appetite.is_some_and(|appetite| appetite <= 0)
    }

    /// Content was read.
    pub(super) fn got(&mut self, bytes: usize) {
        if let Some(appetite) = &mut self.appetite {
            *appetite -= bytes as i64;
        }
    }

    /// The next field section of the response: a head, or the trailers.
    ///
    /// # Returns
    /// The response: an interim one, after which another one follows, or the final one.
    pub(super) fn section(&mut self, fields: Fields) -> Result<Option<Response>, Error> {
        let Some(fields) = self.response.head(fields)? else { return Ok(None) };
        let response = Response::from_section(fields)?;
        if response.is_interim() {
            self.response.interim();
            return Ok(Some(response));
        }
        let is_head = self.asked.request.method == "HEAD";
        let length = ContentLength::new(&response.fields, response.has_content(is_head))?;
        self.response.begin_content(length);
        Ok(Some(response))
    }
}
