//! Pipes over real sockets, both ends in one thread.

#![allow(clippy::unwrap_used)]

mod support;

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use headway_http::tcp::{Pipe, PipeError, Reading, SocketOptions, TlsSide, listen};
use headway_http::tls::{Protocol, Versions};
use headway_reactor::{Reactor, Ready, Token};
use support::Tls;

/// One side: a pipe, what it has to write and what it has read.
struct End {
    pipe: Pipe,
    outgoing: Bytes,
    incoming: Vec<u8>,
    ended: bool,
    /// Whether its half ends after what it writes.
    finishes: bool,
    reads: bool,
}

impl End {
    fn new(pipe: Pipe, outgoing: &[u8]) -> Self {
        let outgoing = Bytes::copy_from_slice(outgoing);
        Self { pipe, outgoing, incoming: Vec::new(), ended: false, finishes: true, reads: true }
    }

    fn progress(&mut self, ready: Option<Ready>) -> Result<(), PipeError> {
        let now = Instant::now();
        if let Some(ready) = ready {
            self.pipe.ready(ready, now)?;
            if ready.readable {
                let incoming = &mut self.incoming;
                let reading = self.pipe.read(now, |bytes| incoming.extend_from_slice(&bytes))?;
                self.ended |= reading == Reading::Ended;
            }
        }
        loop {
            let room = self.pipe.room().min(self.outgoing.len());
            if room == 0 {
                break;
            }
            self.pipe.write(self.outgoing.split_to(room))?;
        }
        if self.finishes && self.outgoing.is_empty() && self.pipe.is_established() {
            self.pipe.finish()?;
        }
        Ok(())
    }

    fn watch(&mut self, reactor: &Reactor, token: u64) {
        let (read, write) = (self.reads && !self.ended, !self.outgoing.is_empty());
        self.pipe.watch(reactor, Token(token), read, write).unwrap();
    }
}

struct Pair {
    reactor: Reactor,
    client: End,
    server: End,
}

impl Pair {
    fn new(
        options: &SocketOptions,
        tls: Option<(TlsSide, TlsSide)>,
        from_client: &[u8],
        from_server: &[u8],
    ) -> Self {
        let listener = listen("127.0.0.1:0".parse().unwrap(), options).unwrap();
        let (client, server) = tls.unzip();
        let now = Instant::now();
        let remote = listener.local_addr().unwrap();
        let client = Pipe::connect(remote, None, options, client, now).unwrap();
        let server = Pipe::accept(accepted(&listener), options, server, now).unwrap();
        let mut pair = Self {
            reactor: Reactor::new().unwrap(),
            client: End::new(client, from_client),
            server: End::new(server, from_server),
        };
        pair.client.progress(None).unwrap();
        pair
    }

    /// One wait and what follows from it.
    fn turn(&mut self) -> Result<(), PipeError> {
        self.client.watch(&self.reactor, 0);
        self.server.watch(&self.reactor, 1);
        let mut ready = Vec::new();
        self.reactor.wait(None, &mut ready).unwrap();
        for ready in ready {
            let end = if ready.token == Token(0) { &mut self.client } else { &mut self.server };
            end.progress(Some(ready))?;
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), PipeError> {
        while !(self.client.ended && self.server.ended) {
            self.turn()?;
        }
        Ok(())
    }
}

fn accepted(listener: &TcpListener) -> std::net::TcpStream {
    listener.set_nonblocking(false).unwrap();
    listener.accept().unwrap().0
}

fn sides(
    client: &Arc<rustls::ClientConfig>,
    server: &Arc<rustls::ServerConfig>,
) -> Option<(TlsSide, TlsSide)> {
    let name = "localhost".try_into().unwrap();
    Some((TlsSide::Client(client.clone(), name), TlsSide::Server(server.clone())))
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 % 251) as u8).collect()
}

#[test]
fn both_directions_arrive_whole_and_both_halves_end() {
    let tls = Tls::new(1, &[Protocol::H2, Protocol::H1], false);
    let (client, server) = (tls.client_config(), tls.server_config());
    let lowat = SocketOptions { notsent_lowat_bytes: Some(16 << 10), ..Default::default() };
    for options in [SocketOptions::default(), lowat] {
        for sides in [None, sides(&client, &server)] {
            let secure = sides.is_some();
            let (up, down) = (pattern(300_000), pattern(5_000_000));
            let mut pair = Pair::new(&options, sides, &up, &down);
            pair.run().unwrap();
            assert!(pair.server.incoming == up && pair.client.incoming == down);
            assert!(pair.client.pipe.is_finished() && pair.server.pipe.is_finished());
            assert_eq!(pair.client.pipe.protocol(), secure.then_some(Protocol::H2));
            let reached = pair.client.pipe.milestones();
            assert!(reached.connected.is_some() && reached.secured.is_some() == secure);
        }
    }
}

#[test]
fn tls_1_2_is_spoken_too() {
    let mut tls = Tls::new(1, &[Protocol::H1], false);
    tls.client.versions = Versions::Tls12;
    let (client, server) = (tls.client_config(), tls.server_config());
    let mut pair = Pair::new(&SocketOptions::default(), sides(&client, &server), b"up", b"down");
    pair.run().unwrap();
    let security = pair.client.pipe.security().unwrap();
    assert_eq!(security.version, "TLSv1_2");
    assert_eq!((&pair.server.incoming[..], &pair.client.incoming[..]), (&b"up"[..], &b"down"[..]));
}

#[test]
fn early_data_goes_with_the_first_flight_of_a_resumed_connection() {
    let tls = Tls::new(1, &[Protocol::H2], true);
    let (client, server) = (tls.client_config(), tls.server_config());
    let run = || {
        let options = SocketOptions::default();
        let mut pair = Pair::new(&options, sides(&client, &server), &pattern(1000), b"down");
        let early = pair.client.outgoing.is_empty();
        pair.run().unwrap();
        assert_eq!(pair.server.incoming, pattern(1000));
        (early, pair.client.pipe.security().unwrap())
    };
    let (early, security) = run();
    assert!(!early && !security.resumed && !security.early_data);
    let (early, security) = run();
    assert!(early && security.resumed && security.early_data);
}

#[test]
fn early_data_that_is_refused_is_sent_again() {
    let tls = Tls::new(1, &[Protocol::H2], true);
    let client = tls.client_config();
    let options = SocketOptions::default();
    for _ in 0..2 {
        // Another server each time: it does not know the tickets.
        let mut pair = Pair::new(&options, sides(&client, &tls.server_config()), b"up", b"down");
        pair.run().unwrap();
        assert_eq!(pair.server.incoming, b"up");
        assert!(!pair.client.pipe.security().unwrap().early_data);
    }
}

#[test]
fn unsent_bytes_stay_below_the_low_water_mark() {
    let tls = Tls::new(1, &[Protocol::H2], false);
    let limit = 16 << 10;
    let options = SocketOptions { notsent_lowat_bytes: Some(limit), ..Default::default() };
    let sides = sides(&tls.client_config(), &tls.server_config());
    let mut pair = Pair::new(&options, sides, b"", &pattern(8_000_000));
    // The client stops reading once it has begun: the window closes, and data piles up.
    while pair.client.incoming.is_empty() {
        pair.turn().unwrap();
    }
    pair.client.reads = false;
    let (mut ready, mut most) = (Vec::new(), 0);
    loop {
        pair.server.watch(&pair.reactor, 1);
        pair.client.watch(&pair.reactor, 0);
        pair.reactor.wait(Some(Instant::now()), &mut ready).unwrap();
        ready.retain(|r| r.token == Token(1));
        let Some(&told) = ready.first() else { break };
        pair.server.progress(Some(told)).unwrap();
        most = most.max(pair.server.pipe.info().unwrap().notsent_bytes);
    }
    assert!(!pair.server.outgoing.is_empty(), "all went into the kernel");
    assert!(most > 0 && most <= limit, "{most} bytes unsent");
    // Reading again brings the rest.
    pair.client.reads = true;
    pair.run().unwrap();
    assert!(pair.client.incoming == pattern(8_000_000));
}

#[test]
fn a_connection_that_is_cut_is_an_error() {
    let tls = Tls::new(1, &[Protocol::H2], false);
    let sides = sides(&tls.client_config(), &tls.server_config());
    let mut pair = Pair::new(&SocketOptions::default(), sides, b"up", b"down");
    pair.client.finishes = false;
    while pair.server.incoming.is_empty() {
        pair.turn().unwrap();
    }
    let Pair { mut reactor, client, mut server } = pair;
    client.pipe.reset_on_drop();
    drop(client);
    let mut ready = Vec::new();
    let error = loop {
        server.watch(&reactor, 1);
        reactor.wait(None, &mut ready).unwrap();
        if let Err(error) = server.progress(ready.first().copied()) {
            break error;
        }
    };
    assert!(matches!(error, PipeError::Lost(_)), "{error}");
}

#[test]
fn nobody_listens() {
    let listener = listen("127.0.0.1:0".parse().unwrap(), &SocketOptions::default()).unwrap();
    let remote = listener.local_addr().unwrap();
    drop(listener);
    let reactor = Reactor::new().unwrap();
    let now = Instant::now();
    let error = match Pipe::connect(remote, None, &SocketOptions::default(), None, now) {
        Err(error) => error,
        Ok(mut pipe) => {
            pipe.watch(&reactor, Token(0), true, true).unwrap();
            let (mut reactor, mut ready) = (reactor, Vec::new());
            reactor.wait(None, &mut ready).unwrap();
            pipe.ready(ready[0], now).unwrap_err()
        }
    };
    assert!(
        matches!(&error, PipeError::Connect(e) if e.kind() == std::io::ErrorKind::ConnectionRefused)
    );
}

#[test]
fn a_server_that_is_not_trusted_is_told_so() {
    let [ours, theirs] = [1, 2].map(|seed| Tls::new(seed, &[Protocol::H1], false));
    let sides = sides(&ours.client_config(), &theirs.server_config());
    let mut pair = Pair::new(&SocketOptions::default(), sides, b"up", b"down");
    let error = pair.run().unwrap_err();
    assert!(matches!(error, PipeError::Tls(rustls::Error::InvalidCertificate(_))), "{error}");
    assert!(pair.server.incoming.is_empty());
}
