//! The program from outside, with a server of HTTP/3 in a thread.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use headway_http::event::{RequestId, ServerEvent};
use headway_http::h3;
use headway_http::service::{Body, Files, Reply, Service};
use headway_quic::{
    Config, Connection, Dir, Endpoint, QuicServerConfig, Seed, Side, StreamId, UdpEndpoint,
};
use headway_reactor::{Interest, Reactor, Token, UdpSocket};
use headway_schedule::Strategy;
use headway_testlink::Certificates;
use headway_wire::h3::frame_type;
use headway_wire::{Request, Response, varint};
use serde_json::Value;

/// What the server closes a connection with that asks for `/close`: a terminal would be cleared.
const FAREWELL: &str = "\u{1b}[2J\nheadway-client: fine";

struct Server {
    address: SocketAddr,
    /// The certificate.
    ca: PathBuf,
}

impl Server {
    /// A server until the test ends.
    fn start(name: &str) -> Self {
        let certificates = Certificates::new(name.bytes().map(u64::from).sum());
        let ca = std::env::temp_dir().join(format!("headway-h3-{name}-{}", std::process::id()));
        std::fs::write(&ca, &certificates.pem()[0]).unwrap();
        let tls = Arc::new(certificates.server(&["h3"]));
        let tls = Arc::new(QuicServerConfig::try_from(tls).unwrap());
        let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_address().unwrap();
        std::thread::spawn(move || serve(socket, &tls));
        Self { address, ca }
    }

    /// Runs the client; returns its exit status, its report and what it said.
    fn fetch(&self, arguments: &[&str], path: &str) -> (Option<i32>, Value, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_headway-client"))
            .args(["--report", "-", "--resolve", "localhost:127.0.0.1", "--protocol", "h3", "--ca"])
            .arg(&self.ca)
            .args(arguments)
            .arg(format!("https://localhost:{}{path}", self.address.port()))
            .output()
            .unwrap();
        let report = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (output.status.code(), report, String::from_utf8(output.stderr).unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        std::fs::remove_file(&self.ca).unwrap();
    }
}

fn serve(socket: UdpSocket, tls: &Arc<QuicServerConfig>) {
    let mut reactor = Reactor::new().unwrap();
    reactor.register(&socket, Token(0), Interest::Read).unwrap();
    let config = Arc::new(Config::default());
    let endpoint = Endpoint::server(Arc::clone(tls), &Seed::known(1));
    let mut udp = UdpEndpoint::new(endpoint, socket, config.cpu_cost);
    let (mut sides, mut ready) = (BTreeMap::new(), Vec::new());
    loop {
        reactor.wait(udp.endpoint.deadline(), &mut ready).unwrap();
        let now = Instant::now();
        if !ready.is_empty() {
            udp.receive(now).unwrap();
        }
        while let Some(incoming) = udp.endpoint.next_incoming() {
            let (endpoint, socket) = udp.parts();
            let scheduler = Strategy::Sequential.scheduler();
            let tls = Arc::clone(tls);
            let key = endpoint.accept(now, socket, incoming, tls, &config, scheduler).unwrap();
            sides.insert(key, h3::Server::default());
        }
        udp.transmit(now).unwrap();
        while let Some((key, event)) = udp.endpoint.poll() {
            let side = sides.get_mut(&key).unwrap();
            if let Some(connection) = udp.endpoint.connection(key) {
                side.handle(now, connection, event);
                answer(now, side, connection);
            }
            udp.transmit(now).unwrap();
        }
    }
}

fn answer(now: Instant, side: &mut h3::Server, connection: &mut Connection) {
    while let Some(event) = side.poll() {
        let ServerEvent::Request { id, request } = event else { continue };
        match &request.path[..] {
            "/close" => connection.close(now, 0x102, FAREWELL),
            "/silence" => {}
            path if path.starts_with("/head/") => begin_head(connection, id),
            _ => side.respond(connection, id, reply(&request)),
        }
    }
}

/// Sends most of a head, of which the rest never comes.
fn begin_head(connection: &mut Connection, id: RequestId) {
    let mut begun = BytesMut::new();
    varint::encode(frame_type::HEADERS, &mut begun);
    varint::encode(60_000, &mut begun);
    begun.extend([0; 55_000]);
    connection.write(StreamId::new(Side::Client, Dir::Bi, id.0 / 4), begun.freeze());
}

/// To `/status/N` with that status, else as a server of generated bodies.
fn reply(request: &Request) -> Reply {
    match request.path.strip_prefix("/status/") {
        Some(status) => {
            let response = Response::new(status.parse().unwrap());
            Reply { response, body: Body::empty() }
        }
        None => Files::new(None, Vec::new()).unwrap().respond(request),
    }
}

#[test]
fn exit_statuses() {
    let server = Server::start("statuses");
    let cases =
        [("200", 0), ("204", 0), ("302", 0), ("304", 0), ("400", 1), ("416", 1), ("503", 1)];
    for (status, exit) in cases {
        let (code, report, said) = server.fetch(&[], &format!("/status/{status}"));
        assert_eq!(code, Some(exit), "{status}: {said}");
        let row = &report["requests"][0];
        assert_eq!(row["status"].to_string(), status);
        let error = if exit == 0 { Value::Null } else { format!("status {status}").into() };
        assert_eq!(row["error"], error);
    }
}

#[test]
fn a_server_that_is_silent_is_waited_for_until_the_deadline() {
    let server = Server::start("silence");
    let (status, report, said) = server.fetch(&["--timeout", "0.1"], "/silence");
    let error = "not complete after 0.1 s (--timeout)";
    assert_eq!((status, &report["requests"][0]["error"]), (Some(1), &error.into()));
    assert!(said.ends_with(&format!(": {error}\n")), "{said}");
}

/// That a request is sent is no event of the connection's, which may have none for a round trip.
#[test]
fn a_request_over_an_older_connection_is_sent_at_once() {
    let server = Server::start("sent");
    let first = format!("https://localhost:{}/bytes/10", server.address.port());
    let arguments = ["--concurrency", "1", "--timeout", "0.3", &first];
    let (_, report, said) = server.fetch(&arguments, "/silence");
    let seconds = |row: usize, key: &str| report["requests"][row][key].as_f64().expect(&said);
    assert!(seconds(1, "sent_s") - seconds(0, "last_byte_s") < 0.1);
    assert_eq!(report["connections"].as_array().unwrap().len(), 1);
}

#[test]
fn words_of_a_server_are_not_obeyed_by_a_terminal() {
    let server = Server::start("words");
    let (status, _, said) = server.fetch(&[], "/close");
    assert_eq!(status, Some(1));
    let expected = "closed by the peer with H3_INTERNAL_ERROR: \\u{1b}[2J\\nheadway-client: fine\n";
    assert!(said.ends_with(expected) && said.lines().count() == 1, "{said}");
}

/// The client that only receives tells the server of its new port.
#[test]
fn a_download_survives_a_nat_that_rebinds() {
    let server = Server::start("rebinding");
    let arguments = ["--rebind-after", "200000", "--quic", "idle-timeout=3s", "--body-digest"];
    let (status, report, said) = server.fetch(&arguments, "/bytes/10000000");
    assert_eq!((status, &said[..]), (Some(0), ""));
    let (row, quic) = (&report["requests"][0], &report["connections"][0]["quic"]);
    assert_eq!((&row["bytes"], &row["error"]), (&10_000_000.into(), &Value::Null));
    assert_eq!(quic["moved_s"].as_array().unwrap().len(), 1);
}

#[test]
fn a_server_whose_heads_never_end_cannot_have_all_memory() {
    let server = Server::start("heads");
    let urls: Vec<String> = (1..800)
        .map(|number| format!("https://localhost:{}/head/{number}", server.address.port()))
        .collect();
    let window = "connection-window=1000000";
    let mut arguments = vec!["--timeout", "60", "--quic", window];
    arguments.extend(urls.iter().map(String::as_str));
    let (status, report, _) = server.fetch(&arguments, "/head/0");
    assert_eq!(status, Some(1));
    let error = report["requests"][0]["error"].as_str().unwrap();
    // Twice the window, and 32 MB; and little more than that.
    let taken = error.strip_prefix("connection-memory=34MB: this connection takes ").expect(error);
    let taken: f64 = taken.strip_suffix(" MB").unwrap().parse().unwrap();
    assert!(taken < 40.0, "{error}");
}
