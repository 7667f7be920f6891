//! What an application behind the server would take for its answers.

use std::time::{Duration, Instant};

/// How long answers take: a worker of which there is one, and what goes on at the same time for each.
pub(crate) struct Work {
    service: Duration,
    think: Duration,
    /// When the worker has answered all requests that it has.
    free: Option<Instant>,
}

impl Work {
    /// # Arguments
    /// * `service` - of the worker, for each request, one after the other in the order in which they came.
    /// * `think` - what each takes beside, whatever the others do.
    pub(crate) fn new(service: Duration, think: Duration) -> Self {
        Self { service, think, free: None }
    }

    /// A request came: when it is to be answered, if not at once.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Instant> {
        if self.service.is_zero() && self.think.is_zero() {
            return None;
        }
        let begins = self.free.map_or(now, |free| free.max(now));
        self.free = Some(begins + self.service);
        Some(begins + self.service + self.think)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_does_one_after_the_other() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let mut work = Work::new(ms(5), ms(20));
        let mut taken = |at: u64| work.take(start + ms(at)).map(|end| end - start);
        assert_eq!([taken(0), taken(0), taken(100)], [25, 30, 125].map(|end| Some(ms(end))));
        assert_eq!(Work::new(Duration::ZERO, Duration::ZERO).take(start), None);
    }
}
