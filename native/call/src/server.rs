//! The server: sends to whom asks, receives from whom sends.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use headway_reactor::{
    Application, Clock, Interest, Reactor, Ready, Signal, Signals, Token, UdpSocket, run, say,
};

use crate::Failure;
use crate::message::{Call, Message};
use crate::options::ServerOptions;
use crate::receiver::Receiver;
use crate::report::{Output, host_clock_ns};
use crate::sender::Sender;

const END: Token = Token(0);
const ACT: Token = Token(1);
const UDP: Token = Token(2);
/// Datagrams that a call may send before others have their turn, however fast it was asked to be.
const MOST_A_TURN: usize = 64;
/// A call of which nothing was heard for so long is over.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves until a signal ends it.
pub(crate) fn serve(options: &ServerOptions) -> Result<(), Failure> {
    let clock = Clock::start();
    let output = Output::open(&options.report, clock)?;
    let mut reactor = Reactor::new()?;
    let failed = |error| Failure::Bind(options.listen, error);
    let socket = UdpSocket::bind(options.listen).map_err(failed)?;
    reactor.register(&socket, UDP, Interest::Read)?;
    let signals = Signals::register(&reactor, END, ACT)?;
    say!("headway-call: on {}", socket.local_address()?);
    let mut server = Server {
        socket,
        signals,
        clock,
        output,
        max_calls: options.max_calls,
        secret: RandomState::new(),
        senders: BTreeMap::new(),
        receivers: BTreeMap::new(),
        finished: false,
    };
    run(&mut reactor, &mut server)
}

struct Server {
    socket: UdpSocket,
    signals: Signals,
    clock: Clock,
    output: Output,
    max_calls: usize,
    /// Of which tokens are made.
    secret: RandomState,
    senders: BTreeMap<SocketAddr, (Call, Sender)>,
    receivers: BTreeMap<SocketAddr, Receiver>,
    finished: bool,
}

impl Server {
    fn send(&mut self, to: SocketAddr, message: Message, payload_bytes: u16) {
        self.socket.send((to, None, None), &message.written(payload_bytes));
        self.socket.flush();
    }

    fn has_room(&self) -> bool {
        self.senders.len() + self.receivers.len() < self.max_calls
    }

    fn heard(
        &mut self,
        from: SocketAddr,
        message: Message,
        bytes: usize,
        now: Instant,
        clock_ns: u64,
    ) -> Result<(), Failure> {
        match message {
            Message::Ask(call, token) => self.asked(from, call, token, now),
            Message::Media(media) => {
                if self.has_room() || self.receivers.contains_key(&from) {
                    let begin = || Receiver::begin(&media, now);
                    let receiver = self.receivers.entry(from).or_insert_with(begin);
                    receiver.received(&media, bytes, now, clock_ns);
                }
            }
            Message::End => {
                self.over(from)?;
                self.send(from, Message::Acknowledge, 0);
            }
            Message::Acknowledge => {
                if let Some((_, sender)) = self.senders.get_mut(&from) {
                    sender.acknowledged();
                }
            }
            Message::Challenge(_) => {}
        }
        Ok(())
    }

    fn asked(&mut self, from: SocketAddr, call: Call, token: u64, now: Instant) {
        let expected = self.secret.hash_one(from);
        if token != expected {
            self.send(from, Message::Challenge(expected), 0);
        } else if self.has_room() {
            self.senders.entry(from).or_insert_with(|| (call, Sender::begin(call, now)));
        }
    }

    /// An upload is over, and told of.
    fn over(&mut self, from: SocketAddr) -> Result<(), Failure> {
        let Some(receiver) = self.receivers.remove(&from) else { return Ok(()) };
        let (began, last) = (receiver.began(), receiver.last());
        let heard = receiver.report(self.clock.seconds(began), self.clock.seconds(last));
        self.output.write(from, (began, last), 0, Some(&heard))
    }

    fn all_over(&mut self) -> Result<(), Failure> {
        let callers: Vec<_> = self.receivers.keys().copied().collect();
        callers.into_iter().try_for_each(|from| self.over(from))
    }
}

impl Application for Server {
    type Error = Failure;

    fn ready(&mut self, _: &Reactor, now: Instant, ready: Ready) -> Result<(), Failure> {
        if ready.token != UDP {
            if self.signals.take(ready.token) == Some(Signal::End) {
                self.finished = true;
                return self.all_over();
            }
            return Ok(());
        }
        let clock_ns = host_clock_ns();
        let mut messages = Vec::new();
        self.socket.receive(|datagram| {
            let said = Message::read(datagram.payload);
            messages.extend(said.map(|said| (datagram.remote, said, datagram.payload.len())));
        })?;
        for (from, message, bytes) in messages {
            self.heard(from, message, bytes, now, clock_ns)?;
        }
        Ok(())
    }

    fn turn(&mut self, _: &Reactor, now: Instant) -> Result<(), Failure> {
        let mut due = Vec::new();
        for (&to, (call, sender)) in &mut self.senders {
            let mut media = std::iter::from_fn(|| sender.due(now, host_clock_ns()));
            due.extend(media.by_ref().take(MOST_A_TURN).map(|said| (to, said, call.payload_bytes)));
        }
        due.into_iter().for_each(|(to, message, bytes)| self.send(to, message, bytes));
        self.senders.retain(|_, (_, sender)| !sender.is_over());
        let silent = |receiver: &Receiver| receiver.last() + PATIENCE <= now;
        let quiet: Vec<_> =
            self.receivers.iter().filter(|(_, one)| silent(one)).map(|(&from, _)| from).collect();
        quiet.into_iter().try_for_each(|from| self.over(from))
    }

    fn deadline(&self) -> Option<Instant> {
        let senders = self.senders.values().filter_map(|(_, sender)| sender.deadline()).min();
        let receivers = self.receivers.values().map(|one| one.last() + PATIENCE).min();
        [senders, receivers].into_iter().flatten().min()
    }

    fn finished(&self) -> bool {
        self.finished
    }
}
