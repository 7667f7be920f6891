use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use headway_http::tls::Identity;
use headway_knobs::limits::Limits as _;
use headway_quic::{
    Close, ConnectionKey, Dir, Endpoint, Event, QuicServerConfig, Read, Seed, StreamId, UdpEndpoint,
};
use headway_reactor::{Interest, Looks, Reactor, Token, UdpSocket, say};
use headway_schedule::Strategy;

use crate::answer::Answer;
use crate::channel::{Established, QuicChannel};
use crate::failure::{Failure, StartError};
use crate::options::ServerOptions;
use crate::report::Transport;
use crate::server::guests::{Guests, Patience, Phase};
use crate::server::recorder::Recorder;
use crate::tls;

/// The application's error code of a connection that is no longer needed.
const DONE: u64 = 0;
/// The code for streams that this server has no use for.
const UNWANTED: u64 = 1;
/// The code of a connection that met a limit.
const LIMIT: u64 = 2;

/// QUIC's side of the server: any number of connections, and any number of flows on each.
pub(crate) struct QuicServer {
    udp: UdpEndpoint,
    tls: Arc<QuicServerConfig>,
    config: Arc<headway_quic::Config>,
    connections: BTreeMap<ConnectionKey, Client>,
    answers: BTreeMap<(ConnectionKey, StreamId), Answer>,
    looks: Looks<ConnectionKey>,
    deadline: Option<Instant>,
}

/// What is known of a client.
struct Client {
    first_seen: Instant,
    connected: Option<Instant>,
    local: Option<SocketAddr>,
    remote: SocketAddr,
    /// In a handshake, and its address was not validated.
    is_half_open: bool,
    patience: Patience,
    /// Bytes of flows that are over, and one for each.
    advanced: u64,
}

impl QuicServer {
    /// Listens for connections.
    pub(crate) fn listen(
        options: &ServerOptions,
        identity: &Identity,
        reactor: &Reactor,
        token: Token,
    ) -> Result<Self, StartError> {
        let tls = tls::quic_server(identity, options.early_data)?;
        let config = Arc::new(options.quic()?);
        let failed = |error| StartError::Listen(options.listen, error);
        let socket = UdpSocket::bind(options.listen).map_err(failed)?;
        say!("headway-perf: quic on {}", socket.local_address()?);
        reactor.register(&socket, token, Interest::Read)?;
        let mut endpoint = Endpoint::server(Arc::clone(&tls), &Seed::secret());
        if options.limits.newcomers.half_open_percent.is_some() {
            endpoint = endpoint.giving_tokens();
        }
        let udp = UdpEndpoint::new(endpoint, socket, config.cpu_cost);
        let (connections, answers) = (BTreeMap::new(), BTreeMap::new());
        let looks = Looks::new(options.limits.shortest_time());
        Ok(Self { udp, tls, config, connections, answers, looks, deadline: None })
    }

    /// The socket is ready.
    pub(crate) fn receive(&mut self, now: Instant) -> io::Result<()> {
        self.udp.receive(now)
    }

    /// Lets all flows advance, and sends what is due.
    pub(crate) fn turn(
        &mut self,
        now: Instant,
        recorder: &mut Recorder,
        guests: &mut Guests,
    ) -> Result<(), StartError> {
        self.accept(now, guests)?;
        self.handle_events(now, recorder, guests);
        self.look(now, guests);
        loop {
            self.advance(now);
            self.record(recorder, guests)?;
            self.udp.transmit(now)?;
            if !self.handle_events(now, recorder, guests) {
                break;
            }
        }
        let answers = self.answers.values().filter_map(Answer::deadline).min();
        let own = [self.udp.endpoint.deadline(), answers, self.looks.deadline()];
        self.deadline = own.into_iter().flatten().min();
        Ok(())
    }

    /// When it wants its next turn.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The server ends: what is under way is told, to clients and to the recorder.
    pub(crate) fn end(&mut self, now: Instant, recorder: &mut Recorder) -> Result<(), StartError> {
        self.answers.values_mut().for_each(|answer| answer.fail(now, &Failure::Interrupted));
        self.record_answers(recorder)?;
        for &key in self.connections.keys() {
            if let Some(connection) = self.udp.endpoint.connection(key) {
                connection.close(now, DONE, "the server ends");
            }
        }
        Ok(self.udp.transmit(now)?)
    }

    fn accept(&mut self, now: Instant, guests: &mut Guests) -> io::Result<()> {
        let (endpoint, socket) = self.udp.parts();
        while let Some(incoming) = endpoint.next_incoming() {
            let (remote, is_validated) = (incoming.remote_address(), incoming.is_validated());
            if !guests.has_room() {
                endpoint.refuse(socket, incoming)?;
                continue;
            }
            if !is_validated && guests.is_crowded() {
                endpoint.retry(socket, incoming)?;
                continue;
            }
            if !guests.enter(remote.ip()) {
                endpoint.refuse(socket, incoming)?;
                continue;
            }
            let bound = socket.local_address().ok();
            let local =
                bound.map(|at| SocketAddr::new(incoming.local_ip().unwrap_or(at.ip()), at.port()));
            let (tls, scheduler) = (Arc::clone(&self.tls), Strategy::RoundRobin.scheduler());
            // One that is no good is the client's affair.
            let Ok(key) = endpoint.accept(now, socket, incoming, tls, &self.config, scheduler)
            else {
                guests.leave(remote.ip());
                continue;
            };
            if !is_validated {
                guests.begin_half_open();
            }
            let client = Client {
                first_seen: now,
                connected: None,
                local,
                remote,
                is_half_open: !is_validated,
                patience: Patience::new(now),
                advanced: 0,
            };
            self.connections.insert(key, client);
            self.looks.add(key, now, None);
        }
        Ok(())
    }

    /// Ends connections whose clients have had their time.
    fn look(&mut self, now: Instant, guests: &Guests) {
        while let Some(key) = self.looks.next(now) {
            let phase = self.phase(key);
            let Some(client) = self.connections.get_mut(&key) else { continue };
            match client.patience.check(phase, now, &guests.limits) {
                Ok(at) => self.looks.add(key, now, at),
                Err(reason) => self.expire(now, key, reason),
            }
        }
    }

    /// What a connection is in the middle of.
    fn phase(&self, key: ConnectionKey) -> Phase {
        let Some(client) = self.connections.get(&key) else { return Phase::Handshake };
        if client.connected.is_none() {
            return Phase::Handshake;
        }
        let answers = self.answers.iter().filter(|((of, _), _)| *of == key);
        let advanced = answers.filter_map(|(_, answer)| answer.advanced()).reduce(|a, b| a + b);
        match (client.advanced, advanced) {
            (0, None) => Phase::Request,
            (before, now) => Phase::Flows(before + now.unwrap_or(0)),
        }
    }

    /// A client's connection ends for what it did not do, which it is told.
    fn expire(&mut self, now: Instant, key: ConnectionKey, reason: String) {
        if let Some(connection) = self.udp.endpoint.connection(key) {
            connection.close(now, LIMIT, &reason);
        }
        let failure = Failure::Limit(reason);
        let answers = self.answers.iter_mut().filter(|((of, _), _)| *of == key);
        answers.for_each(|(_, answer)| answer.fail(now, &failure));
    }

    /// # Returns
    /// Whether there were any.
    fn handle_events(&mut self, now: Instant, recorder: &Recorder, guests: &mut Guests) -> bool {
        let mut any = false;
        while let Some((key, event)) = self.udp.endpoint.poll() {
            any = true;
            match event {
                Event::Connected { .. } => self.connected(now, key, guests),
                Event::Opened(stream) => self.open(now, key, stream, recorder),
                Event::Readable(stream) => self.read(now, key, stream),
                Event::Sent(stream) => self.delivered(now, key, stream),
                Event::Stopped(stream, _) => {
                    if let Some(answer) = self.answers.get_mut(&(key, stream)) {
                        answer.stop();
                    }
                    self.delivered(now, key, stream);
                }
                Event::Closed(close) => self.closed(now, key, close),
                Event::Writable(_) | Event::Failed(..) | Event::Available(_) => {}
            }
        }
        any
    }

    fn connected(&mut self, now: Instant, key: ConnectionKey, guests: &mut Guests) {
        if let Some(client) = self.connections.get_mut(&key) {
            client.connected = Some(now);
            if std::mem::take(&mut client.is_half_open) {
                guests.end_half_open();
            }
        }
        let answers = self.answers.iter_mut().filter(|((of, _), _)| *of == key);
        answers.for_each(|(_, answer)| answer.established(Established::quic(now)));
    }

    /// A connection's first flow begins with the connection.
    fn open(&mut self, now: Instant, key: ConnectionKey, stream: StreamId, recorder: &Recorder) {
        let (Some(client), Some(connection)) =
            (self.connections.get(&key), self.udp.endpoint.connection(key))
        else {
            return;
        };
        if stream.dir() == Dir::Uni {
            connection.stop(stream, UNWANTED);
            return;
        }
        let mut answer = recorder.begin(if stream.index() == 0 { client.first_seen } else { now });
        if let Some(at) = client.connected {
            answer.established(Established::quic(at));
        }
        connection.prioritise(stream, &headway_schedule::Priority::default());
        self.answers.insert((key, stream), answer);
    }

    fn read(&mut self, now: Instant, key: ConnectionKey, stream: StreamId) {
        let (Some(answer), Some(connection)) =
            (self.answers.get_mut(&(key, stream)), self.udp.endpoint.connection(key))
        else {
            return;
        };
        loop {
            match connection.read(now, stream) {
                Read::Data(data) => answer.received(now, data),
                Read::Finished => {
                    connection.forget(stream);
                    return answer.client_ended(now);
                }
                Read::Reset(code) => return answer.fail(now, &Failure::Reset(code)),
                Read::Blocked => return,
            }
        }
    }

    fn delivered(&mut self, now: Instant, key: ConnectionKey, stream: StreamId) {
        let (Some(answer), Some(connection)) =
            (self.answers.get_mut(&(key, stream)), self.udp.endpoint.connection(key))
        else {
            return;
        };
        answer.delivered(now, Some(&QuicChannel { connection, stream }));
    }

    /// A client that closes without an error has what it wanted.
    fn closed(&mut self, now: Instant, key: ConnectionKey, close: Close) {
        let content = matches!(close, Close::Application { code: DONE, .. });
        let failure = Failure::Lost(close);
        for ((_, stream), answer) in self.answers.iter_mut().filter(|((of, _), _)| *of == key) {
            let connection = self.udp.endpoint.connection(key).filter(|_| content);
            match connection {
                Some(connection) => {
                    let channel = QuicChannel { connection, stream: *stream };
                    answer.delivered(now, Some(&channel));
                }
                None => answer.fail(now, &failure),
            }
        }
    }

    fn advance(&mut self, now: Instant) {
        for (&(key, stream), answer) in &mut self.answers {
            if let Some(connection) = self.udp.endpoint.connection(key) {
                let result = answer.advance(now, &mut QuicChannel { connection, stream });
                result.expect("writing to a QUIC stream cannot fail");
            }
        }
    }

    fn record(&mut self, recorder: &mut Recorder, guests: &mut Guests) -> Result<(), StartError> {
        self.record_answers(recorder)?;
        let (endpoint, looks) = (&mut self.udp.endpoint, &mut self.looks);
        self.connections.retain(|&key, client| {
            let is_there = endpoint.connection(key).is_some();
            if !is_there {
                guests.leave(client.remote.ip());
                looks.remove(key);
                if client.is_half_open {
                    guests.end_half_open();
                }
            }
            is_there
        });
        Ok(())
    }

    fn record_answers(&mut self, recorder: &mut Recorder) -> Result<(), StartError> {
        let over: Vec<_> = self
            .answers
            .iter()
            .filter(|(_, answer)| answer.is_over())
            .map(|(&key, _)| key)
            .collect();
        for key in over {
            if let (Some(answer), Some(client)) =
                (self.answers.remove(&key), self.connections.get_mut(&key.0))
            {
                client.advanced += 1 + answer.advanced().unwrap_or(0);
                recorder.record(answer, Transport::Quic, client.local, client.remote)?;
            }
        }
        Ok(())
    }
}
