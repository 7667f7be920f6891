//! A client's side of a flow, whatever the transport.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::channel::{Channel, Established};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::protocol::{REQUEST_BYTES, Supply, UNLIMITED, request};
use crate::report::{Direction, FlowReport, Transport};
use headway_reactor::Clock;

/// How much a flow carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// So many bytes.
    Bytes(u64),
    /// As many as it can until so long after its start.
    Time(Duration),
}

/// What each flow is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    /// Where its data go.
    pub(crate) direction: Direction,
    /// How much.
    pub(crate) amount: Amount,
    /// Length of an interval of its series.
    pub(crate) interval: Duration,
}

/// A flow to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    /// After the first one could begin.
    pub(crate) start: Duration,
    pub(crate) job: Job,
}

impl Job {
    fn bytes(&self) -> u64 {
        match self.amount {
            Amount::Bytes(bytes) => bytes,
            Amount::Time(_) => UNLIMITED,
        }
    }

    /// Bytes to ask for, and bytes to send.
    fn exchange(&self) -> (u64, u64) {
        match self.direction {
            Direction::Download => (self.bytes(), 0),
            Direction::Upload => (0, self.bytes()),
        }
    }
}

/// A flow of a client.
#[derive(Debug)]
pub(crate) struct Flow {
    job: Job,
    progress: Progress,
    supply: Supply,
    stop_at: Option<Instant>,
    requested: bool,
    /// This side of the channel was ended.
    finished: bool,
    /// It ended when the server had more to send.
    cut_off: bool,
}

impl Flow {
    /// A flow that begins now.
    pub(crate) fn begin(job: Job, clock: Clock, now: Instant) -> Self {
        let mut progress = Progress::begin(clock, job.interval, now);
        progress.set_direction(job.direction, job.direction == Direction::Upload);
        let stop_at = match job.amount {
            Amount::Bytes(_) => None,
            Amount::Time(time) => Some(now + time),
        };
        let supply = Supply::of(job.exchange().1);
        Self { job, progress, supply, stop_at, requested: false, finished: false, cut_off: false }
    }

    /// The connection is established.
    pub(crate) fn established(&mut self, at: Established) {
        self.progress.established(at);
    }

    /// Whether the server took early data.
    pub(crate) fn tried_early_data(&mut self, accepted: bool) {
        self.progress.tried_early_data(accepted);
    }

    /// What was written went with a connection's rejected early data.
    pub(crate) fn begin_again(&mut self) {
        self.requested = false;
        self.finished = false;
        self.supply = Supply::of(self.job.exchange().1);
        self.progress.begin_again();
    }

    /// When it has to be advanced next.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let stop_at = self.stop_at.filter(|_| !self.is_over());
        [stop_at, self.progress.due()].into_iter().flatten().min()
    }

    /// Whether there is nothing more to do.
    pub(crate) fn is_over(&self) -> bool {
        self.progress.has_ended()
    }

    /// Whether it ended by time, when the server had more to send.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.cut_off
    }

    /// Whether it waits for room in the channel.
    pub(crate) fn wants_room(&self) -> bool {
        let has_written_all = self.requested && self.supply.is_exhausted();
        !self.is_over() && !has_written_all
    }

    /// Does what time and room in the channel let it do.
    pub(crate) fn advance(
        &mut self,
        now: Instant,
        channel: &mut dyn Channel,
    ) -> Result<(), Failure> {
        self.pass_time(now, Some(channel))?;
        if self.is_over() {
            return Ok(());
        }
        if !self.requested && channel.room() >= REQUEST_BYTES {
            channel.write(request(self.job.exchange().0))?;
            self.requested = true;
        }
        if self.requested {
            self.progress.wrote(self.supply.pour(channel)?);
            self.finish(channel)?;
        }
        Ok(())
    }

    /// Does what time lets it do while there is no channel.
    pub(crate) fn wait(&mut self, now: Instant) -> Result<(), Failure> {
        self.pass_time(now, None)
    }

    /// Data came.
    pub(crate) fn received(
        &mut self,
        now: Instant,
        bytes: u64,
        channel: &dyn Channel,
    ) -> Result<(), Failure> {
        if self.is_over() || !self.has_time(now) {
            return Ok(());
        }
        self.progress.received(now, bytes);
        let (received, (wanted, _)) = (self.progress.received_bytes(), self.job.exchange());
        if received > wanted {
            return Err(Failure::Excess { received, wanted });
        }
        if received == wanted {
            self.progress.end(now, Some(channel));
        }
        Ok(())
    }

    /// The server has sent everything.
    pub(crate) fn server_ended(
        &mut self,
        now: Instant,
        channel: &dyn Channel,
    ) -> Result<(), Failure> {
        let (received, (wanted, _)) = (self.progress.received_bytes(), self.job.exchange());
        if self.is_over() {
            return Ok(());
        }
        if received != wanted {
            return Err(Failure::Short { received, wanted });
        }
        if !self.finished {
            return Err(Failure::Early);
        }
        self.progress.end(now, Some(channel));
        Ok(())
    }

    /// It cannot go on.
    pub(crate) fn fail(&mut self, now: Instant, failure: &Failure) {
        self.progress.fail(now, failure);
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

    fn pass_time(
        &mut self,
        now: Instant,
        channel: Option<&mut dyn Channel>,
    ) -> Result<(), Failure> {
        let channel = channel.map(|channel| &*channel);
        self.progress.look(now, channel);
        let Some(end) = self.stop_at.filter(|_| !self.is_over() && !self.has_time(now)) else {
            return Ok(());
        };
        if !self.progress.is_established() {
            return Err(Failure::Late);
        }
        // A download has come far enough, an upload has only to arrive.
        self.stop_at = None;
        self.supply.stop();
        if self.job.direction == Direction::Download {
            self.cut_off = true;
            self.progress.end(end, channel);
        }
        Ok(())
    }

    fn has_time(&self, now: Instant) -> bool {
        self.stop_at.is_none_or(|at| now < at)
    }

    /// Ends this side once all is written. Where the peer cannot be told to stop sending, the end
    /// of this side tells it, so that it must not come before all is there.
    fn finish(&mut self, channel: &mut dyn Channel) -> Result<(), Failure> {
        let waits = self.progress.received_bytes() < self.job.exchange().0;
        if self.supply.is_exhausted() && !self.finished && (!waits || channel.stops_peers()) {
            self.finished = true;
            channel.finish()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::testing::Sink;

    fn flow(direction: Direction, amount: Amount, now: Instant) -> Flow {
        let job = Job { direction, amount, interval: Duration::from_millis(100) };
        Flow::begin(job, Clock::start(), now)
    }

    fn told(flow: Flow) -> FlowReport {
        let address = "127.0.0.1:1".parse().unwrap();
        flow.report(Transport::Tcp, None, address)
    }

    #[test]
    fn a_download_is_over_when_all_of_it_came() {
        let now = Instant::now();
        let mut flow = flow(Direction::Download, Amount::Bytes(1000), now);
        let mut sink = Sink::with_room(100);
        flow.advance(now, &mut sink).unwrap();
        assert!(sink.written == 8 && !sink.finished && !flow.wants_room());
        flow.received(now, 400, &sink).unwrap();
        let end = now + Duration::from_secs(2);
        flow.received(end, 600, &sink).unwrap();
        assert!(flow.is_over());
        let report = told(flow);
        // 8000 bits in 2 s.
        assert!((report.goodput_mbit.unwrap() - 0.004).abs() < 1e-9);
        assert_eq!((report.received_bytes, report.error), (1000, None));
        assert_eq!(report.series.len(), 20);
    }

    #[test]
    fn a_server_that_sends_less_or_more_is_an_error() {
        let (now, sink) = (Instant::now(), Sink::with_room(0));
        let mut download = flow(Direction::Download, Amount::Bytes(1000), now);
        download.received(now, 10, &sink).unwrap();
        let failure = download.server_ended(now, &sink).unwrap_err();
        assert!(matches!(failure, Failure::Short { received: 10, wanted: 1000 }));
        let failure = download.received(now, 1000, &sink).unwrap_err();
        assert!(matches!(failure, Failure::Excess { received: 1010, wanted: 1000 }));
        let mut upload = flow(Direction::Upload, Amount::Bytes(1000), now);
        let failure = upload.server_ended(now, &sink).unwrap_err();
        assert!(matches!(failure, Failure::Early));
        let failure = upload.received(now, 1, &sink).unwrap_err();
        assert!(matches!(failure, Failure::Excess { received: 1, wanted: 0 }));
    }

    #[test]
    fn nothing_at_all_is_over_with_the_servers_end() {
        let now = Instant::now();
        let mut flow = flow(Direction::Download, Amount::Bytes(0), now);
        let mut sink = Sink::with_room(100);
        flow.advance(now, &mut sink).unwrap();
        assert!(sink.finished && !flow.is_over());
        flow.server_ended(now, &sink).unwrap();
        assert!(flow.is_over());
    }

    #[test]
    fn an_upload_for_a_time_stops_and_then_waits_for_the_server() {
        let now = Instant::now();
        let mut flow = flow(Direction::Upload, Amount::Time(Duration::from_secs(1)), now);
        let mut sink = Sink { unsent: 108, ..Sink::with_room(1008) };
        flow.established(Established::quic(now));
        flow.advance(now, &mut sink).unwrap();
        assert!(!sink.finished && flow.wants_room());
        assert_eq!(flow.deadline(), Some(now + Duration::from_millis(100)));
        sink.room = 500;
        sink.unsent = 0;
        flow.advance(now + Duration::from_secs(1), &mut sink).unwrap();
        assert!(sink.finished && sink.written == 1008 && !flow.is_over());
        flow.server_ended(now + Duration::from_secs(2), &sink).unwrap();
        let report = told(flow);
        assert_eq!(report.sent_bytes, 1000);
        assert_eq!(report.series.iter().map(|i| i.sent_bytes).sum::<u64>(), 1000);
        assert_eq!(report.series[0].sender.unwrap().window_bytes, 12_000);
    }

    #[test]
    fn a_download_for_a_time_ends_by_itself() {
        let now = Instant::now();
        for stops_peers in [true, false] {
            let mut flow = flow(Direction::Download, Amount::Time(Duration::from_secs(1)), now);
            let mut sink = Sink { stops_peers, ..Sink::with_room(100) };
            flow.established(Established::quic(now));
            flow.advance(now, &mut sink).unwrap();
            assert_eq!(sink.finished, stops_peers);
            flow.received(now, 5000, &sink).unwrap();
            // The program is a little late; what came too late does not count.
            let late = now + Duration::from_micros(1_000_001);
            flow.received(late, 7, &sink).unwrap();
            flow.advance(late, &mut sink).unwrap();
            assert!(flow.is_over() && flow.deadline().is_none());
            let report = told(flow);
            assert_eq!((report.received_bytes, report.series.len()), (5000, 10));
        }
    }

    #[test]
    fn a_flow_that_is_never_connected_fails_when_its_time_is_over() {
        let now = Instant::now();
        let mut flow = flow(Direction::Download, Amount::Time(Duration::from_secs(1)), now);
        flow.wait(now + Duration::from_millis(250)).unwrap();
        assert_eq!(flow.deadline(), Some(now + Duration::from_millis(300)));
        let failure = flow.wait(now + Duration::from_secs(1)).unwrap_err();
        assert!(matches!(failure, Failure::Late));
    }
}
