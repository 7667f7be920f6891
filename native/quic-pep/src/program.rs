use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Instant;

use headway_quic::Seed;
use headway_quic_pep::{Peer, Pep};
use headway_reactor::{Application, Log, Reactor, Ready, Signal, Signals, Token, say};

use crate::log::Entry;
use crate::options::{Options, StartError};
use crate::port::Port;

const END: Token = Token(0);
const ACT: Token = Token(1);
const CLIENTS: Token = Token(2);
const SERVER: Token = Token(3);

/// The proxy and its sockets.
pub(crate) struct Program {
    signals: Signals,
    pep: Pep,
    clients: Port,
    server: Port,
    log: Log,
    deadline: Option<Instant>,
    finished: bool,
}

impl Program {
    /// Listens.
    pub(crate) fn start(options: &Options, reactor: &Reactor) -> Result<Self, StartError> {
        let log = Log::open("headway-quic-pep: log", options.log.as_deref(), Instant::now())?;
        let settings = options.settings()?;
        let (client_cost, server_cost) = (settings.downstream.cpu_cost, settings.upstream.cpu_cost);
        let clients = Port::bind(options.listen, client_cost, reactor, CLIENTS)
            .map_err(|error| StartError::Listen(options.listen, error))?;
        let server = Port::bind(anywhere(settings.next_hop), server_cost, reactor, SERVER)?;
        say!("headway-quic-pep: {}", clients.local_address()?);
        Ok(Self {
            signals: Signals::register(reactor, END, ACT)?,
            pep: Pep::new(settings, options.tls()?, &[Seed::secret(), Seed::secret()]),
            clients,
            server,
            log,
            deadline: None,
            finished: false,
        })
    }

    fn receive(&mut self, now: Instant, peer: Peer) -> io::Result<()> {
        let port = match peer {
            Peer::Client => &mut self.clients,
            Peer::Server => &mut self.server,
        };
        for datagram in port.receive()? {
            self.pep.receive(now, peer, port, datagram)?;
        }
        Ok(())
    }
}

impl Application for Program {
    type Error = io::Error;

    fn ready(&mut self, _reactor: &Reactor, now: Instant, ready: Ready) -> io::Result<()> {
        match ready.token {
            CLIENTS => self.receive(now, Peer::Client),
            SERVER => self.receive(now, Peer::Server),
            signal => {
                // There is nothing to be done on command.
                if self.signals.take(signal) == Some(Signal::End) {
                    self.pep.close(now, "the proxy ends");
                    self.finished = true;
                }
                Ok(())
            }
        }
    }

    fn turn(&mut self, _reactor: &Reactor, now: Instant) -> io::Result<()> {
        self.pep.transmit(now, &mut self.clients, &mut self.server)?;
        self.clients.flush();
        self.server.flush();
        while let Some(record) = self.pep.next_record() {
            self.log.write(|log| Entry::new(log, &record));
        }
        if self.finished {
            self.log.end();
            if let Some(refusals) = self.pep.refusals() {
                say!("headway-quic-pep: {refusals}");
            }
        } else {
            self.log.flush();
        }
        self.deadline = self.pep.deadline();
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn finished(&self) -> bool {
        self.finished
    }
}

/// An address of this host, whichever reaches the next hop.
fn anywhere(next_hop: SocketAddr) -> SocketAddr {
    let any = match next_hop {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    SocketAddr::new(any, 0)
}
