//! The buffer and what is played of it.

use crate::live::Live;
use crate::pace::{CatchUp, Pace};
use crate::session::Stall;

/// Plays what is there, as long as anything is.
#[derive(Clone, Debug)]
pub(crate) struct Playback {
    /// What has to be there before the picture moves, at the start and after a stall.
    needed_s: f64,
    /// Below 0 as long as what is there is in front of where a viewer joins.
    level_s: f64,
    /// Until when this is known.
    at_s: f64,
    is_playing: bool,
    /// Nothing more will come.
    is_complete: bool,
    pub(crate) started_s: Option<f64>,
    pub(crate) played_s: f64,
    pub(crate) stalls: Vec<Stall>,
    stalled_at_s: Option<f64>,
    /// Of live video.
    catch_up: Option<CatchUp>,
}

impl Playback {
    pub(crate) fn new(needed_s: f64) -> Self {
        Self {
            needed_s,
            level_s: 0.0,
            at_s: 0.0,
            is_playing: false,
            is_complete: false,
            started_s: None,
            played_s: 0.0,
            stalls: Vec::new(),
            stalled_at_s: None,
            catch_up: None,
        }
    }

    /// Of live video.
    pub(crate) fn live(needed_s: f64, live: &Live) -> Self {
        let catch_up = Some(CatchUp::new(live.latency_s, live.catch_up));
        Self { level_s: -live.joins_s, catch_up, ..Self::new(needed_s) }
    }

    /// What is buffered at a moment that is not before any other.
    pub(crate) fn level_s(&mut self, now_s: f64) -> f64 {
        self.advance(now_s);
        self.level_s.max(0.0)
    }

    /// How fast what is there is played.
    pub(crate) fn rate(&self) -> f64 {
        self.catch_up.as_ref().map_or(1.0, CatchUp::rate)
    }

    /// How fast live video was played since when.
    pub(crate) fn into_paces(self) -> Vec<Pace> {
        self.catch_up.map(CatchUp::into_paces).unwrap_or_default()
    }

    pub(crate) fn is_playing(&self) -> bool {
        self.is_playing
    }

    /// Stalls, one that goes on included.
    pub(crate) fn starvations(&self) -> usize {
        self.stalls.len() + usize::from(self.stalled_at_s.is_some())
    }

    /// A segment, or chunks of a live one, have come; they are the last if nothing more will.
    pub(crate) fn add(&mut self, now_s: f64, seconds: f64, is_last: bool) {
        self.advance(now_s);
        self.level_s += seconds;
        self.is_complete = is_last;
        if !self.is_playing && (self.level_s >= self.needed_s || is_last) {
            self.is_playing = true;
            self.started_s.get_or_insert(now_s);
            let late_s = self.late_s();
            if let Some(catch_up) = &mut self.catch_up {
                catch_up.moves(now_s, late_s);
            }
            if let Some(at_s) = self.stalled_at_s.take() {
                self.stalls.push(Stall { at_s, lasted_s: now_s - at_s });
            }
        }
    }

    /// The end, at the latest: what is left is played before.
    ///
    /// # Returns
    /// When that is.
    pub(crate) fn end(&mut self, latest_s: f64) -> f64 {
        while self.is_complete && self.is_playing {
            let empty_s = self.at_s + self.level_s / self.rate();
            let until_s = empty_s.min(latest_s).min(self.thinks_s());
            // What is left is too little for any clock.
            if until_s <= self.at_s {
                break;
            }
            self.advance(until_s);
        }
        let end_s = if self.is_complete { self.at_s.min(latest_s) } else { latest_s };
        self.advance(end_s);
        if let Some(at_s) = self.stalled_at_s.take().filter(|_| !self.is_complete) {
            self.stalls.push(Stall { at_s, lasted_s: end_s - at_s });
        }
        end_s
    }

    /// Of live video, how much later it is seen than is aimed at: what was not played since the session's start.
    fn late_s(&self) -> f64 {
        self.at_s - self.played_s
    }

    /// When the rate may change next.
    fn thinks_s(&self) -> f64 {
        self.catch_up.as_ref().map_or(f64::INFINITY, CatchUp::due_s)
    }

    fn advance(&mut self, now_s: f64) {
        while self.thinks_s() <= now_s {
            self.play(self.thinks_s());
            let (late_s, level_s) = (self.late_s(), self.is_playing.then_some(self.level_s));
            if let Some(catch_up) = &mut self.catch_up {
                catch_up.think(self.at_s, late_s, level_s);
            }
        }
        self.play(now_s);
    }

    /// Plays at the rate that it has.
    fn play(&mut self, now_s: f64) {
        if self.is_playing {
            let rate = self.rate();
            let wanted_s = (now_s - self.at_s) * rate;
            let played_s = wanted_s.min(self.level_s);
            self.played_s += played_s;
            self.level_s -= played_s;
            if wanted_s > played_s || (self.level_s <= 0.0 && wanted_s > 0.0) {
                self.is_playing = false;
                self.at_s += played_s / rate;
                self.stalled_at_s = Some(self.at_s);
                let late_s = self.late_s();
                if let Some(catch_up) = &mut self.catch_up {
                    catch_up.stands(self.at_s, late_s);
                }
            }
        }
        self.at_s = now_s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_played_and_what_is_missing_stalls() {
        let mut playback = Playback::new(4.0);
        playback.add(1.0, 2.0, false);
        assert!(!playback.is_playing());
        playback.add(2.0, 2.0, false);
        assert_eq!(playback.level_s(5.0), 1.0);
        assert_eq!(playback.starvations(), 0);
        assert_eq!(playback.level_s(9.0), 0.0);
        assert_eq!(playback.starvations(), 1);
        playback.add(9.0, 2.0, false);
        playback.add(10.0, 2.0, true);
        assert_eq!(playback.starvations(), 1);
        assert_eq!(playback.end(100.0), 14.0);
        assert_eq!(playback.started_s, Some(2.0));
        assert_eq!(playback.stalls, [Stall { at_s: 6.0, lasted_s: 4.0 }]);
        assert_eq!(playback.played_s, 8.0);
    }

    #[test]
    fn the_end_may_come_in_a_stall_or_before_the_picture() {
        let mut playback = Playback::new(2.0);
        assert_eq!(playback.clone().end(3.0), 3.0);
        playback.add(1.0, 2.0, false);
        assert_eq!(playback.end(10.0), 10.0);
        assert_eq!(playback.stalls, [Stall { at_s: 3.0, lasted_s: 7.0 }]);
    }
}
