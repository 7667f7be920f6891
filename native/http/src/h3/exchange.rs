//! A request and its response, as the server sees them.

use std::cell::Cell;
use std::rc::Rc;

use headway_wire::fields::ContentLength;
use headway_wire::h3::Error;
use headway_wire::{Fields, Priority, Request};

use super::message::Message;
use crate::priorities::Priorities;
use crate::priority::priority;

/// A stream from its request to the end of its response.
pub(super) struct Exchange {
    pub(super) request: Message,
    /// The request was read to its end.
    pub(super) is_read: bool,
    /// The program is told content piece by piece.
    pub(super) tells_content: bool,
    /// Of its content, how much has come.
    pub(super) content_bytes: u64,
    /// Its head says that there is some.
    pub(super) has_content: bool,
    /// The client asks before it sends that.
    pub(super) asks: bool,
    /// What PRIORITY_UPDATE says, or else, once it has come, the header section.
    pub(super) priority: Option<Priority>,
    /// What the server decides on, once the header section has come; None if that is for the client.
    pub(super) decided: Option<headway_schedule::Priority>,
    /// The response is under way.
    pub(super) is_answered: bool,
    /// More of its content comes over time.
    pub(super) is_open: bool,
    /// Its content, as far as it was handed to the transport.
    pub(super) sent_bytes: Rc<Cell<u64>>,
}

impl Exchange {
    /// How important the response is.
    pub(super) fn importance(&self) -> headway_schedule::Priority {
        self.decided.unwrap_or_else(|| priority(self.priority.unwrap_or_default(), None))
    }

    /// The next field section of the request: its head, or its trailers.
    pub(super) fn section(
        &mut self,
        fields: Fields,
        priorities: Priorities,
    ) -> Result<Option<Request>, Error> {
        let Some(fields) = self.request.head(fields)? else { return Ok(None) };
        let request = Request::from_section(fields)?;
        self.request.begin_content(ContentLength::new(&request.fields, true)?);
        self.priority.get_or_insert_with(|| Priority::from_fields(&request.fields));
        self.decided = priorities.decided(&request);
        self.tells_content = request.fields.get("content-length").is_none();
        Ok(Some(request))
    }
}
