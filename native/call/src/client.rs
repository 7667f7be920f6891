//! The client: one call.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use headway_reactor::{
    Application, Clock, Interest, Reactor, Ready, Signal, Signals, Token, UdpSocket, run,
};

use crate::Failure;
use crate::message::{Call, Direction, Message};
use crate::options::ClientOptions;
use crate::receiver::Receiver;
use crate::report::{Output, host_clock_ns};
use crate::sender::{AGAIN, Sender};

const END: Token = Token(0);
const ACT: Token = Token(1);
const UDP: Token = Token(2);
/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Carries out the call and writes the report.
pub(crate) fn call(options: &ClientOptions) -> Result<(), Failure> {
    let clock = Clock::start();
    let call = options.call()?;
    let mut output = Output::open(&options.report, clock)?;
    let mut reactor = Reactor::new()?;
    let mut client = Client::begin(options, call, &reactor)?;
    run(&mut reactor, &mut client)?;
    let now = Instant::now();
    let sent = client.sender.as_ref().map_or(0, Sender::sent);
    let heard = client.receiver.map(|receiver| {
        let (began, last) = (clock.seconds(receiver.began()), clock.seconds(receiver.last()));
        receiver.report(began, last)
    });
    output.write(options.server, (client.began, now), sent, heard.as_ref())
}

struct Client {
    socket: UdpSocket,
    signals: Signals,
    server: SocketAddr,
    call: Call,
    began: Instant,
    /// Of an upload.
    sender: Option<Sender>,
    /// Of a download, once it comes.
    receiver: Option<Receiver>,
    token: u64,
    next_ask: Option<Instant>,
    /// The end has come, and what it has overtaken may come until then.
    lingers: Option<Instant>,
    finished: bool,
}

impl Client {
    fn begin(options: &ClientOptions, call: Call, reactor: &Reactor) -> Result<Self, Failure> {
        let any = match options.server {
            SocketAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
        };
        let local = SocketAddr::new(options.bind.unwrap_or(any), 0);
        if local.is_ipv4() != any.is_ipv4() {
            return Err(Failure::Options("--bind has an address of the other family"));
        }
        let socket = UdpSocket::bind(local).map_err(|error| Failure::Bind(local, error))?;
        reactor.register(&socket, UDP, Interest::Read)?;
        let began = Instant::now();
        let uploads = call.direction == Direction::Upload;
        Ok(Self {
            socket,
            signals: Signals::register(reactor, END, ACT)?,
            server: options.server,
            call,
            began,
            sender: uploads.then(|| Sender::begin(call, began)),
            receiver: None,
            token: 0,
            next_ask: (!uploads).then_some(began),
            lingers: None,
            finished: false,
        })
    }

    fn send(&mut self, message: Message) {
        self.socket.send((self.server, None, None), &message.written(self.call.payload_bytes));
        self.socket.flush();
    }

    fn heard(&mut self, message: Message, bytes: usize, now: Instant, clock_ns: u64) {
        match message {
            Message::Challenge(token) if self.receiver.is_none() => {
                self.token = token;
                self.next_ask = self.next_ask.map(|_| now);
            }
            Message::Media(media) if self.sender.is_none() => {
                self.next_ask = None;
                let receiver = self.receiver.get_or_insert_with(|| Receiver::begin(&media, now));
                receiver.received(&media, bytes, now, clock_ns);
            }
            Message::End if self.sender.is_none() => {
                self.send(Message::Acknowledge);
                self.lingers.get_or_insert(now + AGAIN);
            }
            Message::Acknowledge => {
                if let Some(sender) = &mut self.sender {
                    sender.acknowledged();
                }
            }
            _ => {}
        }
    }

    /// When to give up: nothing came for long.
    fn gives_up(&self) -> Option<Instant> {
        let last = self.receiver.as_ref().map_or(self.began, Receiver::last);
        let between = Duration::from_nanos(self.call.every_ns);
        self.sender.is_none().then_some(last + PATIENCE.max(between.saturating_mul(2)))
    }
}

impl Application for Client {
    type Error = Failure;

    fn ready(&mut self, _: &Reactor, now: Instant, ready: Ready) -> Result<(), Failure> {
        if ready.token != UDP {
            let ends = self.signals.take(ready.token) == Some(Signal::End);
            return if ends { Err(Failure::Interrupted) } else { Ok(()) };
        }
        let (server, clock_ns) = (self.server, host_clock_ns());
        let mut messages = Vec::new();
        self.socket.receive(|datagram| {
            let said = Message::read(datagram.payload).filter(|_| datagram.remote == server);
            messages.extend(said.map(|message| (message, datagram.payload.len())));
        })?;
        for (message, bytes) in messages {
            self.heard(message, bytes, now, clock_ns);
        }
        Ok(())
    }

    fn turn(&mut self, _: &Reactor, now: Instant) -> Result<(), Failure> {
        if self.next_ask.is_some_and(|at| at <= now) {
            self.next_ask = Some(now + AGAIN);
            self.send(Message::Ask(self.call, self.token));
        }
        while let Some(message) =
            self.sender.as_mut().and_then(|sender| sender.due(now, host_clock_ns()))
        {
            self.send(message);
        }
        self.finished |= self.lingers.is_some_and(|at| at <= now);
        self.finished |= self.sender.as_ref().is_some_and(Sender::is_over);
        if self.gives_up().is_some_and(|at| at <= now) {
            if self.receiver.is_none() {
                return Err(Failure::Silent(self.server));
            }
            // All ends were lost.
            self.finished = true;
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        let sender = self.sender.as_ref().and_then(Sender::deadline);
        [self.next_ask, self.lingers, sender, self.gives_up()].into_iter().flatten().min()
    }

    fn finished(&self) -> bool {
        self.finished
    }
}
