//! What an application behind the server would take for its answers.

use std::time::{Duration, Instant};

use headway_wire::Request;

use crate::thought::Thought;

/// How long answers take: a worker of which there is one, and what goes on at the same time for each.
pub(crate) struct Work {
    service: Duration,
    thought: Thought,
    /// When the worker has answered all requests that it has.
    free: Option<Instant>,
}

impl Work {
    /// # Arguments
    /// * `service` - of the worker, for each request, one after the other in the order in which they came.
    /// * `thought` - what each takes beside, whatever the others do.
    pub(crate) fn new(service: Duration, thought: Thought) -> Self {
        Self { service, thought, free: None }
    }

    /// A request came: when it is to be answered, if not at once.
    pub(crate) fn take(&mut self, now: Instant, request: &Request) -> Option<Instant> {
        if self.service.is_zero() && self.thought.is_none() {
            return None;
        }
        let begins = self.free.map_or(now, |free| free.max(now));
        self.free = Some(begins + self.service);
        Some(begins + self.service + self.thought.about(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_does_one_after_the_other() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let request = Request::get("https", "server.test", "/");
        let mut work = Work::new(ms(5), Thought::constant(ms(20)));
        let mut taken = |at: u64| work.take(start + ms(at), &request).map(|end| end - start);
        assert_eq!([taken(0), taken(0), taken(100)], [25, 30, 125].map(|end| Some(ms(end))));
        let mut nothing = Work::new(Duration::ZERO, Thought::constant(Duration::ZERO));
        assert_eq!(nothing.take(start, &request), None);
    }
}
