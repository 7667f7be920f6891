//! Videos that no player can play.

/// A video that cannot be played.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum VideoError {
    /// There is nothing to play.
    #[error("a video has segments, of some length, and rungs")]
    Empty,
    /// The ladder does not rise.
    #[error("rung {0} does not have a greater rate than the one before")]
    Order(usize),
    /// Segments without a path or a size.
    #[error("rung {0} has neither one path and size for all segments nor one for each")]
    Count(usize),
    /// Segments without a length.
    #[error("{0} lengths for {1} segments")]
    Lengths(usize, usize),
    /// Live video that cannot be.
    #[error(
        "live video has segments of one length, whole chunks in each, and a latency of a chunk or more"
    )]
    Live,
}
