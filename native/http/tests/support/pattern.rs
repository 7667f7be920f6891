//! Answers that cost little to make: those that are generated are slow without optimisation.

use bytes::Bytes;
use headway_http::service::{Body, Reply};
use headway_wire::{Request, Response};

/// The content of `/bytes/SIZE`.
pub(crate) fn body(size: u64) -> Bytes {
    (0..size).map(|i| (i * 31 % 251) as u8).collect::<Vec<u8>>().into()
}

/// The answer to a request for `/bytes/SIZE`; 404 to others, 405 to other methods than GET.
pub(crate) fn respond(request: &Request) -> Reply {
    let size = request.path.strip_prefix("/bytes/").and_then(|size| size.parse().ok());
    let (status, body) = match size {
        _ if request.method != "GET" => (405, Bytes::new()),
        Some(size) => (200, body(size)),
        None => (404, Bytes::new()),
    };
    let mut response = Response::new(status);
    response.fields.push("content-length", body.len().to_string());
    Reply { response, body: Body::Bytes(body) }
}
