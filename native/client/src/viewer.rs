//! Somebody who watches a video: what the player wants becomes requests, what comes becomes its buffer.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use headway_abr::{Player, Session, Settings, Step, Video};
use headway_reactor::Clock;

use crate::cmcd::Reporter;
use crate::plan::{Job, PlanError};

/// Watches a video, one segment after the other.
pub(crate) struct Viewer {
    player: Player,
    /// What every request is like, but for its path.
    template: Job,
    state: State,
    watch_s: Option<f64>,
    reporter: Option<Reporter>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// A segment is on its way.
    Fetching,
    /// Until this moment, in seconds.
    Resting(f64),
    /// Nothing more is wanted.
    Gone,
}

impl Viewer {
    /// # Arguments
    /// * `template` - a request to the server that has the video.
    /// * `session` - the name by which the server hears of the player's state, if it does.
    pub(crate) fn new(
        file: &Path,
        settings: Settings,
        template: Job,
        session: Option<String>,
    ) -> Result<Self, PlanError> {
        let cannot = |source: io::Error| PlanError::File { path: file.to_path_buf(), source };
        let video: Video = serde_json::from_reader(File::open(file).map_err(cannot)?)
            .map_err(|error| cannot(error.into()))?;
        let player = Player::new(video, settings)
            .map_err(|error| PlanError::Wrong(format!("--video {}: {error}", file.display())))?;
        let (state, reporter) = (State::Resting(0.0), session.map(Reporter::new));
        Ok(Self { player, template, state, watch_s: settings.watch_s, reporter })
    }

    /// The next request, if it is time for one.
    pub(crate) fn next(&mut self, clock: &Clock, now: Instant) -> Option<Job> {
        let now_s = clock.seconds(now);
        if !matches!(self.state, State::Resting(until_s) if until_s <= now_s) {
            return None;
        }
        match self.player.step(now_s) {
            Step::Request { segment, rung } => {
                self.state = State::Fetching;
                Some(self.request(rung, segment, clock, now_s))
            }
            Step::Wait(until_s) => {
                self.state = State::Resting(until_s);
                None
            }
            Step::Done => {
                self.state = State::Gone;
                None
            }
        }
    }

    /// So much of its response has come.
    pub(crate) fn heard(&mut self, now_s: f64, bytes: u64) {
        self.player.heard(now_s, bytes);
    }

    /// A request is over.
    pub(crate) fn over(&mut self, now_s: f64, bytes: Option<u64>) {
        self.state = match bytes {
            Some(bytes) => {
                self.player.loaded(now_s, bytes);
                State::Resting(now_s)
            }
            // Without a segment there is nothing to play on with.
            None => State::Gone,
        };
    }

    /// When it wants something if nothing comes before, later than now.
    pub(crate) fn wakes(&self, clock: &Clock, now: Instant) -> Option<Instant> {
        let at_s = match self.state {
            State::Resting(until_s) => Some(until_s),
            State::Fetching => self.watch_s,
            State::Gone => None,
        };
        // Clocks have whole nanoseconds: not before that moment.
        let moment = |at_s| Duration::from_secs_f64(at_s) + Duration::from_nanos(1);
        at_s.map(|at_s| clock.start_instant() + moment(at_s)).filter(|&at| at > now)
    }

    /// Whether it waits for nothing more, be it on its way or not.
    pub(crate) fn is_gone(&self, now_s: f64) -> bool {
        self.state == State::Gone || self.watch_s.is_some_and(|end_s| end_s <= now_s)
    }

    /// What became of the session.
    pub(crate) fn session(self, now_s: f64) -> Session {
        self.player.end(now_s)
    }

    fn request(&mut self, rung: usize, segment: usize, clock: &Clock, now_s: f64) -> Job {
        let path = path(self.player.video(), rung, segment, clock);
        let mut job = self.template.of_path(&path, Duration::from_secs_f64(now_s));
        for (name, value) in self.reporter.iter_mut().flat_map(|one| one.report(&self.player)) {
            job.request.fields.push(name, value);
        }
        job
    }
}

/// Where a segment is; of live video it says when its source makes it.
fn path(video: &Video, rung: usize, segment: usize, clock: &Clock) -> String {
    let path = video.path(rung, segment);
    let Some((live, begins_s)) = video.live.zip(video.begins_s(segment)) else {
        return path.to_owned();
    };
    let begins_ns = ((clock.started_unix_s() + begins_s) * 1e9).round() as u64;
    let segment_s = video.length_s(segment);
    format!("{path}?begins={begins_ns}&segment={segment_s}&chunk={}", live.chunk_s)
}
