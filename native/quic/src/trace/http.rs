use std::fs::File;

use headway_congestion::Time;
use headway_trace::qlog::{HttpFrame, Qlog, Way};
use quinn_proto::StreamId;

/// A connection's qlog, for what HTTP/3 has to tell.
#[derive(Debug)]
pub struct HttpLog<'a> {
    pub(super) qlog: &'a mut Qlog<File>,
    pub(super) time: Time,
}

impl HttpLog<'_> {
    /// A frame was made to be sent, or was read.
    ///
    /// # Arguments
    /// * `length` - bytes of its payload.
    pub fn frame(&mut self, way: Way, stream: StreamId, length: u64, frame: &HttpFrame<'_>) {
        self.qlog.http_frame(self.time, way, stream.into(), length, frame);
    }

    /// A response's priority changed; both are Priority Field Values (RFC 9218 section 4).
    pub fn priority(&mut self, stream: StreamId, old: Option<&str>, new: &str) {
        self.qlog.priority_updated(self.time, stream.into(), old, new);
    }
}
