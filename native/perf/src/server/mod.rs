//! The server: sends and receives what clients want, and reports every flow when it is over.

mod guests;
mod quic;
mod recorder;
mod tcp;

use std::time::Instant;

use headway_http::tls::Identity;
use headway_reactor::{
    Application, Reactor, Ready, Signal, Signals, Token, need_descriptors, run, say,
};

use crate::failure::StartError;
use crate::options::ServerOptions;
use crate::report::Transport;
use crate::server::guests::Guests;
use crate::server::quic::QuicServer;
use crate::server::recorder::Recorder;
use crate::server::tcp::TcpServer;
use headway_reactor::Clock;

const END: Token = Token(0);
const ACT: Token = Token(1);
const UDP: Token = Token(2);
/// TCP's listener; the tokens of its connections follow.
const TCP: Token = Token(3);

/// Serves until a signal ends it.
pub(crate) fn serve(options: &ServerOptions) -> Result<(), StartError> {
    options.check()?;
    need_descriptors(options.descriptors())?;
    let mut reactor = Reactor::new()?;
    let mut server = Server::start(options, &reactor)?;
    run(&mut reactor, &mut server)
}

struct Server {
    signals: Signals,
    quic: Option<QuicServer>,
    tcp: Option<TcpServer>,
    recorder: Recorder,
    guests: Guests,
    finished: bool,
}

impl Server {
    fn start(options: &ServerOptions, reactor: &Reactor) -> Result<Self, StartError> {
        let identity = match (&options.certificate, &options.key) {
            (Some(certificate), Some(key)) => Some(Identity::from_pem_files(certificate, key)?),
            _ => None,
        };
        let interval = options.transports.interval;
        let mut server = Self {
            signals: Signals::register(reactor, END, ACT)?,
            quic: None,
            tcp: None,
            recorder: Recorder::open(options.report.as_deref(), Clock::start(), interval)?,
            guests: Guests::new(options.limits, options.max_connections),
            finished: false,
        };
        for &transport in &options.transport {
            match (transport, &identity) {
                (Transport::Quic, Some(identity)) => {
                    server.quic = Some(QuicServer::listen(options, identity, reactor, UDP)?);
                }
                (transport, identity) => {
                    let identity = identity.as_ref().filter(|_| transport == Transport::Tls);
                    server.tcp = Some(TcpServer::listen(options, identity, reactor, TCP)?);
                }
            }
        }
        Ok(server)
    }

    fn end(&mut self, now: Instant) -> Result<(), StartError> {
        if let Some(quic) = &mut self.quic {
            quic.end(now, &mut self.recorder)?;
        }
        if let Some(tcp) = &mut self.tcp {
            tcp.end(now, &mut self.recorder)?;
        }
        self.guests.refusals().for_each(|refusal| say!("headway-perf: {refusal}"));
        self.finished = true;
        Ok(())
    }
}

impl Application for Server {
    type Error = StartError;

    fn ready(&mut self, reactor: &Reactor, now: Instant, ready: Ready) -> Result<(), StartError> {
        match ready.token {
            END | ACT if self.signals.take(ready.token) == Some(Signal::End) => self.end(now),
            // There is nothing to be done on command.
            END | ACT => Ok(()),
            UDP => self.quic.as_mut().map_or(Ok(()), |quic| Ok(quic.receive(now)?)),
            _ => match &mut self.tcp {
                Some(tcp) => tcp.ready(reactor, now, ready, &self.recorder, &mut self.guests),
                None => Ok(()),
            },
        }
    }

    fn turn(&mut self, reactor: &Reactor, now: Instant) -> Result<(), StartError> {
        if let Some(quic) = &mut self.quic {
            quic.turn(now, &mut self.recorder, &mut self.guests)?;
        }
        match &mut self.tcp {
            Some(tcp) => tcp.turn(reactor, now, &mut self.recorder, &mut self.guests),
            None => Ok(()),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let quic = self.quic.as_ref().and_then(QuicServer::deadline);
        [quic, self.tcp.as_ref().and_then(TcpServer::deadline)].into_iter().flatten().min()
    }

    fn finished(&self) -> bool {
        self.finished
    }
}
