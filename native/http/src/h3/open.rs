//! A request that was sent, as the client sees it.

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
}

impl Open {
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
