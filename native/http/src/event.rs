//! What connections tell their programs, whatever the version of HTTP.

use bytes::Bytes;
use headway_wire::{Fields, Request, Response};

use crate::service::{Body, Generated};

/// Names a request. A client's program gives the names; a server's connection does, and they are
/// unique within the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// A response's place in HTTP/2's dependency tree (RFC 7540, section 5.3). What RFC 9218 has instead
/// is a field of the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Importance {
    /// The request to be served before this one; it must have been sent on this connection.
    pub parent: Option<RequestId>,
    /// The share among those with the same parent: 1 to 256.
    pub weight: u16,
    /// What depended on the parent depends on this request.
    pub exclusive: bool,
}

/// What a client's program asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its name.
    pub id: RequestId,
    /// Method, target and fields; of a request with content its length, too.
    pub request: Request,
    /// The place of its response among others.
    pub importance: Option<Importance>,
    /// Content comes over time, by `extend` of the connection, once the request was sent; of an extended CONNECT
    /// once its response has begun (RFC 9113, section 8.5).
    pub talks: bool,
    /// The content of its response comes as far as the program asks for it, and windows are widened by what it
    /// took: otherwise all of it comes at once.
    pub reads_on_demand: bool,
    /// The content, made of its size alone ([`Generated`](crate::service::Generated)).
    pub content_bytes: Option<u64>,
}

impl Asked {
    /// A request without content.
    #[must_use]
    pub fn new(id: RequestId, request: Request, importance: Option<Importance>) -> Self {
        Self { id, request, importance, talks: false, reads_on_demand: false, content_bytes: None }
    }

    /// The content, to be sent, if it has any.
    #[must_use]
    pub fn content(&self) -> Option<Outgoing> {
        if self.talks {
            return Some(Outgoing { body: Body::growing(), is_held: false, size: 0 });
        }
        let size = self.content_bytes?;
        let is_held = self.request.expects_continue();
        let body = Body::Generated(Box::new(Generated::new(size, 0, size)));
        Some(Outgoing { body, is_held, size })
    }
}

/// Content of a request that is on its way out.
#[derive(Debug)]
pub struct Outgoing {
    /// What was not sent.
    pub body: Body,
    /// Whether the server is to say first that it wants it (RFC 9110, section 10.1.1).
    pub is_held: bool,
    /// All of it, in bytes; of what grows, all so far.
    pub size: u64,
}

impl Outgoing {
    /// How much was sent, in bytes.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.size - self.body.remaining()
    }

    /// Whether there is something to be sent now.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.is_held && self.body.remaining() > 0
    }
}

/// What a client's connection tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// The request was handed on to be sent: once more if it was early data that was rejected.
    Sent {
        /// Which.
        id: RequestId,
    },
    /// An interim response said that the content is wanted (100).
    Continued {
        /// To which request.
        id: RequestId,
    },
    /// The final response has begun.
    Head {
        /// To which request.
        id: RequestId,
        /// Status and fields.
        response: Response,
    },
    /// More content of the response.
    Data {
        /// To which request.
        id: RequestId,
        /// The content, in order.
        data: Bytes,
    },
    /// Fields came behind the content.
    Trailers {
        /// Of which response.
        id: RequestId,
        /// The fields.
        fields: Fields,
    },
    /// The response is complete. What the server answered without is not sent any more.
    Finished {
        /// To which request.
        id: RequestId,
        /// How much of the request's content was sent: over TCP handed to the pipe, over QUIC put into packets.
        content_bytes: u64,
    },
    /// There will be no complete response.
    Failed {
        /// To which request.
        id: RequestId,
        /// Why.
        failure: Failure,
    },
}

impl ClientEvent {
    /// Which request it is about.
    #[must_use]
    pub fn id(&self) -> RequestId {
        match self {
            Self::Sent { id }
            | Self::Continued { id }
            | Self::Head { id, .. }
            | Self::Data { id, .. }
            | Self::Trailers { id, .. }
            | Self::Finished { id, .. }
            | Self::Failed { id, .. } => *id,
        }
    }
}

/// Why a request got no complete response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The server has not processed it: it may be sent again on another connection.
    #[error("the server refused the request without processing it")]
    Refused,
    /// The server gave up the response.
    #[error("the server gave up the response: {0}")]
    Reset(String),
    /// The response breaks the rules of HTTP.
    #[error("malformed response: {0}")]
    Malformed(&'static str),
    /// The program gave it up.
    #[error("given up")]
    Cancelled,
    /// The connection ended.
    #[error("{0}")]
    Connection(String),
}

/// What a server's connection tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// A request, to be answered once.
    Request {
        /// Its name.
        id: RequestId,
        /// The request.
        request: Request,
    },
    /// More content of a request that does not say how long it is.
    Content {
        /// Which.
        id: RequestId,
        /// The content, in order.
        data: Bytes,
    },
    /// The request is complete.
    Received {
        /// Which.
        id: RequestId,
        /// Its content, in bytes.
        content_bytes: u64,
        /// The content itself, where the connection keeps it.
        content: Bytes,
    },
    /// The response was sent, all of it: over TCP handed to the kernel, over QUIC acknowledged.
    Finished {
        /// To which request.
        id: RequestId,
        /// Its content, in bytes.
        sent_bytes: u64,
    },
    /// The response was given up.
    Aborted {
        /// To which request.
        id: RequestId,
        /// Its content until then, in bytes.
        sent_bytes: u64,
        /// Why.
        reason: String,
    },
}
