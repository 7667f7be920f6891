//! Options of a video that is watched.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use headway_abr::{RuleName, Settings};

use crate::values::seconds;

/// What is watched, and how.
#[derive(Debug, Args)]
pub(crate) struct VideoOptions {
    /// Plays the video that this file describes, from the server of the URL, which is not fetched
    #[arg(long, value_name = "FILE")]
    pub(crate) video: Option<PathBuf>,
    /// Who chooses the quality of a segment: throughput, bola, mpc, lowest, highest
    #[arg(long, value_name = "NAME", default_value = "bola", requires = "video")]
    rule: RuleName,
    /// The most of the video that is buffered, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", requires = "video", value_parser = seconds)]
    buffer: Duration,
    /// What is buffered before the picture moves, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "4", requires = "video", value_parser = seconds)]
    start_buffer: Duration,
    /// When the viewer leaves, in seconds from the start; at the video's end without this
    #[arg(long, value_name = "SECONDS", requires = "video", value_parser = seconds)]
    watch: Option<Duration>,
    /// Tells the server of the player's state with every request (CTA-5004), by this name of the session
    #[arg(long, value_name = "SESSION", requires = "video", value_parser = session_name)]
    pub(crate) cmcd: Option<String>,
}

/// A name that needs no escapes.
fn session_name(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if (1..=64).contains(&text.len()) && text.bytes().all(plain) {
        Ok(text.to_owned())
    } else {
        Err("1 to 64 letters, digits and hyphens".to_owned())
    }
}

impl VideoOptions {
    /// How the player behaves.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            rule: self.rule,
            buffer_s: self.buffer.as_secs_f64(),
            start_s: self.start_buffer.as_secs_f64(),
            watch_s: self.watch.map(|watch| watch.as_secs_f64()),
        }
    }
}
