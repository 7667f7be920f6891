//! How many files this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The options need more open files than there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewDescriptors {
    /// How many the options need.
    pub needed: u64,
    /// How many there may be (RLIMIT_NOFILE).
    pub limit: u64,
}

impl std::fmt::Display for TooFewDescriptors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { needed, limit } = self;
        write!(f, "the options need {needed} open files, and the limit is {limit} (ulimit -Hn)")
    }
}

impl std::error::Error for TooFewDescriptors {}

/// Raises the number of files that this process may have open as far as it may itself.
///
/// # Returns
/// The limit.
pub fn raise_descriptors() -> u64 {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // Should it fail, the limit is what it was.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Raises the limit as [`raise_descriptors`] does, for options that need so many.
///
/// # Errors
/// They are not enough.
pub fn need_descriptors(needed: u64) -> Result<(), TooFewDescriptors> {
    let limit = raise_descriptors();
    if needed > limit { Err(TooFewDescriptors { needed, limit }) } else { Ok(()) }
}
