use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Moments as reports have them: in seconds from the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
    unix_s: f64,
}

impl Clock {
    /// Starts now.
    pub(crate) fn start() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start: Instant::now(), unix_s: since.as_secs_f64() }
    }

    /// The start.
    pub(crate) fn start_instant(&self) -> Instant {
        self.start
    }

    /// The start, in seconds since 1970.
    pub(crate) fn started_unix_s(&self) -> f64 {
        self.unix_s
    }

    /// A moment, in seconds from the start.
    pub(crate) fn seconds(&self, at: Instant) -> f64 {
        at.duration_since(self.start).as_secs_f64()
    }
}
