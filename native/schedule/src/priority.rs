//! How important a client says a response is.

use crate::StreamId;

/// A response's priority, in the terms of RFC 9218 and, if the client uses them, of RFC 7540.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// From 0, the most urgent, to 7 (RFC 9218 section 4.1); greater ones count as 7.
    pub urgency: u8,
    /// The client can use the response piece by piece (RFC 9218 section 4.2).
    pub incremental: bool,
    /// The stream's place in a dependency tree (RFC 7540 section 5.3).
    pub dependency: Option<Dependency>,
}

impl Priority {
    /// The least urgent level.
    pub const URGENCY_MAX: u8 = 7;

    /// `urgency` within its range.
    pub(crate) fn level(&self) -> u8 {
        self.urgency.min(Self::URGENCY_MAX)
    }
}

impl Default for Priority {
    /// What RFC 9218 section 4 says of a request without a priority: urgency 3, not incremental.
    fn default() -> Self {
        Self { urgency: 3, incremental: false, dependency: None }
    }
}

/// A stream's place in a dependency tree (RFC 7540 section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The stream to be served before this one; None is the tree's root, which HTTP/2 calls stream
    /// 0. (In HTTP/3, stream 0 is a request.)
    pub parent: Option<StreamId>,
    /// The share among the streams of the same parent, from 1 to 256; others count as the nearest.
    pub weight: u16,
    /// The stream becomes the parent's only one; what depended on the parent depends on it.
    pub exclusive: bool,
}

impl Default for Dependency {
    /// RFC 7540 section 5.3.5: on the root, with weight 16.
    fn default() -> Self {
        Self { parent: None, weight: 16, exclusive: false }
    }
}
