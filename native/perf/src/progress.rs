use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::channel::{Channel, Established};
use crate::failure::Failure;
use crate::report::{Direction, FlowReport, SenderState, Transport};
use crate::series::Meter;
use headway_reactor::Clock;

/// How far a flow has come, on either side: what its report will tell.
#[derive(Debug)]
pub(crate) struct Progress {
    clock: Clock,
    began: Instant,
    connected: Option<Instant>,
    secured: Option<Instant>,
    early_data: Option<bool>,
    first_byte: Option<Instant>,
    ended: Option<Instant>,
    direction: Option<Direction>,
    sends: bool,
    received: u64,
    written: u64,
    unsent: u64,
    error: Option<String>,
    meter: Meter,
}

impl Progress {
    /// A flow begins.
    pub(crate) fn begin(clock: Clock, interval: Duration, now: Instant) -> Self {
        Self {
            clock,
            began: now,
            connected: None,
            secured: None,
            early_data: None,
            first_byte: None,
            ended: None,
            direction: None,
            sends: false,
            received: 0,
            written: 0,
            unsent: 0,
            error: None,
            meter: Meter::begin(clock, interval, now),
        }
    }

    /// Where its data go, and whether it is this side that sends them.
    pub(crate) fn set_direction(&mut self, direction: Direction, sends: bool) {
        self.direction = Some(direction);
        self.sends = sends;
    }

    /// The connection is established.
    pub(crate) fn established(&mut self, at: Established) {
        self.connected.get_or_insert(at.connected);
        self.secured = self.secured.or(at.secured);
    }

    /// Whether the connection is established.
    pub(crate) fn is_established(&self) -> bool {
        self.connected.is_some()
    }

    /// Whether the server took early data.
    pub(crate) fn tried_early_data(&mut self, accepted: bool) {
        self.early_data = Some(accepted);
    }

    /// Data came.
    pub(crate) fn received(&mut self, now: Instant, bytes: u64) {
        if !self.sends {
            self.meter.close(now, None);
        }
        self.first_byte.get_or_insert(now);
        self.received += bytes;
        self.meter.received(bytes);
    }

    /// Data were written to the channel.
    pub(crate) fn wrote(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// What was written went with a connection's rejected early data.
    pub(crate) fn begin_again(&mut self) {
        self.written = 0;
    }

    /// Bytes of data that came so far.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.received
    }

    /// Bytes of data that came or were written to the channel so far.
    pub(crate) fn moved_bytes(&self) -> u64 {
        self.received + self.written
    }

    /// When the sender wants to be looked at next.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.ended.is_none().then(|| self.meter.due())
    }

    /// Looks at the sender if an interval has ended.
    pub(crate) fn look(&mut self, now: Instant, channel: Option<&dyn Channel>) {
        if self.due().is_some_and(|due| due <= now) {
            let sender = channel.and_then(|channel| self.count_sent(channel));
            self.meter.close(now, sender);
        }
    }

    /// The flow is over.
    pub(crate) fn end(&mut self, now: Instant, channel: Option<&dyn Channel>) {
        if self.ended.is_none() {
            let sender = channel.and_then(|channel| self.count_sent(channel));
            self.meter.end(now, sender);
            self.ended = Some(now);
        }
    }

    /// The flow failed.
    pub(crate) fn fail(&mut self, now: Instant, failure: &Failure) {
        if self.ended.is_none() {
            self.error = Some(failure.to_string());
            self.end(now, None);
        }
    }

    /// Whether it is over.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    fn count_sent(&mut self, channel: &dyn Channel) -> Option<SenderState> {
        if !self.sends {
            return None;
        }
        self.unsent = channel.unsent();
        self.meter.sent_in_all(self.sent());
        channel.sender()
    }

    fn sent(&self) -> u64 {
        self.written.saturating_sub(self.unsent)
    }

    /// What there is to tell.
    pub(crate) fn report(
        self,
        transport: Transport,
        local: Option<SocketAddr>,
        remote: SocketAddr,
    ) -> FlowReport {
        let seconds = |at: Option<Instant>| at.map(|at| self.clock.seconds(at));
        let sent_bytes = self.sent();
        let bytes = if self.sends { sent_bytes } else { self.received };
        let span = self.ended.map(|at| (at - self.began).as_secs_f64()).filter(|&s| s > 0.0);
        FlowReport {
            transport,
            direction: self.direction,
            local: local.map(|address| address.to_string()),
            remote: remote.to_string(),
            start_s: self.clock.seconds(self.began),
            connected_s: seconds(self.connected),
            secured_s: seconds(self.secured),
            early_data: self.early_data,
            first_byte_s: seconds(self.first_byte),
            end_s: seconds(self.ended),
            received_bytes: self.received,
            sent_bytes,
            goodput_mbit: span.map(|span| bytes as f64 * 8e-6 / span),
            error: self.error,
            series: self.meter.intervals(),
        }
    }
}
