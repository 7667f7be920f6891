//! What a server may send, as tables of raw streams: our client, and what has to come of it.

mod responses;
mod streams;

use std::time::Duration;

use headway_http::event::Failure;
use headway_quic::Close;
use headway_wire::Request;

use crate::by_hand::*;
use crate::fetch::{Fetch, get as request};
use crate::pair::{Pair, Setup};
use crate::raw::Raw;

const RESPONSE: u64 = 0;
/// A response that is good, and sent after the rest.
const ANOTHER: u64 = 4;
const UNI: u64 = 3;
const SECOND_UNI: u64 = 7;
const BIDIRECTIONAL: u64 = 1;

/// What must come of it.
#[derive(Debug)]
enum Expect {
    /// The connection is closed with this code, and both requests fail.
    Closes(u64),
    /// The request fails as malformed, and the server is asked to stop, with this code; another is answered.
    Malformed(u64),
    /// The response has this status and so many bytes; another request is answered, too.
    Finishes(u16, usize),
    /// The request may be sent elsewhere; those below it are answered.
    Refused,
}
use Expect::{Closes, Finishes, Malformed, Refused};

/// Of RFC 9114 if nothing else is said.
struct Case {
    section: &'static str,
    name: String,
    streams: Vec<(u64, Vec<u8>, bool)>,
    expect: Expect,
}

/// Bytes of the response's stream, which ends.
fn response(section: &'static str, name: &str, frames: &[Vec<u8>], expect: Expect) -> Case {
    Case { section, name: name.into(), streams: vec![(RESPONSE, frames.concat(), true)], expect }
}

/// Bytes of a stream of the server's.
fn stream(
    section: &'static str,
    name: &str,
    id: u64,
    bytes: &[u8],
    ends: bool,
    expect: Expect,
) -> Case {
    let streams = vec![(id, bytes.to_vec(), ends), (RESPONSE, ok(), true)];
    Case { section, name: name.into(), streams, expect }
}

fn on_control(section: &'static str, name: &str, frames: &[Vec<u8>], expect: Expect) -> Case {
    stream(section, name, UNI, &control(frames), false, expect)
}

fn status(status: &str, more: &[(&str, &str)]) -> Vec<u8> {
    headers(&[&[(":status", status)], more].concat())
}

fn ok() -> Vec<u8> {
    status("200", &[])
}

fn check(method: &str, cases: Vec<Case>) {
    for Case { section, name, mut streams, expect } in cases {
        let what = format!("{section} {name}");
        streams.push((ANOTHER, [ok(), frame(DATA, b"12345")].concat(), true));
        let mut fetch = Fetch::default();
        fetch.ask(Request { method: method.into(), ..request("/a") }, None, None);
        fetch.ask(request("/b"), None, None);
        let mut raw = Raw::server(2, streams);
        let mut pair = Pair::new(&Setup::default());
        pair.connect();
        pair.run(&mut fetch, &mut raw, Duration::from_secs(5));
        let closed = match &raw.closed {
            Some(Close::Application { code, .. }) => Some(*code),
            _ => None,
        };
        let [first, second] = [fetch.outcome(0), fetch.outcome(1)];
        if let Closes(code) = expect {
            assert_eq!(closed, Some(code), "{what}: {:?}", raw.closed);
            assert!(fetch.side.is_closed(), "{what}");
            for outcome in [first, second] {
                assert!(outcome.is_finished != outcome.failure.is_some(), "{what}");
            }
            assert!(first.failure.is_some() || second.failure.is_some(), "{what}");
            continue;
        }
        assert_eq!(closed, None, "{what}: {:?} {:?}", raw.closed, first.failure);
        match expect {
            Malformed(code) => {
                assert!(
                    matches!(first.failure, Some(Failure::Malformed(_))),
                    "{what}: {:?}",
                    first.failure
                );
                // There is nothing to stop where all has come.
                assert!(raw.was_stopped.get(&RESPONSE).is_none_or(|told| *told == code), "{what}");
            }
            Finishes(status, content) => {
                assert!(first.is_finished, "{what}: {:?}", first.failure);
                assert_eq!(
                    (fetch.status(0), first.content.len()),
                    (Some(status), content),
                    "{what}"
                );
            }
            Refused => {
                assert_eq!(second.failure, Some(Failure::Refused), "{what}");
                assert!(first.is_finished, "{what}");
                continue;
            }
            Closes(_) => unreachable!("seen to before"),
        }
        assert!(second.is_finished && second.content.len() == 5, "{what}: {:?}", second.failure);
    }
}
