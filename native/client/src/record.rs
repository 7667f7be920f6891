use std::time::{Duration, Instant};

use headway_http::event::{Asked, RequestId};
use headway_quic::HeadOfLine;
use headway_wire::{Fields, Response};

use crate::heard::Heard;
use crate::plan::Job;
use crate::report::{ConnectionRow, RequestRow};
use crate::talk::Talk;
use crate::target::Origin;
use headway_reactor::Clock;

/// A URL and what becomes of it.
pub(crate) struct Record {
    job: Job,
    row: RequestRow,
    /// Reads messages off the response, if asked for.
    heard: Option<Heard>,
    /// Whether what comes is wanted, and not an error's.
    is_good: bool,
    is_over: bool,
}

impl Record {
    pub(crate) fn new(job: Job, clock: &Clock) -> Self {
        let priority = job.request.fields.get(headway_wire::priority::FIELD);
        let row = RequestRow {
            url: job.target.to_string(),
            priority: priority.map(|value| String::from_utf8_lossy(value).into_owned()),
            queued_s: clock.seconds(clock.start_instant() + job.offset),
            ..RequestRow::default()
        };
        let heard = job.hears.map(|hears| Heard::new(hears, clock.started_unix_s()));
        Self { job, row, heard, is_good: false, is_over: false }
    }

    pub(crate) fn offset(&self) -> Duration {
        self.job.offset
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.job.target.origin
    }

    /// What is to be sent, under this name.
    pub(crate) fn asked(&self, id: RequestId) -> Asked {
        let mut request = self.job.request.clone();
        request.fields.extend(self.job.padding.fields(id.0));
        Asked {
            id,
            request,
            importance: self.job.importance,
            talks: self.job.talk.is_some(),
            reads_on_demand: self.job.is_read_slowly,
            content_bytes: self.job.upload_bytes,
        }
    }

    /// What it has to say, over time.
    pub(crate) fn talk(&mut self) -> Option<&mut Talk> {
        self.job.talk.as_mut()
    }

    /// When it says something next, or is given up.
    pub(crate) fn talk_due(&self) -> Option<Instant> {
        self.job.talk.as_ref().and_then(Talk::due)
    }

    /// Whether its content waits for the server's word.
    pub(crate) fn expects(&self) -> bool {
        self.job.upload_bytes.is_some() && self.job.request.expects_continue()
    }

    pub(crate) fn continued(&mut self, at_s: f64) {
        self.row.continued_s = Some(at_s);
    }

    /// It is wanted from now on: by a user, or because the response before it has come.
    pub(crate) fn wanted(&mut self, at_s: f64) {
        self.row.queued_s = at_s;
    }

    pub(crate) fn assign(&mut self, connection: u64) {
        self.row.connection = Some(connection);
        self.row.attempts += 1;
    }

    pub(crate) fn attempts(&self) -> u32 {
        self.row.attempts
    }

    pub(crate) fn sent(&mut self, at_s: f64) {
        self.row.sent_s = Some(at_s);
    }

    pub(crate) fn head(&mut self, response: &Response, at_s: f64) {
        self.row.first_byte_s = Some(at_s);
        self.row.status = Some(response.status);
        match self.job.content.begin(response) {
            Ok(is_good) => self.is_good = is_good,
            Err(error) => self.row.error = Some(error.to_string()),
        }
        if let Some(heard) = &self.heard {
            self.row.error = self.row.error.take().or(heard.check(response));
        }
    }

    pub(crate) fn content(&mut self, bytes: &[u8], at_s: f64) {
        self.row.first_content_s.get_or_insert(at_s);
        self.row.bytes += bytes.len() as u64;
        if let Some(heard) = &mut self.heard {
            self.row.error = self.row.error.take().or(heard.hear(bytes, at_s));
            if let Some(talk) = &mut self.job.talk {
                talk.answer(heard.pings());
            }
        }
        if let Err(error) = self.job.content.add(bytes) {
            self.row.error.get_or_insert_with(|| error.to_string());
        }
    }

    pub(crate) fn trailers(&mut self, fields: &Fields) {
        if let Some(heard) = &mut self.heard {
            self.row.error = self.row.error.take().or(heard.trailers(fields));
        }
    }

    pub(crate) fn finished(&mut self, content_bytes: u64, at_s: f64) {
        self.row.last_byte_s = Some(at_s);
        self.row.sent_bytes = self.job.upload_bytes.map(|_| content_bytes);
        self.row.sha256 = self.job.content.digest();
        self.is_over = true;
        if let (false, Some(status)) = (self.is_good, self.row.status) {
            self.row.error.get_or_insert_with(|| format!("status {status}"));
        }
        if let Some(heard) = &self.heard {
            self.row.error = self.row.error.take().or(heard.end());
        }
        if let Err(error) = self.job.content.end() {
            self.row.error.get_or_insert_with(|| error.to_string());
        }
    }

    pub(crate) fn failed(&mut self, reason: &str, at_s: f64) {
        self.row.last_byte_s = Some(at_s);
        self.row.error = Some(reason.to_owned());
        self.is_over = true;
    }

    /// The index of its connection.
    pub(crate) fn connection(&self) -> Option<usize> {
        self.row.connection.and_then(|number| usize::try_from(number - 1).ok())
    }

    /// What waited behind gaps of its response.
    pub(crate) fn held_up(&mut self, blocked: HeadOfLine) {
        self.row.head_of_line = Some(blocked.into());
    }

    /// Whether it is over, and not well.
    pub(crate) fn has_failed(&self) -> bool {
        self.is_over && self.row.error.is_some()
    }

    /// Bytes of a response that came as it should; none if it did not.
    pub(crate) fn good_bytes(&self) -> Option<u64> {
        self.row.error.is_none().then_some(self.row.bytes)
    }

    /// Bytes that have come of a response that is as it should be; none of another.
    pub(crate) fn good_so_far(&self) -> Option<u64> {
        self.good_bytes().filter(|_| self.is_good)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Its row in the report, with its connection's phases.
    pub(crate) fn row(mut self, number: u64, connections: &[ConnectionRow]) -> RequestRow {
        self.row.number = number;
        self.row.messages = self.heard.take().map(Heard::rows).unwrap_or_default();
        if let Some(connection) = self.connection().and_then(|index| connections.get(index)) {
            self.row.connect_start_s = Some(connection.connect_start_s);
            self.row.connected_s = connection.connected_s;
            self.row.secured_s = connection.secured_s;
        }
        self.row
    }
}
