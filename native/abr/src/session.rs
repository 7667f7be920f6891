//! What became of a session.

use serde::Serialize;

use crate::pace::Pace;

/// A segment that was fetched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Segment {
    /// Its number, from 0.
    pub number: usize,
    /// Its rung, from 0.
    pub rung: usize,
    /// When it was requested.
    pub requested_s: f64,
    /// When it had come.
    pub loaded_s: f64,
    /// Its size.
    pub bytes: u64,
    /// What was buffered when it was requested, in seconds.
    pub buffer_s: f64,
    /// The throughput that the player believed in then, in bit/s.
    pub believed_bit_s: Option<f64>,
    /// Of live video, when each of its chunks had come.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chunks_s: Vec<f64>,
    /// Of live video, what was buffered when all of it had come, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_s: Option<f64>,
}

/// The buffer was empty, and the picture stood still.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stall {
    /// Since when.
    pub at_s: f64,
    /// How long; until the session's end if nothing more came.
    pub lasted_s: f64,
}

/// A session, from the first request to the end of the last segment or of the viewer's patience.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Session {
    /// When the picture appeared; none if it did not.
    pub started_s: Option<f64>,
    /// The end.
    pub ended_s: f64,
    /// What was played, in seconds.
    pub played_s: f64,
    /// All segments that came, in their order.
    pub segments: Vec<Segment>,
    /// After the picture had appeared.
    pub stalls: Vec<Stall>,
    /// Of live video, how fast it was played since when.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paces: Vec<Pace>,
}
