//! A client and a server that speak to one another.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use headway_http::event::{ClientEvent, Failure, Importance, RequestId, ServerEvent};
use headway_http::h2::{Client, ClientOptions, Server, ServerOptions};
use headway_http::side::{ClientSide, ServerSide};
use headway_schedule::Strategy as Schedule;
use headway_wire::Request;
use headway_wire::h2::{Settings, encode};
use proptest::prelude::*;

use crate::pattern::{body, respond};
use crate::raw::frames_of;

pub(crate) fn get(path: impl Into<String>) -> Request {
    Request::get("https", "server.test", path)
}

#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) status: Option<u16>,
    pub(crate) content: BytesMut,
    pub(crate) finished: bool,
    pub(crate) failure: Option<Failure>,
}

/// A client and a server, joined by what the test carries from one to the other.
pub(crate) struct Joined {
    pub(crate) client: Client,
    pub(crate) server: Server,
    pub(crate) outcomes: BTreeMap<RequestId, Outcome>,
    pub(crate) served: u64,
}

impl Joined {
    pub(crate) fn new(client: ClientOptions, server: ServerOptions) -> Self {
        Self {
            client: Client::new(client),
            server: Server::new(server),
            outcomes: BTreeMap::new(),
            served: 0,
        }
    }

    pub(crate) fn server_gets(&mut self, bytes: Bytes) {
        self.server.receive(bytes);
        while let Some(event) = self.server.poll() {
            match event {
                ServerEvent::Request { id, request } => {
                    self.server.respond(id, respond(&request));
                }
                ServerEvent::Finished { sent_bytes, .. } => self.served += sent_bytes,
                ServerEvent::Received { .. }
                | ServerEvent::Content { .. }
                | ServerEvent::Aborted { .. } => {}
            }
        }
    }

    pub(crate) fn client_gets(&mut self, bytes: Bytes) {
        self.client.receive(bytes);
        while let Some(event) = self.client.poll() {
            let outcome = self.outcomes.entry(event.id()).or_default();
            match event {
                ClientEvent::Trailers { .. } => {}
                ClientEvent::Sent { .. } | ClientEvent::Continued { .. } => {}
                ClientEvent::Head { response, .. } => outcome.status = Some(response.status),
                ClientEvent::Data { data, .. } => outcome.content.extend_from_slice(&data),
                ClientEvent::Finished { .. } => outcome.finished = true,
                ClientEvent::Failed { failure, .. } => outcome.failure = Some(failure),
            }
        }
    }

    /// Carries bytes both ways, in pieces of these sizes over and over, until nobody has any.
    pub(crate) fn run(&mut self, pieces: &[usize]) {
        let mut pieces = pieces.iter().copied().cycle();
        while self.client.wants_send() || self.server.wants_send() {
            let mut sent = BytesMut::new();
            self.client.send(pieces.next().unwrap(), &mut sent);
            while !sent.is_empty() {
                let piece = sent.split_to(pieces.next().unwrap().min(sent.len()));
                self.server_gets(piece.freeze());
            }
            self.server.send(pieces.next().unwrap(), &mut sent);
            while !sent.is_empty() {
                let piece = sent.split_to(pieces.next().unwrap().min(sent.len()));
                self.client_gets(piece.freeze());
            }
        }
        self.server_gets(Bytes::new());
    }
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let names = ["sequential", "round-robin", "batched-round-robin:3", "weighted-round-robin"];
    let names = [&names[..], &["dependency-tree", "rfc9218"]].concat();
    prop::sample::select(names).prop_map(|name| name.parse().unwrap())
}

fn importances() -> impl Strategy<Value = Option<Importance>> {
    prop::option::of((prop::option::of(0..20u64), 1..=256u16, any::<bool>()).prop_map(
        |(parent, weight, exclusive)| Importance {
            parent: parent.map(RequestId),
            weight,
            exclusive,
        },
    ))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn every_response_arrives_whole(
        requests in prop::collection::vec((0..30_000u64, 0..8u8, any::<bool>(), importances()), 1..20),
        pieces in prop::collection::vec(1..5000usize, 1..20),
        strategy in schedules(),
        frame_bytes in 1..20_000usize,
        lone_frame_bytes in 1..20_000usize,
        max_streams in 1..30u32,
        stream_window_bytes in 1..100_000u32,
        connection_window_bytes in 1..200_000u32,
    ) {
        let client = ClientOptions {
            stream_window_bytes,
            connection_window_bytes,
            ..ClientOptions::default()
        };
        // A window of a few bytes makes frames of a few bytes: keep the work within bounds.
        let scale = if stream_window_bytes < 1000 || frame_bytes < 100 { 50 } else { 1 };
        let frames = ServerOptions { lone_frame_bytes, ..frames_of(frame_bytes) };
        let server = ServerOptions { strategy, max_streams, ..frames };
        let mut joined = Joined::new(client, server);
        // The client learns how many streams there may be.
        joined.run(&pieces);
        for (number, &(size, urgency, incremental, importance)) in requests.iter().enumerate() {
            let mut request = get(format!("/bytes/{}", size / scale));
            let priority = headway_wire::Priority { urgency, incremental, dependency: None };
            request.fields.push("priority", priority.to_value());
            joined.client.request(RequestId(number as u64), request, importance);
        }
        joined.run(&pieces);
        prop_assert_eq!(joined.outcomes.len(), requests.len());
        for (outcome, &(size, ..)) in joined.outcomes.values().zip(&requests) {
            prop_assert!(outcome.finished && outcome.failure.is_none(), "{:?}", outcome.failure);
            prop_assert_eq!(outcome.status, Some(200));
            prop_assert!(outcome.content == body(size / scale));
        }
        prop_assert_eq!(joined.served, requests.iter().map(|&(size, ..)| size / scale).sum::<u64>());
    }

    #[test]
    fn any_bytes_are_survived(bytes: Vec<u8>, preface: bool) {
        let mut server = Server::new(ServerOptions::default());
        let mut client = Client::new(ClientOptions::default());
        client.request(RequestId(0), get("/"), None);
        client.send(usize::MAX, &mut BytesMut::new());
        let mut start = BytesMut::new();
        if preface {
            encode::preface(&mut start);
            encode::settings(&Settings::default(), &mut start);
        }
        start.extend_from_slice(&bytes);
        server.receive(start.freeze());
        client.receive(bytes.into());
    }

    #[test]
    fn any_frames_are_survived(frames in prop::collection::vec(
        (0..12u8, any::<u8>(), 0..8u32, prop::collection::vec(any::<u8>(), 0..40)), 0..30)
    ) {
        let mut sent = BytesMut::new();
        encode::preface(&mut sent);
        encode::settings(&Settings::default(), &mut sent);
        for (kind, flags, stream, payload) in frames {
            sent.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
            sent.extend_from_slice(&[kind, flags]);
            sent.extend_from_slice(&stream.to_be_bytes());
            sent.extend_from_slice(&payload);
        }
        let mut server = Server::new(ServerOptions::default());
        server.receive(sent.clone().freeze());
        let mut client = Client::new(ClientOptions::default());
        client.request(RequestId(0), get("/"), None);
        client.send(usize::MAX, &mut BytesMut::new());
        client.receive(sent.split_off(24).freeze());
    }
}
