//! The program's loop: requests to connections, events to records.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::time::{Duration, Instant};

use headway_abr::Session;
use headway_http::event::{ClientEvent, Failure, RequestId};
use headway_reactor::{Application, Reactor, Ready, Signal, Signals, Token};

use crate::plan::Job;
use crate::record::Record;
use crate::report::{ConnectionRow, Goodput, RequestRow};
use crate::slow::{SlowReader, Slowness};
use crate::target::Origin;
use crate::transport::{Candidate, Connector, Transport, connection_of};
use crate::tree::{self, Trees};
use crate::viewer::Viewer;
use headway_reactor::Clock;

/// Tokens of signals.
pub(crate) const END: Token = Token(0);
pub(crate) const ACT: Token = Token(1);
const FIRST_CONNECTION: u64 = 2;
/// The request whose response a slow reader reads: the first.
const SLOW: usize = 0;
/// How often a request is sent at most, if servers refuse it.
const MAX_ATTEMPTS: u32 = 3;

/// How much at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Connections to an origin.
    pub(crate) connections: usize,
    /// Requests.
    pub(crate) requests: usize,
    /// All of it, from the start.
    pub(crate) timeout: Option<Duration>,
    /// Of those who make the requests, if each waits for its responses.
    pub(crate) users: Option<usize>,
    /// What a user waits between a response and the next request.
    pub(crate) think: Duration,
    /// Each request has a connection of its own, which ends with it.
    pub(crate) new_connections: bool,
    /// The server's word that it wants some content.
    pub(crate) expect: Duration,
    /// Requests have something to say over time.
    pub(crate) talks: bool,
    /// How the first response is read, if not as it comes.
    pub(crate) slowness: Option<Slowness>,
    /// Requests that a response lets begin.
    pub(crate) fan_out: usize,
    /// Levels of such trees.
    pub(crate) depth: u32,
}

/// Fetches URLs.
pub(crate) struct Fetch<'a> {
    connector: &'a Connector,
    /// Where servers may be, the best place first.
    servers: &'a HashMap<Origin, Vec<Candidate>>,
    signals: &'a mut Signals,
    limits: Limits,
    clock: Clock,
    records: Vec<Record>,
    /// Those not sent yet, by when they are due, that wait for no response.
    waiting: VecDeque<usize>,
    /// Those not sent yet whose response before them has come.
    ready: VecDeque<usize>,
    trees: Trees,
    open: usize,
    /// Those not over.
    left: usize,
    /// Users who wait for no response, by when they make their next request.
    idle: VecDeque<Instant>,
    /// Content that waits for the server's word, and until when.
    expecting: BTreeMap<usize, Instant>,
    /// Reads the first response.
    slow: Option<SlowReader>,
    connections: Vec<Connection<'a>>,
    goodput: Goodput,
    /// Who makes further requests.
    viewer: Option<Viewer>,
    /// The last turn.
    now: Instant,
    interrupted: bool,
}

struct Connection<'a> {
    origin: Origin,
    transport: Box<dyn Transport + 'a>,
    /// It was ended, and nothing more comes of it.
    is_over: bool,
}

impl<'a> Fetch<'a> {
    /// All jobs are to be done.
    pub(crate) fn new(
        jobs: Vec<Job>,
        connector: &'a Connector,
        servers: &'a HashMap<Origin, Vec<Candidate>>,
        signals: &'a mut Signals,
        limits: Limits,
        clock: Clock,
        interval: Duration,
    ) -> Self {
        let Limits { fan_out, depth, .. } = limits;
        let trees = Trees::new(jobs.len() / tree::size(fan_out, depth), fan_out, depth);
        let mut order: Vec<usize> = (0..jobs.len()).filter(|&job| trees.is_root(job)).collect();
        order.sort_by_key(|&job| jobs[job].offset);
        Self {
            connector,
            servers,
            signals,
            limits,
            clock,
            left: jobs.len(),
            idle: vec![clock.start_instant(); limits.users.unwrap_or(0)].into(),
            records: jobs.into_iter().map(|job| Record::new(job, &clock)).collect(),
            waiting: order.into(),
            ready: VecDeque::new(),
            trees,
            open: 0,
            expecting: BTreeMap::new(),
            slow: limits.slowness.map(SlowReader::new),
            connections: Vec::new(),
            goodput: Goodput::new(interval.as_secs_f64()),
            viewer: None,
            now: clock.start_instant(),
            interrupted: false,
        }
    }

    /// A viewer makes requests, too.
    pub(crate) fn watched_by(mut self, viewer: Option<Viewer>) -> Self {
        self.viewer = viewer;
        self
    }

    /// What became of a viewer's session.
    pub(crate) fn session(&mut self) -> Option<Session> {
        let now_s = self.clock.seconds(Instant::now());
        self.viewer.take().map(|viewer| viewer.session(now_s))
    }

    /// What became of everything.
    pub(crate) fn finish(mut self) -> (Vec<RequestRow>, Vec<ConnectionRow>, Goodput) {
        let now = Instant::now();
        for connection in self.connections.iter_mut().filter(|connection| !connection.is_over) {
            connection.transport.end(now);
        }
        let row = |connection: &Connection<'_>| connection.transport.row(&self.clock);
        let connections: Vec<_> = self.connections.iter().map(row).collect();
        let rows = (1..).zip(self.records).map(|(number, record)| record.row(number, &connections));
        (rows.collect(), connections.clone(), self.goodput)
    }

    /// A viewer's next request, if it is time for one.
    fn view(&mut self, now: Instant) {
        let clock = &self.clock;
        if let Some(job) = self.viewer.as_mut().and_then(|viewer| viewer.next(clock, now)) {
            self.waiting.push_back(self.records.len());
            self.records.push(Record::new(job, &self.clock));
            self.trees.plant();
            self.left += 1;
        }
    }

    /// Sends what is due, as far as limits allow.
    fn dispatch(&mut self, now: Instant) {
        let mut postponed = Vec::new();
        // Without a connection for one there is none for others of its origin.
        let mut busy: Vec<Origin> = Vec::new();
        // Many may be due and wait for a connection: they are not looked at again and again.
        while self.open < self.limits.requests && busy.len() < self.servers.len() {
            let Some(job) = self.take_due(now) else { break };
            let is_busy = busy.iter().any(|origin| origin == self.records[job].origin());
            let connection = if is_busy { None } else { self.connection(job, now) };
            match connection {
                Some(connection) => self.send(job, connection),
                None => {
                    if !is_busy {
                        busy.push(self.records[job].origin().clone());
                    }
                    postponed.push(job);
                }
            }
        }
        for job in postponed.into_iter().rev() {
            self.put_back(job);
        }
    }

    /// The next request that is due: those that follow a response come before new ones.
    fn take_due(&mut self, now: Instant) -> Option<usize> {
        if let Some(job) = self.ready.pop_front() {
            return Some(job);
        }
        let &job = self.waiting.front()?;
        let is_due = self.due(job) <= now && self.has_user(now);
        is_due.then(|| self.waiting.pop_front()).flatten()
    }

    /// It will be the next one again.
    fn put_back(&mut self, job: usize) {
        let queue = if self.trees.is_root(job) { &mut self.waiting } else { &mut self.ready };
        queue.push_front(job);
    }

    /// Whether somebody makes requests now.
    fn has_user(&self, now: Instant) -> bool {
        self.limits.users.is_none() || self.idle.front().is_some_and(|&at| at <= now)
    }

    /// A request is over: what waited for it begins, or its user has time for the next one.
    fn over(&mut self, job: usize, now: Instant) {
        self.left -= 1;
        if let Some(talk) = self.records[job].talk() {
            talk.end();
        }
        let at_s = self.clock.seconds(now);
        let has_failed = self.records[job].has_failed();
        let is_last = self.trees.over(job);
        for child in self.trees.children(job) {
            self.records[child].wanted(at_s);
            if has_failed {
                self.records[child].failed("the request before it failed", at_s);
                self.over(child, now);
            } else {
                self.ready.push_back(child);
            }
        }
        if let Some(viewer) = &mut self.viewer {
            viewer.over(at_s, self.records[job].good_bytes());
        }
        if let Some(slow) = self.slow.as_mut().filter(|_| job == SLOW) {
            slow.end();
        }
        if self.limits.users.is_some() && is_last {
            self.idle.push_back(now + self.limits.think);
        }
        if self.limits.new_connections {
            let connection = self.records[job].connection();
            if let Some(connection) = connection.and_then(|index| self.connections.get_mut(index)) {
                connection.transport.end(now);
                connection.is_over = true;
            }
        }
    }

    fn due(&self, job: usize) -> Instant {
        self.clock.start_instant() + self.records[job].offset()
    }

    /// A connection that takes the request at once, perhaps a new one.
    fn connection(&mut self, job: usize, now: Instant) -> Option<usize> {
        let origin = self.records[job].origin().clone();
        if self.limits.new_connections {
            return Some(self.connect(&origin, now));
        }
        let usable = |connection: &Connection<'_>| {
            connection.origin == origin && !connection.transport.is_closed()
        };
        let free =
            |connection: &Connection<'_>| usable(connection) && connection.transport.is_free();
        let used = self.connections.iter().filter(|c| usable(c)).count();
        if used < self.limits.connections && (used == 0 || !self.connections.iter().any(free)) {
            return Some(self.connect(&origin, now));
        }
        self.connections.iter().position(free)
    }

    fn connect(&mut self, origin: &Origin, now: Instant) -> usize {
        let index = self.connections.len();
        let token = Token(FIRST_CONNECTION + index as u64);
        let candidates = self.candidates(origin);
        let transport = self.connector.connect(index as u64 + 1, origin, &candidates, token, now);
        let origin = origin.clone();
        self.connections.push(Connection { origin, transport, is_over: false });
        index
    }

    /// Where a server may be: the address that was come to last is tried first (RFC 8305, section 4).
    fn candidates(&self, origin: &Origin) -> Vec<Candidate> {
        let mut candidates = self.servers[origin].clone();
        let earlier = self.connections.iter().rev().filter(|one| one.origin == *origin);
        let won = earlier.filter_map(|one| one.transport.won()).next();
        if let Some(place) = candidates.iter().position(|one| Some(*one) == won) {
            candidates[..=place].rotate_right(1);
        }
        candidates
    }

    fn send(&mut self, job: usize, connection: usize) {
        let record = &mut self.records[job];
        let has_user = self.limits.users.is_some() && self.trees.is_root(job);
        let user = if has_user { self.idle.pop_front() } else { None };
        if let (Some(ready), 0) = (user, record.attempts()) {
            // What it waited for a connection counts.
            record.wanted(self.clock.seconds(ready));
        }
        record.assign(connection as u64 + 1);
        let asked = record.asked(RequestId(job as u64));
        self.open += 1;
        self.connections[connection].transport.ask(asked);
    }

    /// Sends content for which the server has been asked long enough.
    fn proceed(&mut self, now: Instant) {
        let over: Vec<usize> =
            self.expecting.iter().filter(|&(_, &at)| at <= now).map(|(&job, _)| job).collect();
        for job in over {
            self.expecting.remove(&job);
            let connection = self.records[job].connection();
            if let Some(connection) = connection.and_then(|index| self.connections.get_mut(index)) {
                connection.transport.proceed(RequestId(job as u64));
            }
        }
    }

    /// Sends messages that are made by now, and gives up what has had its time.
    fn talk(&mut self, now: Instant) {
        for (job, record) in self.records.iter_mut().enumerate() {
            let Some(connection) = record.connection() else { continue };
            let Some(connection) = self.connections.get_mut(connection) else { continue };
            if record.talk().is_some_and(|talk| talk.is_overdue(now)) {
                connection.transport.cancel(RequestId(job as u64));
                continue;
            }
            while let Some((content, ends)) = record.talk().and_then(|talk| talk.say(now)) {
                connection.transport.extend(RequestId(job as u64), content, ends);
            }
        }
    }

    /// Reads what a slow reader takes by now.
    fn read_slowly(&mut self, now: Instant) {
        let Some(slow) = &mut self.slow else { return };
        while let Some(bytes) = slow.takes(now) {
            let connection = self.records[SLOW].connection();
            if let Some(connection) = connection.and_then(|index| self.connections.get_mut(index)) {
                connection.transport.read(RequestId(SLOW as u64), bytes, now);
            }
        }
    }

    /// Every connection's turn.
    ///
    /// # Returns
    /// Whether anything happened.
    fn exchange(&mut self, reactor: &Reactor, now: Instant) -> io::Result<bool> {
        let mut events = Vec::new();
        for connection in self.connections.iter_mut().filter(|connection| !connection.is_over) {
            connection.transport.turn(reactor, now, &mut events)?;
        }
        let any = !events.is_empty();
        for event in events {
            self.handle(event, now);
        }
        Ok(any)
    }

    fn note_head_of_line(&mut self, job: usize) {
        let record = &mut self.records[job];
        let connection = record.connection().and_then(|index| self.connections.get(index));
        let blocked = connection.and_then(|c| c.transport.head_of_line(RequestId(job as u64)));
        if let Some(blocked) = blocked {
            record.held_up(blocked);
        }
    }

    fn handle(&mut self, event: ClientEvent, now: Instant) {
        let job = usize::try_from(event.id().0).expect("a job's index");
        let at_s = self.clock.seconds(now);
        let record = &mut self.records[job];
        match event {
            ClientEvent::Sent { .. } => {
                record.sent(at_s);
                if let Some(talk) = record.talk() {
                    talk.sent(now);
                }
                if record.expects() {
                    self.expecting.insert(job, now + self.limits.expect);
                }
            }
            ClientEvent::Continued { .. } => {
                record.continued(at_s);
                self.expecting.remove(&job);
            }
            ClientEvent::Head { response, .. } => {
                record.head(&response, at_s);
                if let Some(talk) = record.talk() {
                    talk.answered(now);
                }
                self.expecting.remove(&job);
                if let Some(slow) = self.slow.as_mut().filter(|_| job == SLOW) {
                    slow.begin(now);
                }
            }
            ClientEvent::Data { data, .. } => {
                self.goodput.add(at_s, data.len() as u64);
                record.content(&data, at_s);
                let viewer = self.viewer.as_mut();
                if let Some((viewer, bytes)) = viewer.zip(record.good_so_far()) {
                    viewer.heard(at_s, bytes);
                }
            }
            ClientEvent::Trailers { fields, .. } => record.trailers(&fields),
            ClientEvent::Finished { content_bytes, .. } => {
                record.finished(content_bytes, at_s);
                self.open -= 1;
                self.note_head_of_line(job);
                self.over(job, now);
            }
            ClientEvent::Failed { failure, .. } => {
                self.open -= 1;
                if failure == Failure::Refused && record.attempts() < MAX_ATTEMPTS {
                    self.put_back(job);
                    if self.limits.users.is_some() && self.trees.is_root(job) {
                        self.idle.push_front(now);
                    }
                } else {
                    record.failed(&failure.to_string(), at_s);
                    self.over(job, now);
                }
            }
        }
    }

    fn interrupt(&mut self, reason: &str, now: Instant) {
        self.interrupted = true;
        let at_s = self.clock.seconds(now);
        for record in self.records.iter_mut().filter(|record| !record.is_over()) {
            record.failed(reason, at_s);
        }
    }

    fn timeout(&self) -> Option<Instant> {
        // One that is beyond all moments never comes.
        self.limits.timeout.and_then(|timeout| self.clock.start_instant().checked_add(timeout))
    }
}

impl Application for Fetch<'_> {
    type Error = io::Error;

    fn ready(&mut self, reactor: &Reactor, now: Instant, ready: Ready) -> io::Result<()> {
        if ready.token == END || ready.token == ACT {
            match self.signals.take(ready.token) {
                Some(Signal::End) => self.interrupt("interrupted", now),
                Some(Signal::Act) => {
                    for connection in &mut self.connections {
                        connection.transport.command(reactor, now)?;
                    }
                }
                None => {}
            }
            return Ok(());
        }
        let index = connection_of(ready.token) - FIRST_CONNECTION;
        let index = usize::try_from(index).expect("an index");
        if let Some(connection) = self.connections.get_mut(index) {
            connection.transport.ready(ready, now);
        }
        Ok(())
    }

    fn turn(&mut self, reactor: &Reactor, now: Instant) -> io::Result<()> {
        self.now = now;
        if self.timeout().is_some_and(|at| at <= now) {
            let seconds = self.limits.timeout.unwrap_or_default().as_secs_f64();
            self.interrupt(&format!("not complete after {seconds} s (--timeout)"), now);
        }
        self.proceed(now);
        self.read_slowly(now);
        while !self.finished() {
            self.view(now);
            self.dispatch(now);
            if self.limits.talks {
                self.talk(now);
            }
            if !self.exchange(reactor, now)? {
                break;
            }
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        // What was due already, which comes first, waits for a response or a connection.
        let later = self.waiting.partition_point(|&job| self.due(job) <= self.now);
        let due = self.waiting.get(later).map(|&job| self.due(job));
        let user = self.idle.front().copied().filter(|&at| at > self.now);
        let user = user.filter(|_| !self.waiting.is_empty());
        let connections = self.connections.iter().filter(|c| !c.is_over);
        let connections = connections.filter_map(|c| c.transport.deadline());
        let expecting = self.expecting.values().min().copied();
        let talks = self.records.iter().filter(|_| self.limits.talks);
        let talks = talks.filter_map(Record::talk_due);
        let slow = self.slow.as_ref().and_then(SlowReader::due);
        let viewer = self.viewer.as_ref().and_then(|viewer| viewer.wakes(&self.clock, self.now));
        let own = [due, slow, user, self.timeout(), expecting, viewer];
        connections.chain(talks).chain(own.into_iter().flatten()).min()
    }

    fn finished(&self) -> bool {
        let is_over = match &self.viewer {
            Some(viewer) => viewer.is_gone(self.clock.seconds(self.now)),
            None => self.left == 0,
        };
        self.interrupted || is_over
    }
}
