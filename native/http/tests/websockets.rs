//! WebSocket over HTTP/1.1 and HTTP/2, and gRPC's trailers, both sides in memory.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_http::event::{Asked, ClientEvent, Failure, RequestId, ServerEvent};
use headway_http::service::{Body, Conversation, Files, Reply, Service, Streams};
use headway_http::side::{ClientSide, ServerSide};
use headway_http::{h1, h2};
use headway_messages::framing::{Framing, Sender};
use headway_messages::message::Message;
use headway_messages::websocket::Heard;
use headway_wire::{Fields, Request};
use proptest::prelude::*;

const ID: RequestId = RequestId(3);
const MASK: [u8; 4] = [9, 8, 7, 6];

struct Talk {
    client: Box<dyn ClientSide>,
    server: Box<dyn ServerSide>,
    service: Streams,
    open: HashMap<RequestId, Box<dyn Conversation>>,
    status: Option<u16>,
    answered: Vec<u8>,
    trailers: Option<Fields>,
    is_finished: bool,
    failure: Option<Failure>,
    refused: usize,
}

impl Talk {
    fn new(client: Box<dyn ClientSide>, server: Box<dyn ServerSide>) -> Self {
        let service = Streams::before(Box::new(Files::new(None, Vec::new()).unwrap()));
        Self {
            client,
            server,
            service,
            open: HashMap::new(),
            status: None,
            answered: Vec::new(),
            trailers: None,
            is_finished: false,
            failure: None,
            refused: 0,
        }
    }

    fn over_h1(takes_websockets: bool) -> Self {
        let server = h1::Server::new("https").with_websockets(takes_websockets);
        Self::new(Box::new(h1::Client::default()), Box::new(server))
    }

    fn over_h2(takes_websockets: bool) -> Self {
        let options = h2::ServerOptions { takes_websockets, ..h2::ServerOptions::default() };
        let client = h2::Client::new(h2::ClientOptions::default());
        Self::new(Box::new(client), Box::new(h2::Server::new(options)))
    }

    fn ask(&mut self, request: Request) {
        self.client.ask(Asked { talks: true, ..Asked::new(ID, request, None) });
    }

    /// Carries what there is until nobody has anything to send.
    fn carry(&mut self, piece: usize) {
        while self.client.wants_send() || self.server.wants_send() {
            let mut sent = BytesMut::new();
            self.client.send(piece, &mut sent);
            self.server.receive(sent.split().freeze());
            self.serve();
            self.server.send(piece, &mut sent);
            self.serve();
            self.client.receive(sent.freeze());
            if self.server.is_finished() {
                self.client.close("over", true);
            }
            while let Some(event) = self.client.poll() {
                match event {
                    ClientEvent::Head { response, .. } => self.status = Some(response.status),
                    ClientEvent::Data { data, .. } => self.answered.extend_from_slice(&data),
                    ClientEvent::Trailers { fields, .. } => self.trailers = Some(fields),
                    ClientEvent::Finished { .. } => self.is_finished = true,
                    ClientEvent::Failed { failure, .. } => self.failure = Some(failure),
                    ClientEvent::Sent { .. } | ClientEvent::Continued { .. } => {}
                }
            }
        }
    }

    fn serve(&mut self) {
        let now = Instant::now();
        while let Some(event) = self.server.poll() {
            match event {
                ServerEvent::Request { id, request } => {
                    match self.service.converse(&request, now) {
                        Some((response, conversation)) => {
                            self.open.insert(id, conversation);
                            self.server.respond(id, Reply { response, body: Body::growing() });
                        }
                        None => {
                            self.refused += 1;
                            let reply = self.service.respond(&request);
                            self.server.respond(id, reply);
                        }
                    }
                }
                ServerEvent::Content { id, data } => {
                    self.open.get_mut(&id).unwrap().hear(&data, now);
                }
                ServerEvent::Received { id, .. } => {
                    self.open.get_mut(&id).into_iter().for_each(|one| one.hear_end(now));
                }
                ServerEvent::Finished { .. } | ServerEvent::Aborted { .. } => {}
            }
        }
        for (&id, conversation) in &mut self.open {
            if conversation.due().is_some() {
                let said = conversation.say(now);
                self.server.say(id, said);
            }
        }
    }

    fn answers(&self, framing: Framing) -> Vec<u64> {
        let mut numbers = Vec::new();
        let hear = |heard: Heard<'_>| {
            if let Heard::Message(text) = heard {
                numbers.push(Message::parse(text).unwrap().number);
            }
        };
        framing.reader(Sender::Server).read(&self.answered, hear).unwrap();
        numbers
    }
}

fn websocket() -> Request {
    Request::websocket("https", "a.test", "/echo/100")
}

fn grpc() -> Request {
    let mut request = Request::get("https", "a.test", "/echo/100");
    request.method = "POST".into();
    request.fields.push("content-type", "application/grpc+proto");
    request
}

fn said(framing: Framing, number: u64, bytes: usize) -> Bytes {
    let message = Message { number, made_ns: 5, answered_ns: None }.written(bytes);
    framing.written(&message, Some(MASK)).into()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn messages_go_both_ways(
        sizes in prop::collection::vec(41usize..70_000, 1..6),
        piece in 30usize..20_000,
        kind in 0usize..3,
    ) {
        let (mut talk, request, framing, status) = match kind {
            0 => (Talk::over_h1(true), websocket(), Framing::WebSocket, 101),
            1 => (Talk::over_h2(true), websocket(), Framing::WebSocket, 200),
            _ => (Talk::over_h2(false), grpc(), Framing::Lengths, 200),
        };
        talk.ask(request);
        talk.carry(piece);
        prop_assert_eq!(talk.status, Some(status));
        for (number, &size) in (1..).zip(&sizes) {
            talk.client.extend(ID, said(framing, number, size), false);
            talk.carry(piece);
            prop_assert_eq!(talk.answers(framing), (1..=number).collect::<Vec<_>>());
        }
        prop_assert!(!talk.is_finished);
        talk.client.extend(ID, framing.end(Some(MASK)).into(), true);
        talk.carry(piece);
        prop_assert!(talk.is_finished && talk.failure.is_none());
        let status = talk.trailers.map(|fields| fields.get("grpc-status").cloned());
        prop_assert_eq!(status, (kind == 2).then(|| Some("0".into())));
    }
}

#[test]
fn a_server_that_takes_no_websockets_says_so() {
    for mut talk in [Talk::over_h1(false), Talk::over_h2(false)] {
        talk.ask(websocket());
        talk.carry(10_000);
        let Some(Failure::Connection(reason)) = &talk.failure else { panic!("{:?}", talk.failure) };
        assert!(reason.contains("WebSocket"), "{reason}");
        assert!(talk.status.is_none() && talk.open.is_empty());
    }
}

#[test]
fn another_path_is_no_websocket() {
    let mut talk = Talk::over_h2(true);
    talk.ask(Request::websocket("https", "a.test", "/bytes/100"));
    talk.carry(10_000);
    assert_eq!((talk.refused, talk.open.len()), (1, 0));
    assert!(talk.status.is_some_and(|status| status >= 400));
}

#[test]
fn a_request_is_given_up() {
    for (mut talk, goes_on) in [(Talk::over_h1(true), false), (Talk::over_h2(true), true)] {
        talk.ask(websocket());
        talk.carry(10_000);
        talk.client.cancel(ID);
        while let Some(event) = talk.client.poll() {
            assert_eq!(event, ClientEvent::Failed { id: ID, failure: Failure::Cancelled });
            talk.failure = Some(Failure::Cancelled);
        }
        talk.carry(10_000);
        assert_eq!(talk.failure, Some(Failure::Cancelled));
        assert_eq!(talk.client.is_closed(), !goes_on);
    }
}
