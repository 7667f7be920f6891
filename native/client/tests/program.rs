//! The program from outside, with a server in a thread.

#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use headway_http::event::ServerEvent;
use headway_http::h1;
use headway_http::h2;
use headway_http::service::{Body, Files, Generated, Service};
use headway_http::side::ServerSide;
use headway_http::tcp::{Pipe, Reading, SocketOptions, TlsSide, listen};
use headway_http::tls::{Identity, Protocol, ServerTls, Versions};
use headway_reactor::{Reactor, Token};
use headway_testlink::Certificates;
use serde_json::Value;

/// A server of generated bodies, in as many threads as it has connections, until the test ends.
struct Server {
    address: SocketAddr,
    /// The certificate.
    ca: PathBuf,
}

impl Server {
    fn start(name: &str) -> Self {
        // Servers of other names have other certificates.
        let certificates = Certificates::new(name.bytes().map(u64::from).sum());
        let ca = temporary(name);
        std::fs::write(&ca, &certificates.pem()[0]).unwrap();
        let tls = ServerTls {
            provider: certificates.provider(),
            identity: Identity::new(vec![certificates.certificate()], certificates.key()),
            protocols: vec![Protocol::H2, Protocol::H1],
            versions: Versions::All,
            early_data_bytes: 1 << 14,
            record_bytes: None,
        };
        let config = tls.config().unwrap();
        let options = SocketOptions::default();
        let listener = listen("127.0.0.1:0".parse().unwrap(), &options).unwrap();
        listener.set_nonblocking(false).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let side = TlsSide::Server(Arc::clone(&config));
                let options = SocketOptions::default();
                let now = Instant::now();
                let pipe = Pipe::accept(stream.unwrap(), &options, Some(side), now).unwrap();
                std::thread::spawn(move || serve(pipe));
            }
        });
        Self { address, ca }
    }

    fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.address.port())
    }

    /// Runs the client; returns its exit status, its report and what it said.
    fn fetch(&self, arguments: &[&str], paths: &[&str]) -> (Option<i32>, Value, String) {
        self.fetch_from(&["127.0.0.1"], arguments, paths)
    }

    /// The same, of a server that is said to be at these addresses.
    fn fetch_from(
        &self,
        addresses: &[&str],
        arguments: &[&str],
        paths: &[&str],
    ) -> (Option<i32>, Value, String) {
        let resolve = |address: &&str| format!("--resolve=localhost:{address}");
        let output = Command::new(env!("CARGO_BIN_EXE_headway-client"))
            .args(["--report", "-", "--body-digest", "--ca"])
            .arg(&self.ca)
            .args(addresses.iter().map(resolve))
            .args(arguments)
            .args(paths.iter().map(|path| self.url(path)))
            .output()
            .unwrap();
        let report = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (output.status.code(), report, String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        std::fs::remove_file(&self.ca).unwrap();
    }
}

fn serve(mut pipe: Pipe) {
    let mut reactor = Reactor::new().unwrap();
    let (mut side, mut ready): (Option<Box<dyn ServerSide>>, _) = (None, Vec::new());
    loop {
        let output = side.as_mut().is_some_and(|side| side.wants_send());
        pipe.watch(&reactor, Token(0), true, output).unwrap();
        reactor.wait(None, &mut ready).unwrap();
        let now = Instant::now();
        let mut pieces = Vec::new();
        // A client that has gone is no failure of the test.
        if pipe.ready(ready[0], now).is_err() {
            return;
        }
        let reading = pipe.read(now, |piece| pieces.push(piece));
        if pipe.protocol().is_some() && side.is_none() {
            side = Some(match pipe.protocol() {
                Some(Protocol::H2) => Box::new(h2::Server::new(h2::ServerOptions::default())),
                _ => Box::new(h1::Server::new("https")),
            });
        }
        if let Some(side) = &mut side {
            pieces.into_iter().for_each(|piece| side.receive(piece));
            if exchange(side.as_mut(), &mut pipe).is_none() {
                return;
            }
        }
        if !matches!(reading, Ok(Reading::Open)) {
            return;
        }
    }
}

fn exchange(side: &mut dyn ServerSide, pipe: &mut Pipe) -> Option<()> {
    let mut bytes = BytesMut::new();
    loop {
        while let Some(event) = side.poll() {
            if let ServerEvent::Request { id, request } = event {
                if request.path.ends_with("?last") {
                    side.go_away();
                }
                side.respond(id, Files::new(None, Vec::new()).unwrap().respond(&request));
            }
        }
        if side.is_finished() {
            return pipe.finish().ok();
        }
        let room = pipe.room();
        if room == 0 || !side.wants_send() {
            return Some(());
        }
        side.send(room, &mut bytes);
        pipe.write(bytes.split().freeze()).ok()?;
    }
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("headway-client-{name}-{}", std::process::id()))
}

fn body(size: u64) -> BytesMut {
    let mut bytes = BytesMut::new();
    let mut body = Body::Generated(Box::new(Generated::new(size, 0, size)));
    body.read(&mut bytes, usize::MAX).unwrap();
    bytes
}

fn digest(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn seconds(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} is missing"))
}

#[test]
fn many_at_once_arrive_whole_over_h2_and_h1() {
    let server = Server::start("many");
    let sizes = [0, 1, 1000, 200_000, 50_000, 3, 70_000, 70_000];
    let paths: Vec<String> = sizes.iter().map(|size| format!("/bytes/{size}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    for (protocol, connections) in [("h2", 1), ("h1", 6)] {
        let (status, report, said) = server.fetch(&["--protocol", protocol], &paths);
        assert_eq!((status, &said[..]), (Some(0), ""));
        for (row, size) in report["requests"].as_array().unwrap().iter().zip(sizes) {
            assert_eq!(row["sha256"], digest(&body(size)));
            assert_eq!((&row["bytes"], &row["status"]), (&size.into(), &200.into()));
            let phases = ["queued_s", "connect_start_s", "connected_s", "secured_s"];
            let phases = [&phases[..], &["sent_s", "first_byte_s", "last_byte_s"]].concat();
            let times: Vec<f64> = phases.iter().map(|phase| seconds(row, phase)).collect();
            // A request may be sent over a connection that is older.
            assert!(times[1..].is_sorted() || row["number"].as_u64() > Some(6), "{times:?}");
        }
        let used = report["connections"].as_array().unwrap();
        assert_eq!(used.len(), connections);
        assert_eq!(
            (&used[0]["protocol"], &used[0]["tls"]["version"]),
            (&protocol.into(), &"TLSv1_3".into())
        );
        assert!(used[0]["tcp"]["info"]["received_bytes"].as_u64().unwrap() > 0);
        let goodput = report["goodput"]["bytes"].as_array().unwrap();
        let total: u64 = goodput.iter().map(|bytes| bytes.as_u64().unwrap()).sum();
        assert_eq!(total, sizes.iter().sum::<u64>());
    }
}

#[test]
fn limits_and_offsets_are_kept() {
    let server = Server::start("limits");
    let paths = ["/bytes/1000"; 4];
    let arguments = ["--concurrency", "1", "--start-offsets", "0.03,0,0,0"];
    let (status, report, _) = server.fetch(&arguments, &paths);
    let rows = report["requests"].as_array().unwrap();
    assert_eq!(status, Some(0));
    assert!(seconds(&rows[0], "sent_s") >= 0.03);
    for pair in [[1, 2], [2, 3]] {
        let [before, after] = pair.map(|row| &rows[row]);
        assert!(seconds(after, "sent_s") >= seconds(before, "last_byte_s"));
    }
}

#[test]
fn a_connection_that_takes_no_more_requests_is_replaced() {
    let server = Server::start("last");
    let paths = ["/bytes/300000?last", "/bytes/1000"];
    for protocol in ["h1", "h2"] {
        let arguments = ["--protocol", protocol, "--connections", "1", "--concurrency", "1"];
        let (status, report, said) = server.fetch(&arguments, &paths);
        assert_eq!((status, &said[..]), (Some(0), ""));
        assert_eq!(report["requests"][0]["sha256"], digest(&body(300_000)));
        assert_eq!(report["requests"][1]["sha256"], digest(&body(1000)));
        assert_eq!(report["connections"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn early_data_is_sent_with_the_first_flight() {
    let server = Server::start("early");
    let (status, report, _) = server.fetch(&["--early-data"], &["/bytes/1000"]);
    let (connection, row) = (&report["connections"][0], &report["requests"][0]);
    assert_eq!((status, &connection["tls"]["early_data"]), (Some(0), &true.into()));
    assert!(seconds(row, "sent_s") < seconds(row, "connected_s"));
    assert_eq!(row["sha256"], digest(&body(1000)));
}

#[test]
fn parts_and_the_rest_of_files() {
    let server = Server::start("parts");
    let (status, report, _) = server.fetch(&["--range", "10-19"], &["/bytes/100"]);
    let row = &report["requests"][0];
    assert_eq!((status, &row["status"]), (Some(0), &206.into()));
    assert_eq!(row["sha256"], digest(&body(100)[10..20]));
    let file = temporary("rest");
    std::fs::write(&file, &body(100_000)[..30_000]).unwrap();
    // The second time, nothing is missing.
    for status in [206, 416] {
        let arguments = ["--resume", file.to_str().unwrap()];
        let (exit, report, _) = server.fetch(&arguments, &["/bytes/100000"]);
        assert_eq!((exit, &report["requests"][0]["status"]), (Some(0), &status.into()));
        assert!(std::fs::read(&file).unwrap() == body(100_000));
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn contents_go_to_a_directory() {
    let server = Server::start("output");
    let directory = temporary("directory");
    let arguments = ["--output", directory.to_str().unwrap()];
    let (status, _, _) = server.fetch(&arguments, &["/bytes/10", "/bytes/2000", "/bytes/10"]);
    assert_eq!(status, Some(0));
    let held = |name: &str| std::fs::read(Path::new(&directory).join(name)).unwrap();
    assert!(held("10") == body(10) && held("10.2") == body(10) && held("2000") == body(2000));
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn failures_are_told() {
    let server = Server::start("failures");
    let (status, report, said) = server.fetch(&[], &["/none", "/bytes/10"]);
    assert_eq!((status, &report["requests"][0]["error"]), (Some(1), &"status 404".into()));
    assert_eq!(report["requests"][1]["error"], Value::Null);
    assert_eq!(said, format!("headway-client: {}: status 404\n", server.url("/none")));
    // Another server's certificate is not believed.
    let other = Server::start("other");
    std::fs::copy(&server.ca, &other.ca).unwrap();
    let (status, report, _) = other.fetch(&[], &["/"]);
    let error = report["requests"][0]["error"].as_str().unwrap();
    assert!(status == Some(1) && error.contains("invalid peer certificate"), "{error}");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gone = Server { address: free, ca: temporary("gone") };
    std::fs::copy(&server.ca, &gone.ca).unwrap();
    let (status, report, _) = gone.fetch(&[], &["/"]);
    assert_eq!(status, Some(1));
    let error = report["requests"][0]["error"].as_str().unwrap();
    assert!(error.starts_with("cannot connect: Connection refused"), "{error}");
}

#[test]
fn addresses_are_tried_until_one_answers() {
    let server = Server::start("race");
    let (status, report, said) =
        server.fetch_from(&["127.0.0.2", "127.0.0.1"], &["--protocol", "h1"], &["/bytes/10"; 3]);
    assert_eq!((status, &said[..]), (Some(0), ""));
    for connection in report["connections"].as_array().unwrap() {
        let tried = connection["tried"].as_array().unwrap();
        let refused = tried[0]["error"].as_str().unwrap();
        assert!(refused.contains("Connection refused"), "{refused}");
        assert_eq!((tried.len(), &tried[1]["error"]), (2, &Value::Null));
        assert_eq!(connection["remote"], server.address.to_string());
    }
    let rows = report["requests"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["sha256"] == digest(&body(10))));
    // A refusal is an answer, and no more is waited for.
    assert!(seconds(&rows[0], "connected_s") < 0.25);
    let (status, report, _) =
        server.fetch_from(&["127.0.0.2", "127.0.0.3"], &[], &["/bytes/10"; 2]);
    assert_eq!(status, Some(1));
    for row in report["requests"].as_array().unwrap() {
        let error = row["error"].as_str().unwrap();
        assert!(error.starts_with("cannot connect: Connection refused"), "{error}");
    }
}

#[test]
fn wrong_options_are_told() {
    let run = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_headway-client");
        Command::new(program).args(arguments).output().unwrap().status.code()
    };
    for arguments in [
        &[][..],
        &["ftp://localhost/"],
        &["http://localhost/"],
        &["https://localhost/", "--ca", "/none"],
        &["https://localhost/", "--dependency", "1:16"],
        &["https://localhost/", "--priority", "urgent"],
        &["https://a.test/", "https://a.test/", "--resume", "file"],
        &["https://a.test/", "https://a.test/", "--start-offsets", "0,1,2"],
    ] {
        assert_eq!(run(arguments), Some(2), "{arguments:?}");
    }
}

/// Users who are ready and find no connection wait, and that counts: no coordinated omission.
#[test]
fn users_wait_from_when_they_are_ready() {
    let server = Server::start("users");
    let arguments = ["--protocol", "h1", "--connections", "1", "--users", "3", "--repeat", "3"];
    let (status, report, said) = server.fetch(&arguments, &["/bytes/10"]);
    assert_eq!(status, Some(0), "{said}");
    let times = |what: &str| -> Vec<f64> {
        let rows = report["requests"].as_array().unwrap();
        rows.iter().map(|row| row[what].as_f64().unwrap()).collect()
    };
    let (queued, sent) = (times("queued_s"), times("sent_s"));
    assert!(queued.iter().all(|&at| at == queued[0]), "{queued:?}");
    assert!(sent[0] < sent[1] && sent[1] < sent[2], "{sent:?}");
}
