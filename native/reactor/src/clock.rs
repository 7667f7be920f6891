use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Moments as reports have them: in seconds from the program's start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    started_unix_s: f64,
}

impl Clock {
    /// Starts now.
    #[must_use]
    pub fn start() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start: Instant::now(), started_unix_s: since.as_secs_f64() }
    }

    /// The start.
    #[must_use]
    pub fn start_instant(&self) -> Instant {
        self.start
    }

    /// The start, in seconds since 1970.
    #[must_use]
    pub fn started_unix_s(&self) -> f64 {
        self.started_unix_s
    }

    /// A moment, in seconds from the start; 0 if it was before.
    #[must_use]
    pub fn seconds(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.start).as_secs_f64()
    }
}
