//! Clients that begin QUIC handshakes and do not go on.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use headway_quic::{
    Config, Endpoint, Event, Network, QuicClientConfig, ReceivedDatagram, Route, Seed,
};
use headway_schedule::Strategy;
use headway_testlink::{Certificates, SERVER_NAME};

use crate::hostile::identity;
use crate::running::{PROGRAM, Running};

pub(crate) struct Socket(pub(crate) UdpSocket);

impl Network for Socket {
    fn send(&mut self, route: Route, payload: &[u8]) -> io::Result<()> {
        self.0.send_to(payload, route.destination).map(drop)
    }
}

/// A client, with its first packet sent.
pub(crate) fn begin(seed: u64, server: SocketAddr, knobs: &str) -> (Endpoint, Socket) {
    let tls = Arc::new(Certificates::new(1).client(&["h3"]));
    let tls = Arc::new(QuicClientConfig::try_from(tls).unwrap());
    let mut endpoint = Endpoint::client(&Seed::known(seed));
    let mut socket = Socket(UdpSocket::bind("127.0.0.1:0").unwrap());
    let now = Instant::now();
    let (config, scheduler) =
        (Arc::new(knobs.parse::<Config>().unwrap()), Strategy::Sequential.scheduler());
    endpoint.connect(now, server, SERVER_NAME, tls, &config, scheduler).unwrap();
    endpoint.transmit(now, &mut socket).unwrap();
    (endpoint, socket)
}

/// Goes on with a client until its handshake is over.
fn connect((mut endpoint, mut socket): (Endpoint, Socket)) -> Event {
    socket.0.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut buffer = [0; 2000];
    loop {
        let (length, remote) = socket.0.recv_from(&mut buffer).unwrap();
        let payload = buffer[..length].into();
        let datagram = ReceivedDatagram { remote, local_ip: None, ecn: None, payload };
        let now = Instant::now();
        endpoint.receive(now, &mut socket, datagram).unwrap();
        endpoint.transmit(now, &mut socket).unwrap();
        if let Some((_, event)) = endpoint.poll() {
            return event;
        }
    }
}

#[test]
fn handshakes_that_nobody_ends_do_not_lock_others_out() {
    let [cert, key] = identity("half-open");
    let mut command = Command::new(PROGRAM);
    command.args(["--listen", "127.0.0.1:0", "--protocols", "h3", "--max-connections", "20"]);
    command.args(["--limits", "half-open-share=50%"]);
    command.arg("--cert").arg(&cert).arg("--key").arg(&key);
    let server = Running::spawn(&mut command);
    // Twice as many as there may be connections.
    let silent: Vec<_> = (0..40).map(|seed| begin(seed, server.address, "")).collect();
    for (_, socket) in &silent {
        // Each is answered: with a handshake, or with a Retry.
        socket.0.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        socket.0.recv_from(&mut [0; 2000]).unwrap();
    }
    let connected = connect(begin(100, server.address, ""));
    assert!(matches!(connected, Event::Connected { .. }), "{connected:?}");
    assert_eq!(server.end().0, Some(0));
    for path in [cert, key] {
        std::fs::remove_file(path).unwrap();
    }
}
