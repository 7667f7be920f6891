//! Content that comes over time.

use std::time::Instant;

use headway_http::event::RequestId;
use headway_http::service::{Body, Reply};
use headway_quic::{Connection, ConnectionKey, Event};
use headway_wire::Response;

use crate::fetch::Fetch;
use crate::pair::{Application, MINUTE, Pair, Setup};
use crate::serve::Serve;

/// A server that extends its answer with every request that follows.
struct Grow {
    serve: Serve,
    pieces: Vec<(&'static str, bool)>,
}

impl Application for Grow {
    fn accepted(&mut self, key: ConnectionKey) {
        self.serve.accepted(key);
    }

    fn handle(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        connection: Option<&mut Connection>,
        event: Event,
    ) {
        let Some(connection) = connection else { return };
        self.serve.handle(now, key, Some(connection), event);
        if self.serve.requests == 0 {
            return;
        }
        let Some(side) = self.serve.sides.get_mut(&key) else { return };
        for (piece, ends) in self.pieces.drain(..) {
            side.extend(connection, RequestId(0), piece.into(), ends);
        }
    }
}

#[test]
fn pieces_come_in_order_and_the_end_is_told() {
    for pieces in
        [vec![("ab", false), ("", false), ("cde", true)], vec![("abcde", false), ("", true)]]
    {
        let growing = |_: &_| Reply { response: Response::new(200), body: Body::growing() };
        let mut grow = Grow { serve: Serve::with(growing), pieces };
        let (mut pair, mut fetch) = (Pair::new(&Setup::default()), Fetch::of(["/"]));
        pair.connect();
        pair.run(&mut fetch, &mut grow, MINUTE);
        assert_eq!((fetch.status(0), &fetch.outcome(0).content[..]), (Some(200), &b"abcde"[..]));
        assert_eq!(grow.serve.finished, [5]);
    }
}
