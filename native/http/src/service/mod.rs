//! What a server answers, whatever the version of HTTP.

mod body;
mod coding;
mod conditions;
mod conversation;
mod deadline;
mod echo;
mod file;
mod files;
mod generated;
mod growing;
mod live;
mod padded;
mod path;
mod portion;
mod root;
mod sink;
mod site;
mod streams;

pub use body::Body;
pub use conversation::{Conversation, Said};
pub use file::FilePart;
pub use files::{Clock, Files};
pub use generated::Generated;
pub use padded::{Padded, Padding};
pub use sink::{Sink, Verdict};
pub use site::{Site, SiteError};
pub use streams::Streams;

use std::time::Instant;

use headway_wire::{Request, Response};

/// A response with its content.
#[derive(Debug)]
pub struct Reply {
    /// Status and fields, Content-Length among them.
    pub response: Response,
    /// The content; empty where there is none, as for HEAD.
    pub body: Body,
}

/// Answers requests.
pub trait Service {
    /// The answer to a request. Its content, if it has any, is ignored.
    fn respond(&mut self, request: &Request) -> Reply;

    /// The answer to a request whose content comes over time: the head, and who says what follows. `None` if the
    /// whole answer is known at once.
    fn converse(
        &mut self,
        _request: &Request,
        _now: Instant,
    ) -> Option<(Response, Box<dyn Conversation>)> {
        None
    }

    /// Whether the answer waits for the end of the request's content.
    fn awaits_content(&self, _request: &Request) -> bool {
        false
    }

    /// The answer to a request for which it waited.
    ///
    /// # Arguments
    /// * `content_bytes` - how much content came.
    fn acknowledge(&mut self, request: &Request, _content_bytes: u64) -> Reply {
        self.respond(request)
    }
}
