//! How a client of HTTP/3 sees the program end.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use headway_http::event::{ClientEvent, RequestId};
use headway_http::h3;
use headway_quic::{Config, ConnectionKey, Endpoint, Event, QuicClientConfig, Seed, UdpEndpoint};
use headway_reactor::{Interest, Reactor, Token, UdpSocket};
use headway_schedule::Strategy;
use headway_testlink::{Certificates, SERVER_NAME};
use headway_wire::Request;

use crate::running::{PROGRAM, Running, temporary};

/// A client on one connection.
struct Client {
    reactor: Reactor,
    udp: UdpEndpoint,
    key: ConnectionKey,
    side: h3::Client,
    /// What happened, in short.
    log: Vec<String>,
}

impl Client {
    fn connect(server: &Running, certificates: &Certificates) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let reactor = Reactor::new().unwrap();
        reactor.register(&socket, Token(0), Interest::Read).unwrap();
        let tls = QuicClientConfig::try_from(Arc::new(certificates.client(&["h3"]))).unwrap();
        let mut endpoint = Endpoint::client(&Seed::known(1));
        let (config, scheduler) = (Arc::new(Config::default()), Strategy::Sequential.scheduler());
        let (now, tls) = (Instant::now(), Arc::new(tls));
        let key =
            endpoint.connect(now, server.address, SERVER_NAME, tls, &config, scheduler).unwrap();
        let udp = UdpEndpoint::new(endpoint, socket, config.cpu_cost);
        Self { reactor, udp, key, side: h3::Client::default(), log: Vec::new() }
    }

    /// Goes on until the log has this line.
    fn until(&mut self, line: &str) {
        let mut ready = Vec::new();
        while !self.log.iter().any(|logged| logged.starts_with(line)) {
            let now = Instant::now();
            self.udp.transmit(now).unwrap();
            while let Some((_, event)) = self.udp.endpoint.poll() {
                self.handle(now, event);
            }
            self.udp.transmit(now).unwrap();
            self.reactor.wait(self.udp.endpoint.deadline(), &mut ready).unwrap();
            self.udp.receive(Instant::now()).unwrap();
        }
    }

    fn handle(&mut self, now: Instant, event: Event) {
        let is_end = matches!(event, Event::Closed(_));
        let was_closed = self.side.is_closed();
        if let Event::Closed(reason) = &event {
            self.log.push(reason.to_string());
        }
        if let Some(connection) = self.udp.endpoint.connection(self.key) {
            self.side.handle(now, connection, event);
        }
        if self.side.is_closed() && !was_closed && !is_end {
            self.log.push("GOAWAY".to_owned());
        }
        while let Some(event) = self.side.poll() {
            if let ClientEvent::Finished { .. } = event {
                self.log.push("finished".to_owned());
            }
        }
    }
}

#[test]
fn a_client_is_told_that_the_server_ends() {
    let certificates = Certificates::new(1);
    let files = ["certificate", "key"].map(|name| temporary(&format!("goodbye-{name}")));
    for (file, pem) in files.iter().zip(certificates.pem()) {
        std::fs::write(file, pem).unwrap();
    }
    let [certificate, key] = files.each_ref().map(|file| file.to_str().unwrap());
    let server = Running::spawn(
        Command::new(PROGRAM).args(["--listen", "127.0.0.1:0", "--protocols", "h3"]).args([
            "--cert",
            certificate,
            "--key",
            key,
        ]),
    );
    let mut client = Client::connect(&server, &certificates);
    let request = Request::get("https", SERVER_NAME, "/bytes/1000");
    client.side.request(None, RequestId(0), request, None);
    client.until("finished");
    assert_eq!(server.end(), (Some(0), String::new()));
    client.until("closed");
    assert_eq!(
        client.log,
        ["finished", "GOAWAY", "closed by the peer with code 0x100: the server ends"]
    );
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
}
