//! A player: requests, buffer and rule together.

use crate::error::VideoError;
use crate::history::History;
use crate::live::Arrival;
use crate::playback::Playback;
use crate::rule::{Choice, Rule, RuleName, State};
use crate::session::{Segment, Session};
use crate::video::Video;

/// What no clock tells apart.
const AT_ONCE_S: f64 = 1e-6;

/// How a player behaves.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Who chooses the quality.
    pub rule: RuleName,
    /// The most that is buffered, in seconds; at least two segments.
    pub buffer_s: f64,
    /// What is buffered before the picture moves, in seconds; at most the buffer.
    pub start_s: f64,
    /// When the viewer leaves, in seconds from the start; none who sees it to its end.
    pub watch_s: Option<f64>,
}

/// What a player does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// It requests a segment, and waits until that has come.
    Request {
        /// Which.
        segment: usize,
        /// In which quality.
        rung: usize,
    },
    /// It does nothing before this moment, in seconds.
    Wait(f64),
    /// It requests nothing more.
    Done,
}

/// A player of one video, which fetches one segment after the other.
#[derive(Debug)]
pub struct Player {
    video: Video,
    settings: Settings,
    rule: Box<dyn Rule>,
    history: History,
    playback: Playback,
    segments: Vec<Segment>,
    asked: Option<Segment>,
    /// What is on its way, of live video.
    arrival: Option<Arrival>,
}

impl Player {
    /// # Errors
    /// The video cannot be played.
    pub fn new(video: Video, settings: Settings) -> Result<Self, VideoError> {
        video.check()?;
        let least_s = 2.0 * video.longest_s();
        let buffer_s = settings.buffer_s.max(least_s);
        let settings = Settings { buffer_s, start_s: settings.start_s.min(buffer_s), ..settings };
        let playback = match &video.live {
            Some(live) => Playback::live(settings.start_s, live),
            None => Playback::new(settings.start_s),
        };
        Ok(Self {
            rule: settings.rule.rule(&video, buffer_s),
            playback,
            history: History::default(),
            segments: Vec::new(),
            asked: None,
            arrival: None,
            video,
            settings,
        })
    }

    /// What is played.
    #[must_use]
    pub fn video(&self) -> &Video {
        &self.video
    }

    /// The segment that is on its way.
    #[must_use]
    pub fn asked(&self) -> Option<&Segment> {
        self.asked.as_ref()
    }

    /// Whether the picture moves, as far as the last call told.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.playback.is_playing()
    }

    /// How fast it moves, if it does.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.playback.rate()
    }

    /// How often the buffer has been empty since the picture appeared.
    #[must_use]
    pub fn starvations(&self) -> usize {
        self.playback.starvations()
    }

    /// What to do now; not to be asked while a segment is on its way.
    pub fn step(&mut self, now_s: f64) -> Step {
        let number = self.segments.len();
        if number == self.video.segments || self.settings.watch_s.is_some_and(|end| end <= now_s) {
            return Step::Done;
        }
        if let Some(at_s) = self.video.available_s(number).filter(|&at_s| at_s > now_s) {
            return Step::Wait(at_s);
        }
        let buffer_s = self.playback.level_s(now_s);
        let room_s = self.settings.buffer_s - buffer_s - self.video.length_s(number);
        if room_s < -AT_ONCE_S && self.playback.is_playing() {
            return Step::Wait(now_s - room_s);
        }
        let last = self.segments.last().map(|segment| segment.rung);
        let state =
            State { video: &self.video, segment: number, buffer_s, last, history: &self.history };
        match self.rule.choose(&state) {
            Choice::Wait(seconds) if seconds > AT_ONCE_S && self.playback.is_playing() => {
                Step::Wait(now_s + seconds)
            }
            Choice::Wait(_) => self.request(now_s, number, self.video.top(), buffer_s),
            Choice::Rung(rung) => self.request(now_s, number, rung, buffer_s),
        }
    }

    /// So much of the requested segment has come. Live video is played as it comes, chunk by chunk.
    pub fn heard(&mut self, now_s: f64, bytes: u64) {
        let (Some(live), Some(arrival)) = (self.video.live, &mut self.arrival) else { return };
        let chunks = arrival.heard(now_s, bytes);
        let is_whole = arrival.came_s.len() as u64 == self.video.chunks();
        let is_last = is_whole && self.segments.len() + 1 == self.video.segments;
        if chunks > 0 {
            self.playback.add(now_s, chunks as f64 * live.chunk_s, is_last);
        }
    }

    /// The requested segment has come.
    pub fn loaded(&mut self, now_s: f64, bytes: u64) {
        let Some(mut segment) = self.asked.take() else { return };
        segment.loaded_s = now_s;
        segment.bytes = bytes;
        if let Some(arrival) = self.arrival.take() {
            arrival.tell(&mut self.history);
            segment.left_s = Some(self.playback.level_s(now_s));
            segment.chunks_s = arrival.came_s;
        } else {
            self.history.add(bytes, now_s - segment.requested_s);
            let is_last = segment.number + 1 == self.video.segments;
            self.playback.add(now_s, self.video.length_s(segment.number), is_last);
        }
        self.segments.push(segment);
    }

    /// Nothing more will come: what is there is played.
    #[must_use]
    pub fn end(mut self, now_s: f64) -> Session {
        let is_whole = self.segments.len() == self.video.segments;
        let watched_s = self.settings.watch_s.unwrap_or(f64::INFINITY);
        let latest_s = if is_whole { watched_s } else { watched_s.min(now_s) };
        let ended_s = self.playback.end(latest_s.max(self.last_moment_s()));
        Session {
            started_s: self.playback.started_s,
            ended_s,
            played_s: self.playback.played_s,
            segments: self.segments,
            stalls: std::mem::take(&mut self.playback.stalls),
            paces: self.playback.into_paces(),
        }
    }

    fn last_moment_s(&self) -> f64 {
        self.segments.last().map_or(0.0, |segment| segment.loaded_s)
    }

    fn request(&mut self, now_s: f64, number: usize, rung: usize, buffer_s: f64) -> Step {
        self.asked = Some(Segment {
            number,
            rung,
            requested_s: now_s,
            loaded_s: now_s,
            bytes: 0,
            buffer_s,
            believed_bit_s: self.history.smoothed_bit_s(),
            chunks_s: Vec::new(),
            left_s: None,
        });
        if self.video.live.is_some() {
            let bytes = self.video.bytes(rung, number);
            self.arrival = Some(Arrival::new(bytes, self.video.chunks()));
        }
        Step::Request { segment: number, rung }
    }
}
