use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::answer::Answer;
use crate::failure::StartError;
use crate::report::{Output, ServerRecord, Transport};
use headway_reactor::Clock;

/// Writes what became of flows.
pub(crate) struct Recorder {
    clock: Clock,
    interval: Duration,
    output: Option<Output>,
}

impl Recorder {
    /// Writes to a file, the standard output or nowhere.
    pub(crate) fn open(
        path: Option<&Path>,
        clock: Clock,
        interval: Duration,
    ) -> Result<Self, StartError> {
        Ok(Self { clock, interval, output: path.map(Output::open).transpose()? })
    }

    /// The answer to a flow, of a connection that was first seen at a moment.
    pub(crate) fn begin(&self, at: Instant) -> Answer {
        Answer::begin(self.clock, self.interval, at)
    }

    /// Writes a line about a flow that is over.
    pub(crate) fn record(
        &mut self,
        answer: Answer,
        transport: Transport,
        local: Option<SocketAddr>,
        remote: SocketAddr,
    ) -> Result<(), StartError> {
        let Some(output) = &mut self.output else { return Ok(()) };
        output.write(&ServerRecord {
            started_unix_s: self.clock.started_unix_s(),
            interval_s: self.interval.as_secs_f64(),
            flow: answer.report(transport, local, remote),
        })
    }
}
