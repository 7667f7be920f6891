//! What is played.

use serde::Deserialize;

use crate::error::VideoError;
use crate::live::Live;

/// One quality of a video.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// Its rate, in bit/s: what the rules compare.
    pub bit_s: f64,
    /// Where its segments are: one path for each, or one for all.
    pub paths: Vec<String>,
    /// Bytes of its segments: one number for each, or one for all.
    pub bytes: Vec<u64>,
}

/// What segments play, in seconds: one number for all, or one for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Lengths {
    /// All alike.
    All(f64),
    /// Each as it was cut.
    Each(Vec<f64>),
}

/// A video, cut into segments, each of which there is in every quality.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Video {
    /// What a segment plays, in seconds.
    pub segment_s: Lengths,
    /// How many there are.
    pub segments: usize,
    /// The ladder, from the lowest rate up.
    pub rungs: Vec<Rung>,
    /// Of one that is made while it is played.
    pub live: Option<Live>,
}

impl Video {
    /// # Errors
    /// It cannot be played.
    pub fn check(&self) -> Result<(), VideoError> {
        let lengths = match &self.segment_s {
            Lengths::All(length_s) => std::slice::from_ref(length_s),
            Lengths::Each(lengths) if lengths.len() != self.segments => {
                return Err(VideoError::Lengths(lengths.len(), self.segments));
            }
            Lengths::Each(lengths) => lengths,
        };
        let has_length = lengths.iter().all(|length_s| *length_s > 0.0);
        if self.segments == 0 || self.rungs.is_empty() || !has_length {
            return Err(VideoError::Empty);
        }
        let fits = |count| count == 1 || count == self.segments;
        let mut before = 0.0;
        for (number, rung) in (1..).zip(&self.rungs) {
            if rung.bit_s.is_nan() || rung.bit_s <= before {
                return Err(VideoError::Order(number));
            }
            if !fits(rung.paths.len()) || !fits(rung.bytes.len()) {
                return Err(VideoError::Count(number));
            }
            before = rung.bit_s;
        }
        match (&self.live, &self.segment_s) {
            (None, _) => Ok(()),
            (Some(live), Lengths::All(length_s)) => live.check(*length_s),
            (Some(_), Lengths::Each(_)) => Err(VideoError::Live),
        }
    }

    /// When the source of live video began with a segment, in seconds from the session's start.
    #[must_use]
    pub fn begins_s(&self, segment: usize) -> Option<f64> {
        self.live.map(|live| live.began_s() + segment as f64 * self.longest_s())
    }

    /// When the first chunk of a segment of live video can be had.
    pub(crate) fn available_s(&self, segment: usize) -> Option<f64> {
        Some(self.begins_s(segment)? + self.live?.chunk_s)
    }

    /// How many chunks a segment has; one that is not live comes as a whole.
    #[must_use]
    pub fn chunks(&self) -> u64 {
        self.live.map_or(1, |live| (self.longest_s() / live.chunk_s).round() as u64)
    }

    /// What a segment plays, in seconds.
    #[must_use]
    pub fn length_s(&self, segment: usize) -> f64 {
        match &self.segment_s {
            Lengths::All(length_s) => *length_s,
            Lengths::Each(lengths) => lengths[segment],
        }
    }

    /// What the longest one plays.
    #[must_use]
    pub fn longest_s(&self) -> f64 {
        match &self.segment_s {
            Lengths::All(length_s) => *length_s,
            Lengths::Each(lengths) => lengths.iter().copied().fold(0.0, f64::max),
        }
    }

    /// Where a segment is.
    #[must_use]
    pub fn path(&self, rung: usize, segment: usize) -> &str {
        of_segment::<String>(&self.rungs[rung].paths, segment)
    }

    /// Its size.
    #[must_use]
    pub fn bytes(&self, rung: usize, segment: usize) -> u64 {
        *of_segment(&self.rungs[rung].bytes, segment)
    }

    /// The highest rung with at most this rate, in bit/s; the lowest if none has.
    #[must_use]
    pub fn at_most(&self, bit_s: f64) -> usize {
        self.rungs.partition_point(|rung| rung.bit_s <= bit_s).saturating_sub(1)
    }

    /// The highest rung.
    #[must_use]
    pub fn top(&self) -> usize {
        self.rungs.len() - 1
    }
}

fn of_segment<T>(values: &[T], segment: usize) -> &T {
    &values[if values.len() == 1 { 0 } else { segment }]
}
