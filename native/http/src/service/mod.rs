//! What a server answers, whatever the version of HTTP.

mod body;
mod coding;
mod conditions;
mod file;
mod files;
mod generated;
mod path;
mod portion;
mod root;
mod site;

pub use body::Body;
pub use file::FilePart;
pub use files::{Clock, Files};
pub use generated::Generated;
pub use site::{Site, SiteError};

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
}
