//! What the connections of a server share.

use std::time::Instant;

use headway_http::service::Service;
use headway_reactor::{Addresses, Log};

use crate::header_log::HeaderLog;
use crate::work::Work;

/// What connections need of the server.
pub(crate) struct Context<'a> {
    pub(crate) service: &'a mut dyn Service,
    pub(crate) log: &'a mut Log,
    pub(crate) headers: &'a mut HeaderLog,
    pub(crate) addresses: &'a mut Addresses,
    pub(crate) work: &'a mut Work,
    /// Requests of a connection that are answered before others have their turn.
    pub(crate) requests_per_turn: Option<u32>,
    /// Whether the links of answers that take time are told before them.
    pub(crate) early_hints: bool,
    pub(crate) now: Instant,
}
