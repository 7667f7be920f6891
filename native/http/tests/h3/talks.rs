//! Content of a request that comes over time.

use std::time::Instant;

use bytes::Bytes;
use headway_http::event::{Asked, RequestId};
use headway_http::service::{Body, Reply};
use headway_quic::{Connection, ConnectionKey, Event};
use headway_wire::{Request, Response};

use crate::fetch::{Fetch, get};
use crate::pair::{Application, MINUTE, Pair, Setup};
use crate::serve::Serve;

/// A client that says everything when the first thing happens after its request was sent.
struct Talk {
    fetch: Fetch,
    pieces: Vec<(&'static str, bool)>,
}

impl Application for Talk {
    fn handle(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        connection: Option<&mut Connection>,
        event: Event,
    ) {
        let Some(connection) = connection else { return };
        self.fetch.handle(now, key, Some(connection), event);
        // WebSocket's request waits for the server's settings.
        if self.fetch.side.exchange(RequestId(0)).is_none() {
            return;
        }
        for (piece, ends) in self.pieces.drain(..) {
            self.fetch.side.extend(connection, RequestId(0), piece.into(), ends);
        }
        // What comes behind the end is nobody's.
        self.fetch.side.extend(connection, RequestId(0), "x".into(), true);
    }
}

#[test]
fn the_server_is_told_each_piece_and_the_end() {
    for pieces in [vec![("ab", false), ("cde", true)], vec![("abcde", false), ("", true)]] {
        let reply = |_: &_| Reply { response: Response::new(200), body: Body::Bytes(Bytes::new()) };
        let (mut pair, mut serve) = (Pair::new(&Setup::default()), Serve::with(reply));
        serve.answers_at_end = true;
        let mut talk = Talk { fetch: Fetch::default(), pieces };
        let asked = Asked { talks: true, ..Asked::new(RequestId(0), get("/"), None) };
        talk.fetch.side.ask(None, asked);
        pair.connect();
        pair.run(&mut talk, &mut serve, MINUTE);
        assert_eq!((talk.fetch.status(0), &serve.told[..]), (Some(200), &b"abcde"[..]));
        assert_eq!(serve.received, [5]);
    }
}

fn growing(_: &Request) -> Reply {
    Reply { response: Response::new(200), body: Body::growing() }
}

#[test]
fn trailers_follow_content_that_grows() {
    let (mut pair, mut serve) = (Pair::new(&Setup::default()), Serve::with(growing));
    serve.trailers.push("grpc-status", "0");
    let mut fetch = Fetch::of(["/"]);
    pair.connect();
    pair.run(&mut fetch, &mut serve, MINUTE);
    let outcome = fetch.outcome(0);
    assert_eq!(
        (outcome.trailers.as_ref(), &outcome.content[..]),
        (Some(&serve.trailers), &b"end"[..])
    );
    assert!(outcome.is_finished);
}

#[test]
fn websocket_waits_for_the_servers_settings() {
    for takes_websockets in [true, false] {
        let (mut pair, mut serve) = (Pair::new(&Setup::default()), Serve::with(growing));
        serve.takes_websockets = takes_websockets;
        let mut talk = Talk { fetch: Fetch::default(), pieces: vec![("ab", true)] };
        let request = Request::websocket("https", "server.test", "/");
        let asked = Asked { talks: true, ..Asked::new(RequestId(0), request, None) };
        talk.fetch.side.ask(None, asked);
        pair.connect();
        pair.run(&mut talk, &mut serve, MINUTE);
        let failure = talk.fetch.outcome(0).failure.as_ref();
        assert_eq!(failure.is_none(), takes_websockets, "{failure:?}");
        assert_eq!(serve.requests, usize::from(takes_websockets));
    }
}
