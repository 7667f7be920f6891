//! What connections tell their programs, whatever the version of HTTP.

use bytes::Bytes;
use headway_wire::{Request, Response};

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

/// What a client's connection tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// The request was handed on to be sent: once more if it was early data that was rejected.
    Sent {
        /// Which.
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
    /// The response is complete.
    Finished {
        /// To which request.
        id: RequestId,
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
            | Self::Head { id, .. }
            | Self::Data { id, .. }
            | Self::Finished { id }
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
