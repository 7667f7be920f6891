//! A recorded site is the same over every version of HTTP.

use std::path::PathBuf;

use bytes::{Bytes, BytesMut};
use headway_http::event::{ClientEvent, RequestId, ServerEvent};
use headway_http::service::{Service, Site};
use headway_http::side::{ClientSide, ServerSide};
use headway_http::{h1, h2};
use headway_wire::{Field, Fields, Request};

use crate::fetch::{Fetch, get};
use crate::pair::{MINUTE, Pair, Setup};
use crate::serve::Serve;

/// Status, fields and content.
type Answer = (u16, Fields, Bytes);

const LARGE: usize = 300_000;
const COMPRESSED: &[u8] = b"\x1f\x8b\x08 and more \0\r\n\r\n";

/// A replay tree, which is removed at the end.
struct Tree(PathBuf);

impl Tree {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("headway-replay-{}", std::process::id()));
        std::fs::create_dir_all(path.join("bodies")).unwrap();
        std::fs::write(path.join("bodies/large"), large()).unwrap();
        std::fs::write(path.join("bodies/compressed"), COMPRESSED).unwrap();
        std::fs::write(path.join("bodies/none"), "").unwrap();
        let entry = |method, path, status, headers, (body, bytes): (_, usize)| {
            format!(
                r#"{{"method": "{method}", "url": "https://server.test{path}", "status": {status},
                "headers": {headers}, "body": "bodies/{body}", "bytes": {bytes}}}"#
            )
        };
        let compressed = ("compressed", COMPRESSED.len());
        let cookies = r#"[["set-cookie", "a=1"], ["x-a", "ü"], ["set-cookie", "b=2"]]"#;
        let validators = r#"[["etag", "\"a\""], ["content-type", "image/png"]]"#;
        let entries = [
            entry("GET", "/", 200, cookies, compressed),
            entry("GET", "/large", 200, validators, ("large", LARGE)),
            entry("GET", "/moved", 302, r#"[["location", "/"]]"#, compressed),
            entry("POST", "/beacon", 204, "[]", ("none", 0)),
        ];
        let list = format!(r#"{{"exchanges": [{}]}}"#, entries.join(","));
        std::fs::write(path.join("site.json"), list).unwrap();
        Self(path)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn large() -> Vec<u8> {
    (0..LARGE).map(|i| (i * 31 % 251) as u8).collect()
}

fn requests() -> Vec<Request> {
    let with = |method: &str, path, field: Option<(&'static str, &'static str)>| Request {
        method: method.into(),
        fields: field.into_iter().map(|(name, value)| Field::new(name, value)).collect(),
        ..get(path)
    };
    vec![
        get("/"),
        get("/large?cache=1"),
        with("HEAD", "/large", None),
        with("GET", "/large", Some(("range", "bytes=1000-250999"))),
        with("GET", "/large", Some(("range", "bytes=300000-"))),
        with("GET", "/large", Some(("if-none-match", "\"a\""))),
        get("/moved"),
        with("POST", "/beacon", None),
        get("/none"),
    ]
}

/// Over a byte pipe, one request after the other.
fn answers(
    site: &mut Site,
    client: &mut dyn ClientSide,
    server: &mut dyn ServerSide,
) -> Vec<Answer> {
    let ids = (0..).map(RequestId);
    let exchange = |(id, request)| {
        client.request(id, request, None);
        exchange(site, client, server)
    };
    ids.zip(requests()).map(exchange).collect()
}

fn exchange(site: &mut Site, client: &mut dyn ClientSide, server: &mut dyn ServerSide) -> Answer {
    let (mut head, mut content, mut wire) = (None, BytesMut::new(), BytesMut::new());
    loop {
        client.send(usize::MAX, &mut wire);
        server.receive(wire.split().freeze());
        while let Some(event) = server.poll() {
            if let ServerEvent::Request { id, request } = event {
                server.respond(id, site.respond(&request));
            }
        }
        server.send(10_000, &mut wire);
        client.receive(wire.split().freeze());
        while let Some(event) = client.poll() {
            match event {
                ClientEvent::Trailers { .. } => {}
                ClientEvent::Sent { .. } | ClientEvent::Continued { .. } => {}
                ClientEvent::Head { response, .. } => head = Some(response),
                ClientEvent::Data { data, .. } => content.extend_from_slice(&data),
                ClientEvent::Finished { .. } => {
                    let head = head.unwrap();
                    return (head.status, head.fields, content.freeze());
                }
                ClientEvent::Failed { failure, .. } => panic!("{failure}"),
            }
        }
    }
}

fn answers_over_h3(mut site: Site) -> Vec<Answer> {
    let mut fetch = Fetch::default();
    for request in requests() {
        fetch.ask(request, None, None);
    }
    let mut pair = Pair::new(&Setup::default());
    pair.connect();
    pair.run(&mut fetch, &mut Serve::with(move |request| site.respond(request)), MINUTE);
    let outcomes = fetch.outcomes.into_values();
    outcomes
        .map(|outcome| {
            assert!(outcome.is_finished);
            let head = outcome.response.unwrap();
            (head.status, head.fields, outcome.content.freeze())
        })
        .collect()
}

#[test]
fn a_site_is_the_same_over_every_version() {
    let tree = Tree::new();
    let site = || Site::open(&tree.0).unwrap();
    let (mut client, mut server) = (h1::Client::default(), h1::Server::new("https"));
    let h1 = answers(&mut site(), &mut client, &mut server);
    let mut client = h2::Client::new(h2::ClientOptions::default());
    let mut server = h2::Server::new(h2::ServerOptions::default());
    let h2 = answers(&mut site(), &mut client, &mut server);
    assert!(h1 == h2 && h2 == answers_over_h3(site()));

    let statuses: Vec<u16> = h1.iter().map(|answer| answer.0).collect();
    assert_eq!(statuses, [200, 200, 200, 206, 416, 304, 302, 204, 404]);
    let lengths: Vec<usize> = h1.iter().map(|answer| answer.2.len()).collect();
    assert_eq!(lengths, [COMPRESSED.len(), LARGE, 0, 250_000, 0, 0, COMPRESSED.len(), 0, 13]);
    let length = COMPRESSED.len().to_string();
    let recorded = [("set-cookie", "a=1"), ("x-a", "ü"), ("set-cookie", "b=2")];
    let fields = recorded.into_iter().chain([("content-length", &length[..])]);
    assert!(h1[0].1.lines().eq(fields.map(|(name, value)| (name.as_bytes(), value.as_bytes()))));
    assert!(h1[1].2 == large() && h1[3].2 == large()[1000..251_000]);
}
