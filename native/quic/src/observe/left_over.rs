use std::collections::BTreeMap;

use headway_trace::frame::{Frame, Frames};

/// Data of streams that quinn-proto keeps because too much of them is unread.
///
/// quinn-proto does not say how much it keeps. So what comes of these streams is counted, until it was taken;
/// what comes twice counts twice.
#[derive(Debug, Default)]
pub(crate) struct LeftOver {
    streams: BTreeMap<u64, u64>,
}

impl LeftOver {
    /// A packet came, with these frames.
    pub(super) fn receive(&mut self, payload: &[u8]) {
        if self.streams.is_empty() {
            return;
        }
        for frame in Frames::new(payload).map_while(Result::ok) {
            let Frame::Stream { id, length, .. } = frame else { continue };
            if let Some(bytes) = self.streams.get_mut(&id) {
                *bytes += length;
            }
        }
    }

    /// Something of a stream was taken, and something is left to quinn-proto from now on.
    ///
    /// # Arguments
    /// * `taken` - in bytes.
    pub(crate) fn set(&mut self, stream: u64, is_left: bool, taken: u64) {
        if is_left {
            let bytes = self.streams.entry(stream).or_default();
            *bytes = bytes.saturating_sub(taken);
        } else if !self.streams.is_empty() {
            self.streams.remove(&stream);
        }
    }

    /// Nothing is.
    pub(crate) fn clear(&mut self) {
        self.streams.clear();
    }

    /// How much it is of all streams, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.streams.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_of_streams_that_are_left_counts() {
        // STREAM with offset and length: id 4, offset 0, three bytes; then one of id 8.
        let packet = [0x0e, 4, 0, 3, 1, 2, 3, 0x0e, 8, 0, 1, 9];
        let mut left = LeftOver::default();
        left.receive(&packet);
        assert_eq!(left.bytes(), 0);
        left.set(4, true, 0);
        left.receive(&packet);
        left.receive(&packet);
        assert_eq!(left.bytes(), 6);
        left.set(4, true, 2);
        assert_eq!(left.bytes(), 4);
        left.set(4, false, 4);
        left.receive(&packet);
        assert_eq!(left.bytes(), 0);
    }
}
