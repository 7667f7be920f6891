//! Reads the traces that connections wrote.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A directory of one test's own.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // It may be there from an earlier run, or not.
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    /// The one file whose name ends so.
    pub(crate) fn file(&self, ending: &str) -> PathBuf {
        let paths = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        let mut found = paths.filter(|path| path.to_str().unwrap().ends_with(ending));
        let file = found.next().expect(ending);
        assert_eq!(found.next(), None);
        file
    }

    pub(crate) fn server(&self) -> Qlog {
        Qlog::read(&self.file("_server.sqlog"))
    }

    pub(crate) fn client(&self) -> Qlog {
        Qlog::read(&self.file("_client.sqlog"))
    }
}

/// A connection's qlog.
pub(crate) struct Qlog {
    pub(crate) header: Value,
    pub(crate) events: Vec<Value>,
}

impl Qlog {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let mut records =
            text.split('\u{1e}').skip(1).map(|text| serde_json::from_str(text).unwrap());
        let header = records.next().unwrap();
        Self { header, events: records.collect() }
    }

    /// Times in milliseconds, and data, of the events of a name.
    pub(crate) fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (f64, &'a Value)> {
        self.events
            .iter()
            .filter(move |event| event["name"] == name)
            .map(|event| (event["time"].as_f64().unwrap(), &event["data"]))
    }

    /// The states that a sender went through.
    pub(crate) fn states(&self) -> Vec<(f64, String)> {
        self.of("recovery:congestion_state_updated")
            .map(|(time, data)| (time, data["new"].as_str().unwrap().to_owned()))
            .collect()
    }

    /// STREAM frames sent: stream, offset and length, packet by packet.
    pub(crate) fn stream_frames(&self) -> Vec<Vec<(u64, u64, u64)>> {
        self.of("transport:packet_sent")
            .map(|(_, packet)| {
                let frames = packet["frames"].as_array().unwrap().iter();
                let streams = frames.filter(|frame| frame["frame_type"] == "stream");
                let number = |frame: &Value, key| frame[key].as_u64().unwrap();
                streams
                    .map(|f| (number(f, "stream_id"), number(f, "offset"), number(f, "length")))
                    .collect()
            })
            .collect()
    }
}
