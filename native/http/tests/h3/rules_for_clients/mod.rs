//! What a client may send, as tables of raw streams: our server, and what has to come back.

mod qpack;
mod requests;
mod streams;

use headway_http::h3::Compression;
use headway_quic::Close;

use crate::by_hand::*;
use crate::pair::{MINUTE, Pair, Setup};
use crate::raw::Raw;
use crate::serve::Serve;

const REQUEST: u64 = 0;
/// A request that is good, and sent after the rest.
const ANOTHER: u64 = 4;
const UNI: u64 = 2;

/// What must come back.
#[derive(Debug)]
enum Expect {
    /// The connection is closed with this code.
    Closes(u64),
    /// The request's stream is reset with this code; another one is answered.
    Resets(u64),
    /// The request, if there is one, and another one are answered.
    Answers,
}
use Expect::{Answers, Closes, Resets};

/// Of RFC 9114 if nothing else is said.
struct Case {
    section: &'static str,
    name: String,
    /// Number, bytes, and whether the stream ends.
    streams: Vec<(u64, Vec<u8>, bool)>,
    expect: Expect,
}

/// Bytes of a request's stream, which ends.
fn request(section: &'static str, name: &str, frames: &[Vec<u8>], expect: Expect) -> Case {
    let streams = vec![(REQUEST, frames.concat(), true)];
    Case { section, name: name.into(), streams, expect }
}

/// Bytes of a stream of one direction, which does not end.
fn one_way(section: &'static str, name: &str, bytes: &[u8], expect: Expect) -> Case {
    let streams = vec![(UNI, bytes.to_vec(), false)];
    Case { section, name: name.into(), streams, expect }
}

/// Frames of the control stream behind SETTINGS.
fn on_control(section: &'static str, name: &str, frames: &[Vec<u8>], expect: Expect) -> Case {
    one_way(section, name, &control(frames), expect)
}

fn check(compression: Compression, cases: Vec<Case>) {
    for Case { section, name, mut streams, expect } in cases {
        let what = format!("{section} {name}");
        let asks = streams.iter().any(|(stream, ..)| *stream == REQUEST);
        if !asks {
            streams.push((REQUEST, get(), true));
        }
        streams.push((ANOTHER, get(), true));
        let mut raw = Raw::client(streams);
        let mut serve = Serve { compression, ..Serve::default() };
        let mut pair = Pair::new(&Setup::default());
        pair.connect();
        pair.run(&mut raw, &mut serve, MINUTE);
        let closed = match &raw.closed {
            Some(Close::Application { code, .. }) => Some(*code),
            _ => None,
        };
        let answered = |stream| raw.finished.contains(&stream);
        match expect {
            Closes(code) => assert_eq!(closed, Some(code), "{what}: {:?}", raw.closed),
            Resets(code) => {
                assert_eq!(closed, None, "{what}: {:?}", raw.closed);
                assert_eq!(raw.was_reset.get(&REQUEST), Some(&code), "{what}");
                assert!(answered(ANOTHER), "{what}");
            }
            Answers => {
                assert_eq!(closed, None, "{what}: {:?}", raw.closed);
                assert!(raw.was_reset.is_empty(), "{what}: {:?}", raw.was_reset);
                assert!(answered(REQUEST) && answered(ANOTHER), "{what}");
            }
        }
    }
}
