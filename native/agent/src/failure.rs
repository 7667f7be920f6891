//! What went wrong, in words for people: it becomes the reason why a run failed.

use std::fmt::{self, Display};

/// Why a lab cannot go on.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

impl Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Says what failed, in front of why.
pub(crate) trait Doing<T> {
    /// Tell what was being done, as `reading /lab/run/orders.json`.
    fn doing(self, what: impl Display) -> Result<T, Failure>;
}

impl<T, E: Display> Doing<T> for Result<T, E> {
    fn doing(self, what: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure(format!("{what}: {error}")))
    }
}

/// The kernel's words for an error number, as `No such file or directory`.
pub(crate) fn words(error: rustix::io::Errno) -> String {
    let said = std::io::Error::from(error).to_string();
    said.split(" (os error").next().unwrap_or(&said).to_owned()
}
