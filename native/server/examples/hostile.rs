//! A client of QUIC that means no good, for `bench/attacks`:
//!
//! ```text
//! hostile ATTACK ADDRESS:PORT CA.pem h3|perf
//! ```
//!
//! It says in a line what came of the attack, and keeps what it has until its standard input ends.

#![allow(clippy::unwrap_used, reason = "there is nobody to be told in other words")]

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use headway_http::tls::{ClientTls, Protocol, Trust, Versions, provider};
use headway_quic::{
    Config, Connection, ConnectionKey, Dir, Endpoint, Event, Network, QuicClientConfig, Read,
    ReceivedDatagram, Route, Seed, StreamId, UdpEndpoint,
};
use headway_reactor::{CpuCost, UdpSocket};
use headway_schedule::Strategy;
use headway_wire::h3::{Settings, StreamType, encode};
use headway_wire::{Field, Request};

/// A name in the server's certificate.
const NAME: &str = "localhost";
/// Requests of the attacks that make many.
const REQUESTS: usize = 100_000;
/// Handshakes that nobody ends.
const HALF_OPEN: usize = 2000;
/// Addresses that they come from.
const ADDRESSES: usize = 100;
/// Connections of the attacks that need several.
const CONNECTIONS: usize = 10;
/// Requests of a connection at a time.
const STREAMS: usize = 1000;
/// Pieces behind gaps.
const PIECES: usize = 200_000;

struct Target {
    server: SocketAddr,
    tls: Arc<QuicClientConfig>,
    application: Application,
}

/// What is spoken over QUIC.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Application {
    /// HTTP/3 (RFC 9114).
    H3,
    /// headway-perf's protocol: a request is the number of bytes wanted.
    Perf,
}

impl Application {
    fn alpn(self) -> &'static [u8] {
        match self {
            Self::H3 => b"h3",
            Self::Perf => b"perf",
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [attack, server, ca, application] = &words[..] else {
        panic!("hostile ATTACK ADDRESS:PORT CA.pem h3|perf")
    };
    let application = match application.as_str() {
        "h3" => Application::H3,
        "perf" => Application::Perf,
        _ => panic!("no application {application}"),
    };
    let tls = ClientTls {
        provider: provider(),
        trust: Trust::File(ca.into()),
        protocols: vec![Protocol::H3],
        versions: Versions::Tls13,
        early_data: false,
    };
    let mut tls = rustls::ClientConfig::clone(&tls.config().unwrap());
    tls.alpn_protocols = vec![application.alpn().to_vec()];
    let tls = Arc::new(QuicClientConfig::try_from(tls).unwrap());
    let target = Target { server: server.parse().unwrap(), tls, application };
    // What it has lasts until its input ends.
    let _held: Box<dyn std::any::Any> = match attack.as_str() {
        "half-open" => Box::new(half_open(&target)),
        "gaps" => Box::new(gaps(&target)),
        "idle" => Box::new(requests(&target, "", 10 * CONNECTIONS, &Asking::nothing(application))),
        "stalled" => Box::new(stalled(&target, "/bytes/1000000000")),
        "stalled-files" => Box::new(stalled(&target, "/file.bin")),
        "reset" => Box::new(requests(&target, HURRIED, 1, &Asking::reset(application))),
        "made-to-reset" => Box::new(requests(&target, HURRIED, 1, &Asking::malformed())),
        _ => panic!("no attack {attack}"),
    };
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

/// Knobs of a client that takes no care of the path.
const HURRIED: &str = "initial-window=100000,pacing=off";

fn endpoint_with(target: &Target, connections: usize, knobs: &str, now: Instant) -> Endpoint {
    let mut endpoint = Endpoint::client(&Seed::secret());
    let config: Arc<Config> = Arc::new(knobs.parse().unwrap());
    for _ in 0..connections {
        let scheduler = Strategy::Sequential.scheduler();
        let tls = Arc::clone(&target.tls);
        endpoint.connect(now, target.server, NAME, tls, &config, scheduler).unwrap();
    }
    endpoint
}

/// Sends from many addresses, and hears nothing.
struct Deaf(Vec<std::net::UdpSocket>, usize);

impl Network for Deaf {
    fn send(&mut self, route: Route, payload: &[u8]) -> io::Result<()> {
        self.1 += 1;
        let socket = &self.0[self.1 % self.0.len()];
        // As a network loses.
        let _ = socket.send_to(payload, route.destination);
        Ok(())
    }
}

fn half_open(target: &Target) -> Deaf {
    let address = |number: usize| Ipv4Addr::new(127, 1, 0, 1 + u8::try_from(number).unwrap());
    let sockets = (0..ADDRESSES).map(|n| std::net::UdpSocket::bind((address(n), 0)).unwrap());
    let mut network = Deaf(sockets.collect(), 0);
    let now = Instant::now();
    let mut endpoint = endpoint_with(target, HALF_OPEN, "", now);
    endpoint.transmit(now, &mut network).unwrap();
    println!("{} Initial packets", network.1);
    network
}

/// Sends what it is told to, and loses the rest.
struct Leaky {
    socket: std::net::UdpSocket,
    is_lost: bool,
}

impl Network for Leaky {
    fn send(&mut self, route: Route, payload: &[u8]) -> io::Result<()> {
        if !self.is_lost {
            self.socket.send_to(payload, route.destination)?;
        }
        Ok(())
    }
}

/// A byte of a stream in every packet, of which every other one never leaves. Time stands still for the
/// client after the handshake, so that it sends nothing again.
fn gaps(target: &Target) -> Leaky {
    let now = Instant::now();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut network = Leaky { socket, is_lost: false };
    let mut endpoint = endpoint_with(target, 1, HURRIED, now);
    let mut buffer = [0; 2000];
    let key = loop {
        endpoint.transmit(now, &mut network).unwrap();
        if let Some((key, Event::Connected { .. })) = endpoint.poll() {
            break key;
        }
        let (length, remote) = network.socket.recv_from(&mut buffer).unwrap();
        let payload = buffer[..length].into();
        let datagram = ReceivedDatagram { remote, local_ip: None, ecn: None, payload };
        endpoint.receive(now, &mut network, datagram).unwrap();
    };
    endpoint.transmit(now, &mut network).unwrap();
    let stream = endpoint.connection(key).unwrap().open(Dir::Bi).unwrap();
    network.socket.set_nonblocking(true).unwrap();
    for number in 0..2 * PIECES {
        network.is_lost = number % 2 == 0;
        endpoint.connection(key).unwrap().write(stream, Bytes::from_static(b"x"));
        endpoint.transmit(now, &mut network).unwrap();
        if number % 64 == 0 {
            // Not faster than the server takes them.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    println!("{PIECES} pieces");
    network
}

/// What is asked, and what becomes of it.
struct Asking {
    head: Bytes,
    requests: usize,
    gives_up: bool,
    reads: bool,
}

impl Asking {
    fn new(request: &Request, requests: usize) -> Self {
        let mut head = BytesMut::new();
        encode::headers(request.lines(), &mut head);
        Self { head: head.freeze(), requests, gives_up: false, reads: true }
    }

    /// A body; of headway-perf one without end, whatever the path.
    fn get(application: Application, path: &str, requests: usize) -> Self {
        match application {
            Application::H3 => Self::new(&Request::get("https", NAME, path), requests),
            Application::Perf => {
                let head = Bytes::copy_from_slice(&u64::MAX.to_be_bytes());
                Self { head, requests, gives_up: false, reads: true }
            }
        }
    }

    fn nothing(application: Application) -> Self {
        Self::get(application, "/", 0)
    }

    fn reset(application: Application) -> Self {
        Self { gives_up: true, ..Self::get(application, "/bytes/1000", REQUESTS) }
    }

    /// It announces content that it does not have, so the server has to reset it.
    fn malformed() -> Self {
        let request = Request::get("https", NAME, "/bytes/1000");
        let fields = [Field::new("content-length", "5")].into_iter().collect();
        Self::new(&Request { fields, ..request }, REQUESTS)
    }
}

fn stalled(target: &Target, path: &str) -> UdpEndpoint {
    let asking = Asking { reads: false, ..Asking::get(target.application, path, STREAMS) };
    requests(target, &format!("stream-window=0,{HURRIED}"), CONNECTIONS, &asking)
}

/// Makes requests, until there were enough of them or the server has ended the connection.
fn requests(target: &Target, knobs: &str, connections: usize, asking: &Asking) -> UdpEndpoint {
    let endpoint = endpoint_with(target, connections, knobs, Instant::now());
    let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let mut udp = UdpEndpoint::new(endpoint, socket, CpuCost::default());
    let mut made: BTreeMap<ConnectionKey, usize> = BTreeMap::new();
    let mut end = String::from("all were made");
    let is_done = |made: &BTreeMap<ConnectionKey, usize>| {
        made.len() == connections && made.values().all(|&made| made >= asking.requests)
    };
    let mut asked = Vec::new();
    while !is_done(&made) {
        let now = Instant::now();
        udp.transmit(now).unwrap();
        for (key, stream) in asked.drain(..) {
            udp.endpoint.connection(key).into_iter().for_each(|c| c.reset(stream, 0x10c));
        }
        udp.transmit(now).unwrap();
        while let Some((key, event)) = udp.endpoint.poll() {
            let Some(connection) = udp.endpoint.connection(key) else { continue };
            match event {
                Event::Connected { .. } => {
                    made.insert(key, 0);
                    if target.application == Application::H3 {
                        begin(connection);
                    }
                }
                Event::Readable(stream) if asking.reads => read(now, connection, stream),
                Event::Closed(close) => {
                    end = close.to_string();
                    made.insert(key, usize::MAX);
                }
                _ => {}
            }
            let Some(made) = made.get_mut(&key) else { continue };
            while *made < asking.requests && *made < usize::MAX {
                let Some(stream) = connection.open(Dir::Bi) else { break };
                connection.write(stream, asking.head.clone());
                *made += 1;
                if asking.gives_up {
                    asked.push((key, stream));
                } else {
                    connection.finish(stream);
                }
            }
        }
        if asked.is_empty() && !is_done(&made) {
            wait(&mut udp);
        }
    }
    for _ in 0..10 {
        udp.transmit(Instant::now()).unwrap();
        wait(&mut udp);
    }
    println!("{end}");
    udp
}

/// The control stream, without which HTTP/3 does not begin (RFC 9114 section 6.2.1).
fn begin(connection: &mut Connection) {
    let mut bytes = BytesMut::new();
    encode::stream_type(StreamType::Control, &mut bytes);
    encode::settings(&Settings::default(), &mut bytes);
    let stream = connection.open(Dir::Uni).unwrap();
    connection.write(stream, bytes.freeze());
}

fn read(now: Instant, connection: &mut Connection, stream: StreamId) {
    loop {
        match connection.read(now, stream) {
            Read::Data(_) => {}
            Read::Blocked => return,
            Read::Finished | Read::Reset(_) => return connection.forget(stream),
        }
    }
}

/// Receives what comes within 10 ms.
fn wait(udp: &mut UdpEndpoint) {
    let mut waiting = [rustix::event::PollFd::new(udp.socket(), rustix::event::PollFlags::IN)];
    let limit = rustix::time::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    if rustix::event::poll(&mut waiting, Some(&limit)).unwrap() > 0 {
        udp.receive(Instant::now()).unwrap();
    }
}
