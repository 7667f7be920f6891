use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use headway_http::tcp::{Pipe, Reading, SocketOptions, TlsSide, listen};
use headway_http::tls::Identity;
use headway_knobs::limits::Limits as _;
use headway_reactor::{Acceptor, Looks, Reactor, Ready, Token, say};

use crate::answer::Answer;
use crate::channel::TcpChannel;
use crate::failure::{Failure, StartError};
use crate::options::ServerOptions;
use crate::report::Transport;
use crate::server::guests::{Guests, Patience, Phase};
use crate::server::recorder::Recorder;
use crate::tls;

/// TCP's side of the server: a flow on each connection.
pub(crate) struct TcpServer {
    acceptor: Acceptor,
    tls: Option<TlsSide>,
    options: SocketOptions,
    first_token: u64,
    accepted: u64,
    clients: BTreeMap<Token, Client>,
    looks: Looks<Token>,
    deadline: Option<Instant>,
}

impl TcpServer {
    /// Listens for connections, with TLS if there is an identity.
    pub(crate) fn listen(
        options: &ServerOptions,
        identity: Option<&Identity>,
        reactor: &Reactor,
        token: Token,
    ) -> Result<Self, StartError> {
        let (early_data, record_bytes) = (options.early_data, options.transports.record_bytes());
        let tls = |identity| tls::server(identity, early_data, record_bytes);
        let tls = identity.map(tls).transpose()?;
        let tcp = options.transports.tcp();
        let failed = |error| StartError::Listen(options.listen, error);
        let listener = listen(options.listen, &tcp).map_err(failed)?;
        let name = if tls.is_some() { "tls" } else { "tcp" };
        say!("headway-perf: {name} on {}", listener.local_addr()?);
        Ok(Self {
            acceptor: Acceptor::register(listener, reactor, token)?,
            tls: tls.map(TlsSide::Server),
            options: tcp,
            first_token: token.0,
            accepted: 0,
            clients: BTreeMap::new(),
            looks: Looks::new(options.limits.shortest_time()),
            deadline: None,
        })
    }

    /// The listener or a connection is ready.
    pub(crate) fn ready(
        &mut self,
        reactor: &Reactor,
        now: Instant,
        ready: Ready,
        recorder: &Recorder,
        guests: &mut Guests,
    ) -> Result<(), StartError> {
        if ready.token.0 == self.first_token {
            return self.accept(reactor, now, recorder, guests);
        }
        if let Some(client) = self.clients.get_mut(&ready.token) {
            if let Err(failure) = client.ready(now, ready) {
                client.fail(now, &failure);
            }
        }
        Ok(())
    }

    /// Lets all flows advance.
    pub(crate) fn turn(
        &mut self,
        reactor: &Reactor,
        now: Instant,
        recorder: &mut Recorder,
        guests: &mut Guests,
    ) -> Result<(), StartError> {
        self.acceptor.turn(reactor, now)?;
        self.look(now, guests);
        for (&token, client) in &mut self.clients {
            if let Err(failure) = client.turn(reactor, token, now) {
                client.fail(now, &failure);
            }
            client.record(recorder)?;
        }
        let looks = &mut self.looks;
        self.clients.retain(|&token, client| {
            let is_gone = client.is_gone();
            if is_gone {
                guests.leave(client.remote.ip());
                looks.remove(token);
            }
            !is_gone
        });
        let flows = self.clients.values().map(Client::deadline);
        let own = [self.acceptor.deadline(), self.looks.deadline()];
        self.deadline = flows.chain(own).flatten().min();
        Ok(())
    }

    /// Ends connections whose clients have had their time.
    fn look(&mut self, now: Instant, guests: &Guests) {
        while let Some(token) = self.looks.next(now) {
            let Some(client) = self.clients.get_mut(&token) else { continue };
            match client.patience.check(client.phase(), now, &guests.limits) {
                Ok(at) => self.looks.add(token, now, at),
                Err(reason) => {
                    // What the client does not take, the kernel would keep for it.
                    client.channel.pipe.reset_on_drop();
                    client.fail(now, &Failure::Limit(reason));
                }
            }
        }
    }

    /// When it wants its next turn.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The server ends: what is under way is told to the recorder.
    pub(crate) fn end(&mut self, now: Instant, recorder: &mut Recorder) -> Result<(), StartError> {
        for client in self.clients.values_mut() {
            client.fail(now, &Failure::Interrupted);
            client.record(recorder)?;
        }
        self.clients.clear();
        Ok(())
    }

    fn accept(
        &mut self,
        reactor: &Reactor,
        now: Instant,
        recorder: &Recorder,
        guests: &mut Guests,
    ) -> Result<(), StartError> {
        while let Some((stream, remote)) = self.acceptor.accept(reactor, now)? {
            if !(guests.has_room() && guests.enter(remote.ip())) {
                continue;
            }
            let Ok(client) = self.client(stream, remote, now, recorder) else {
                guests.leave(remote.ip());
                continue;
            };
            self.accepted += 1;
            let token = Token(self.first_token + self.accepted);
            self.clients.insert(token, client);
            self.looks.add(token, now, None);
        }
        Ok(())
    }

    fn client(
        &self,
        stream: TcpStream,
        remote: SocketAddr,
        now: Instant,
        recorder: &Recorder,
    ) -> Result<Client, Failure> {
        let transport = if self.tls.is_some() { Transport::Tls } else { Transport::Tcp };
        let pipe = Pipe::accept(stream, &self.options, self.tls.clone(), now)?;
        Ok(Client {
            transport,
            local: pipe.local_address().ok(),
            remote,
            channel: TcpChannel::new(pipe),
            answer: Some(recorder.begin(now)),
            reading: Reading::Open,
            patience: Patience::new(now),
            failed: false,
        })
    }
}

/// A connection and its flow.
struct Client {
    transport: Transport,
    local: Option<SocketAddr>,
    remote: SocketAddr,
    channel: TcpChannel,
    /// Until it is recorded.
    answer: Option<Answer>,
    reading: Reading,
    patience: Patience,
    failed: bool,
}

impl Client {
    fn ready(&mut self, now: Instant, ready: Ready) -> Result<(), Failure> {
        self.channel.pipe.ready(ready, now)?;
        if !ready.readable || self.reading == Reading::Ended {
            return Ok(());
        }
        let mut pieces = Vec::new();
        self.reading = self.channel.pipe.read(now, |piece| pieces.push(piece))?;
        self.channel.settle()?;
        let Some(answer) = &mut self.answer else { return Ok(()) };
        if let Some(at) = self.channel.established() {
            answer.established(at);
        }
        pieces.into_iter().for_each(|piece| answer.received(now, piece));
        if self.reading == Reading::Ended {
            answer.client_ended(now);
        }
        Ok(())
    }

    fn turn(&mut self, reactor: &Reactor, token: Token, now: Instant) -> Result<(), Failure> {
        let mut wants_room = false;
        if let Some(answer) = &mut self.answer {
            answer.advance(now, &mut self.channel)?;
            if answer.has_finished() {
                answer.delivered(now, Some(&self.channel));
            }
            wants_room = answer.wants_room();
        }
        let read = self.reading == Reading::Open;
        Ok(self.channel.pipe.watch(reactor, token, read, wants_room)?)
    }

    fn fail(&mut self, now: Instant, failure: &Failure) {
        self.failed = true;
        let Some(answer) = &mut self.answer else { return };
        if failure.is_reset() && answer.is_unlimited() {
            // It is a client's only way to tell that it has enough.
            answer.delivered(now, Some(&self.channel));
        } else {
            answer.fail(now, failure);
        }
    }

    /// What it is in the middle of. Once its flow is recorded, its end is all that is missing.
    fn phase(&self) -> Phase {
        let Some(answer) = &self.answer else { return Phase::Flows(u64::MAX) };
        if self.channel.established().is_none() {
            return Phase::Handshake;
        }
        answer.advanced().map_or(Phase::Request, Phase::Flows)
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<(), StartError> {
        match self.answer.take_if(|answer| answer.is_over()) {
            Some(answer) => recorder.record(answer, self.transport, self.local, self.remote),
            None => Ok(()),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.answer.as_ref().and_then(Answer::deadline)
    }

    /// Whether both sides have ended, and all is told.
    fn is_gone(&self) -> bool {
        let ended = self.reading == Reading::Ended && self.channel.pipe.is_finished();
        self.failed || (ended && self.answer.is_none())
    }
}
