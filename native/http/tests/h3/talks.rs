//! Content of a request that comes over time.

use std::time::Instant;

use bytes::Bytes;
use headway_http::event::{Asked, RequestId};
use headway_http::service::{Body, Reply};
use headway_quic::{Connection, ConnectionKey, Event};
use headway_wire::Response;

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
