//! Responses that are read on demand, over HTTP/2: what nobody reads stays in the windows.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use bytes::BytesMut;
use headway_http::event::{Asked, ClientEvent, RequestId, ServerEvent};
use headway_http::h2;
use headway_http::service::{Body, Generated, Reply};
use headway_http::side::{ClientSide, ServerSide};
use headway_wire::{Request, Response};

const SLOW: RequestId = RequestId(0);
const OTHER: RequestId = RequestId(1);
const BYTES: u64 = 1_000_000;

struct Pair {
    client: h2::Client,
    server: h2::Server,
    came: BTreeMap<RequestId, u64>,
    finished: Vec<RequestId>,
}

impl Pair {
    fn new(stream_window_bytes: u32, connection_window_bytes: u32) -> Self {
        let options = h2::ClientOptions {
            stream_window_bytes,
            connection_window_bytes,
            ..h2::ClientOptions::default()
        };
        let mut client = h2::Client::new(options);
        let request = || Request::get("https", "a.test", "/");
        client.ask(Asked { reads_on_demand: true, ..Asked::new(SLOW, request(), None) });
        client.ask(Asked::new(OTHER, request(), None));
        let server = h2::Server::new(h2::ServerOptions::default());
        Self { client, server, came: BTreeMap::new(), finished: Vec::new() }
    }

    /// Carries what there is until nobody has anything to send.
    fn carry(&mut self) -> (u64, u64) {
        while self.client.wants_send() || self.server.wants_send() {
            let mut sent = BytesMut::new();
            self.client.send(5000, &mut sent);
            self.server.receive(sent.split().freeze());
            while let Some(event) = self.server.poll() {
                if let ServerEvent::Request { id, .. } = event {
                    let body = Body::Generated(Box::new(Generated::new(BYTES, 0, BYTES)));
                    self.server.respond(id, Reply { response: Response::new(200), body });
                }
            }
            self.server.send(5000, &mut sent);
            self.client.receive(sent.freeze());
            while let Some(event) = self.client.poll() {
                match event {
                    ClientEvent::Data { id, data } => {
                        *self.came.entry(id).or_default() += data.len() as u64;
                    }
                    ClientEvent::Finished { id, .. } => self.finished.push(id),
                    ClientEvent::Failed { failure, .. } => panic!("{failure}"),
                    _ => {}
                }
            }
        }
        let came = |id| self.came.get(&id).copied().unwrap_or_default();
        (came(SLOW), came(OTHER))
    }
}

#[test]
fn others_go_on_while_the_connection_has_room() {
    let mut pair = Pair::new(100_000, 200_000);
    assert_eq!((pair.carry(), &pair.finished[..]), ((0, BYTES), &[OTHER][..]));
    pair.client.read(SLOW, 60_000);
    assert_eq!(pair.carry().0, 60_000);
    pair.client.read(SLOW, u64::MAX);
    assert_eq!((pair.carry(), pair.finished.len()), ((BYTES, BYTES), 2));
}

#[test]
fn others_stop_once_what_nobody_reads_fills_the_connections_window() {
    let mut pair = Pair::new(100_000, 100_000);
    let (slow, other) = pair.carry();
    assert!(slow == 0 && other < BYTES && pair.finished.is_empty());
    // What others got was read at once: the window is now the slow one's. Half of it may come anew, for whoever is first.
    pair.client.read(SLOW, 50_000);
    let (slow, more) = pair.carry();
    assert_eq!(slow, 50_000);
    assert!((other..=other + 50_000).contains(&more), "{more} {other}");
    pair.client.read(SLOW, u64::MAX);
    assert_eq!((pair.carry(), pair.finished.len()), ((BYTES, BYTES), 2));
}
