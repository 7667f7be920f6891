//! The access log: a JSON line for every request, written when its response is over.

use headway_http::tls::Protocol;
use serde::Serialize;

/// What is written about a request when its response is over.
#[derive(Debug, Serialize)]
pub(crate) struct Entry<'a> {
    /// When the request came, in seconds from the program's start.
    pub(crate) at_s: f64,
    /// How long until the response was handed to the transport, in seconds.
    pub(crate) duration_s: f64,
    /// The connection's number; the first is 1.
    pub(crate) connection: u64,
    /// The client's address.
    pub(crate) remote: &'a str,
    /// The version of HTTP.
    pub(crate) protocol: Protocol,
    /// The request's name within the connection: the stream, or its number in HTTP/1.1.
    pub(crate) id: u64,
    /// The request's method.
    pub(crate) method: &'a str,
    /// Its target.
    pub(crate) path: &'a str,
    /// The response's status.
    pub(crate) status: u16,
    /// The response's content that was handed to the transport, in bytes.
    pub(crate) bytes: u64,
    /// What a player told of its state (CMCD, CTA-5004), if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cmcd: Option<&'a str>,
    /// Why the response is incomplete.
    pub(crate) error: Option<&'a str>,
}
