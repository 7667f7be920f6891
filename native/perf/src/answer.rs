//! A server's side of a flow, whatever the transport.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::channel::{Channel, Established};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::protocol::{RequestReader, Supply};
use crate::report::{Direction, FlowReport, Transport};
use headway_reactor::Clock;

/// A flow of a server.
#[derive(Debug)]
pub(crate) struct Answer {
    progress: Progress,
    reader: RequestReader,
    /// What remains to be answered; none before the request is complete.
    supply: Option<Supply>,
    uploads: bool,
    client_ended: bool,
    finished: bool,
}

impl Answer {
    /// The answer to a connection that was first seen now.
    pub(crate) fn begin(clock: Clock, interval: Duration, now: Instant) -> Self {
        Self {
            progress: Progress::begin(clock, interval, now),
            reader: RequestReader::default(),
            supply: None,
            uploads: true,
            client_ended: false,
            finished: false,
        }
    }

    /// The connection is established.
    pub(crate) fn established(&mut self, at: Established) {
        self.progress.established(at);
    }

    /// Data came.
    pub(crate) fn received(&mut self, now: Instant, mut data: Bytes) {
        if self.supply.is_none() {
            let Some(wanted) = self.reader.take(&mut data) else { return };
            self.supply = Some(Supply::of(wanted));
            self.uploads = wanted == 0;
            let direction = if self.uploads { Direction::Upload } else { Direction::Download };
            self.progress.set_direction(direction, !self.uploads);
        }
        if !data.is_empty() && !self.is_over() {
            self.progress.received(now, data.len() as u64);
        }
    }

    /// The client has sent everything.
    pub(crate) fn client_ended(&mut self, now: Instant) {
        self.client_ended = true;
        if self.uploads {
            self.progress.end(now, None);
        }
    }

    /// The client wants no more.
    pub(crate) fn stop(&mut self) {
        if let Some(supply) = &mut self.supply {
            supply.stop();
        }
    }

    /// Whether the client wants data without end.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.supply.as_ref().is_some_and(Supply::is_unlimited)
    }

    /// Does what time and room in the channel let it do.
    pub(crate) fn advance(
        &mut self,
        now: Instant,
        channel: &mut dyn Channel,
    ) -> Result<(), Failure> {
        self.progress.look(now, Some(channel));
        if let Some(supply) = &mut self.supply {
            self.progress.wrote(supply.pour(channel)?);
        }
        // A request that ends before it is complete is answered with nothing, as the draft says.
        let answered = self.supply.as_ref().is_none_or(Supply::is_exhausted);
        if answered && self.client_ended && !self.finished {
            self.finished = true;
            channel.finish()?;
        }
        Ok(())
    }

    /// Whether both sides have ended.
    pub(crate) fn has_finished(&self) -> bool {
        self.finished
    }

    /// Everything that was sent has arrived, or nobody wants it any longer.
    pub(crate) fn delivered(&mut self, now: Instant, channel: Option<&dyn Channel>) {
        self.progress.end(now, channel);
    }

    /// The connection is lost.
    pub(crate) fn fail(&mut self, now: Instant, failure: &Failure) {
        self.progress.fail(now, failure);
    }

    /// When it has to be advanced next, if nothing happens before.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.progress.due()
    }

    /// Whether it waits for room in the channel.
    pub(crate) fn wants_room(&self) -> bool {
        self.supply.as_ref().is_some_and(|supply| !supply.is_exhausted())
    }

    /// Bytes that were sent or received so far, once the request is complete.
    pub(crate) fn advanced(&self) -> Option<u64> {
        self.supply.as_ref().map(|_| self.progress.moved_bytes())
    }

    /// Whether there is something to tell, and nothing more will come.
    pub(crate) fn is_over(&self) -> bool {
        self.progress.has_ended()
    }

    /// What there is to tell.
    pub(crate) fn report(
        self,
        transport: Transport,
        local: Option<SocketAddr>,
        remote: SocketAddr,
    ) -> FlowReport {
        self.progress.report(transport, local, remote)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::testing::Sink;
    use crate::protocol::{UNLIMITED, request};

    fn answer(now: Instant) -> Answer {
        Answer::begin(Clock::start(), Duration::from_millis(100), now)
    }

    #[test]
    fn an_upload_is_over_with_the_clients_end() {
        let now = Instant::now();
        let (mut answer, mut sink) = (answer(now), Sink::with_room(100));
        answer.received(now, [&request(0)[..], b"data"].concat().into());
        answer.advance(now, &mut sink).unwrap();
        assert!(!sink.finished && !answer.is_over());
        answer.received(now, Bytes::from_static(b"more"));
        answer.client_ended(now);
        answer.advance(now, &mut sink).unwrap();
        assert!(sink.finished && answer.is_over() && sink.written == 0);
        let report = answer.report(Transport::Quic, None, "127.0.0.1:1".parse().unwrap());
        assert_eq!((report.received_bytes, report.direction), (8, Some(Direction::Upload)));
    }

    #[test]
    fn a_download_begins_before_the_clients_end_and_ends_after_it() {
        let now = Instant::now();
        let (mut answer, mut sink) = (answer(now), Sink::with_room(5000));
        answer.received(now, request(5000));
        answer.advance(now, &mut sink).unwrap();
        assert!(sink.written == 5000 && !sink.finished && !answer.wants_room());
        answer.client_ended(now);
        answer.advance(now, &mut sink).unwrap();
        assert!(sink.finished && !answer.is_over());
        answer.delivered(now, Some(&sink));
        assert!(answer.is_over());
    }

    #[test]
    fn data_without_end_end_when_they_are_stopped() {
        let now = Instant::now();
        let (mut answer, mut sink) = (answer(now), Sink::with_room(5000));
        answer.received(now, request(UNLIMITED));
        answer.client_ended(now);
        answer.advance(now, &mut sink).unwrap();
        assert!(answer.is_unlimited() && !sink.finished);
        answer.stop();
        answer.advance(now, &mut sink).unwrap();
        assert!(sink.finished);
    }

    #[test]
    fn half_a_request_is_answered_with_nothing() {
        let now = Instant::now();
        let (mut answer, mut sink) = (answer(now), Sink::with_room(5000));
        answer.received(now, Bytes::from_static(&[1, 2, 3]));
        answer.client_ended(now);
        answer.advance(now, &mut sink).unwrap();
        assert!(sink.finished && sink.written == 0 && answer.is_over());
    }
}
