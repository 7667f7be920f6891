use std::time::{Duration, Instant};

use headway_reactor::{Application, Reactor, Ready, Signal, Signals, Token};

use crate::client::connector::Connector;
use crate::client::link::Link;
use crate::failure::{Failure, StartError};
use crate::flow::{Flow, Planned};
use crate::report::FlowReport;
use headway_reactor::Clock;

pub(crate) const END: Token = Token(0);
pub(crate) const ACT: Token = Token(1);
const FIRST_FLOW: u64 = 2;
/// How long a connection may take to end.
const LINGER: Duration = Duration::from_secs(5);

/// Flows, each begun at its time.
pub(crate) struct Flows<'a> {
    connector: &'a Connector,
    signals: &'a mut Signals,
    clock: Clock,
    planned: &'a [Planned],
    began: Option<Instant>,
    /// Those that have begun, at their places.
    running: Vec<Option<Running>>,
    deadline: Option<Instant>,
}

impl<'a> Flows<'a> {
    /// Flows that begin so long after the first turn as is planned.
    pub(crate) fn new(
        connector: &'a Connector,
        signals: &'a mut Signals,
        clock: Clock,
        planned: &'a [Planned],
    ) -> Self {
        let running = planned.iter().map(|_| None).collect();
        Self { connector, signals, clock, planned, began: None, running, deadline: None }
    }

    /// What there is to tell of those that have begun.
    pub(crate) fn reports(self) -> Vec<FlowReport> {
        let Connector { transport, ends, .. } = self.connector;
        let running = self.running.into_iter().flatten();
        running.map(|one| one.flow.report(*transport, one.local, ends.server)).collect()
    }

    fn interrupt(&mut self, now: Instant) {
        for (place, planned) in self.running.iter_mut().zip(self.planned) {
            let running = place.get_or_insert_with(|| Running {
                flow: Flow::begin(planned.job, self.clock, now),
                link: None,
                local: None,
                give_up: None,
            });
            running.fail(now, &Failure::Interrupted);
        }
    }

    fn begin_those_due(&mut self, began: Instant, now: Instant) {
        for (place, planned) in self.running.iter_mut().zip(self.planned) {
            if place.is_none() && began + planned.start <= now {
                let flow = Flow::begin(planned.job, self.clock, now);
                *place = Some(Running::connect(self.connector, flow, now));
            }
        }
    }

    fn next_start(&self, began: Instant) -> Option<Instant> {
        let waiting = self.running.iter().zip(self.planned).filter(|(place, _)| place.is_none());
        waiting.map(|(_, planned)| began + planned.start).min()
    }
}

impl Application for Flows<'_> {
    type Error = StartError;

    fn ready(&mut self, _: &Reactor, now: Instant, ready: Ready) -> Result<(), StartError> {
        if ready.token == END || ready.token == ACT {
            if self.signals.take(ready.token) == Some(Signal::End) {
                self.interrupt(now);
            }
            return Ok(());
        }
        let index = usize::try_from(ready.token.0 - FIRST_FLOW).unwrap_or(usize::MAX);
        if let Some(Some(running)) = self.running.get_mut(index) {
            running.ready(now, ready);
        }
        Ok(())
    }

    fn turn(&mut self, reactor: &Reactor, now: Instant) -> Result<(), StartError> {
        let began = *self.began.get_or_insert(now);
        self.begin_those_due(began, now);
        let mut deadline = self.next_start(began);
        for (token, running) in (FIRST_FLOW..).zip(&mut self.running) {
            if let Some(running) = running {
                running.turn(reactor, Token(token), now);
                deadline = [deadline, running.deadline()].into_iter().flatten().min();
            }
        }
        self.deadline = deadline;
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn finished(&self) -> bool {
        self.running.iter().all(|place| place.as_ref().is_some_and(Running::is_over))
    }
}

/// A flow that has begun, and its connection until that has ended.
struct Running {
    flow: Flow,
    link: Option<Box<dyn Link>>,
    local: Option<std::net::SocketAddr>,
    /// The connection is ending, and has until then.
    give_up: Option<Instant>,
}

impl Running {
    fn connect(connector: &Connector, flow: Flow, now: Instant) -> Self {
        let mut running = Self { flow, link: None, local: None, give_up: None };
        match connector.connect(now) {
            Ok(link) => {
                running.local = link.local_address().ok();
                running.link = Some(link);
            }
            Err(failure) => running.fail(now, &failure),
        }
        running
    }

    fn ready(&mut self, now: Instant, ready: Ready) {
        let Some(link) = &mut self.link else { return };
        if let Err(failure) = link.ready(now, ready, &mut self.flow) {
            self.fail(now, &failure);
        }
    }

    fn turn(&mut self, reactor: &Reactor, token: Token, now: Instant) {
        if self.flow.is_over() && self.give_up.is_none() {
            self.close(now);
        }
        let Some(link) = &mut self.link else { return };
        if let Err(failure) = link.turn(reactor, token, now, &mut self.flow) {
            self.fail(now, &failure);
            return;
        }
        if self.flow.is_over() && self.give_up.is_none() {
            // The turn has ended the flow: the next one ends the connection.
            self.turn(reactor, token, now);
        } else if link.is_closed() || self.give_up.is_some_and(|at| at <= now) {
            self.link = None;
        }
    }

    fn close(&mut self, now: Instant) {
        self.give_up = Some(now + LINGER);
        let cut_off = self.flow.is_cut_off();
        if self.link.as_mut().is_some_and(|link| link.close(now, cut_off).is_err()) {
            self.link = None;
        }
    }

    fn fail(&mut self, now: Instant, failure: &Failure) {
        self.flow.fail(now, failure);
        self.link = self.link.take().filter(|_| failure.leaves_connection());
    }

    fn deadline(&mut self) -> Option<Instant> {
        let link = self.link.as_mut()?;
        [link.deadline(), self.flow.deadline(), self.give_up].into_iter().flatten().min()
    }

    fn is_over(&self) -> bool {
        self.flow.is_over() && self.link.is_none()
    }
}
