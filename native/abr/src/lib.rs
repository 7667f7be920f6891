//! Players of adaptive video, without I/O and without a clock: which segment to fetch next, in which
//! quality, and what that does to the buffer.
//!
//! A [`Player`] is asked for its next [`Step`], and told when a segment has come. Moments are seconds
//! since the session's start. The same calls give the same session.

mod error;
mod history;
mod live;
mod pace;
mod playback;
mod player;
mod rule;
mod session;
mod video;

pub use error::VideoError;
pub use history::History;
pub use live::Live;
pub use pace::Pace;
pub use player::{Player, Settings, Step};
pub use rule::{RuleName, UnknownRule};
pub use session::{Segment, Session, Stall};
pub use video::{Lengths, Rung, Video};
