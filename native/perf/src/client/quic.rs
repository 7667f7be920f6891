use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use headway_quic::{
    Close, ConnectionKey, Dir, Endpoint, Event, QuicClientConfig, Read, Seed, StreamId, UdpEndpoint,
};
use headway_reactor::{Interest, Reactor, Ready, Token, UdpSocket};
use headway_schedule::Strategy;
use rustls_pki_types::ServerName;

use crate::channel::{Established, QuicChannel};
use crate::client::link::{Ends, Link};
use crate::failure::Failure;
use crate::flow::Flow;

/// The application's error code of a connection that is no longer needed.
const DONE: u64 = 0;

/// A QUIC connection on a UDP socket of its own: queues that tell flows apart by their ports see
/// it as they see a TCP connection.
pub(crate) struct QuicLink {
    udp: UdpEndpoint,
    key: ConnectionKey,
    stream: Option<StreamId>,
    early: bool,
    registered: bool,
}

impl QuicLink {
    /// Begins to connect.
    pub(crate) fn connect(
        ends: Ends,
        name: &ServerName<'_>,
        tls: &Arc<QuicClientConfig>,
        config: &Arc<headway_quic::Config>,
        now: Instant,
    ) -> Result<Self, Failure> {
        let socket = UdpSocket::bind(ends.local)?;
        let mut endpoint = Endpoint::client(&Seed::secret());
        // One stream needs no scheduling.
        let scheduler = Strategy::Sequential.scheduler();
        let (server, name) = (ends.server, name.to_str());
        let key = endpoint.connect(now, server, &name, Arc::clone(tls), config, scheduler)?;
        let udp = UdpEndpoint::new(endpoint, socket, config.cpu_cost);
        let mut link = Self { udp, key, stream: None, early: false, registered: false };
        let connection = link.udp.endpoint.connection(key);
        link.early = ends.early_data && connection.is_some_and(|c| c.has_early_data());
        if link.early {
            link.open();
        }
        Ok(link)
    }

    fn open(&mut self) {
        let connection = self.udp.endpoint.connection(self.key);
        self.stream = connection.and_then(|connection| connection.open(Dir::Bi));
    }

    fn advance(&mut self, now: Instant, flow: &mut Flow) -> Result<(), Failure> {
        let (Some(stream), Some(connection)) =
            (self.stream, self.udp.endpoint.connection(self.key))
        else {
            return flow.wait(now);
        };
        flow.advance(now, &mut QuicChannel { connection, stream })
    }

    /// # Returns
    /// Whether there were any.
    fn handle_events(&mut self, now: Instant, flow: &mut Flow) -> Result<bool, Failure> {
        let mut any = false;
        while let Some((_, event)) = self.udp.endpoint.poll() {
            any = true;
            match event {
                Event::Connected { early_data_accepted } => {
                    self.connected(now, early_data_accepted, flow);
                }
                Event::Available(Dir::Bi) if self.stream.is_none() => self.open(),
                Event::Readable(stream) => self.read(now, stream, flow)?,
                Event::Stopped(_, code) if !flow.is_over() => return Err(Failure::Reset(code)),
                Event::Closed(close) if !flow.is_over() => return Err(self.lost(close)),
                _ => {}
            }
        }
        Ok(any)
    }

    fn connected(&mut self, now: Instant, early_data_accepted: bool, flow: &mut Flow) {
        flow.established(Established::quic(now));
        if self.early {
            flow.tried_early_data(early_data_accepted);
        }
        if self.early && !early_data_accepted {
            flow.begin_again();
        }
        if !(self.early && early_data_accepted) {
            self.open();
        }
    }

    fn read(&mut self, now: Instant, stream: StreamId, flow: &mut Flow) -> Result<(), Failure> {
        while let Some(connection) = self.udp.endpoint.connection(self.key) {
            match connection.read(now, stream) {
                Read::Data(data) => {
                    let channel = QuicChannel { connection, stream };
                    flow.received(now, data.len() as u64, &channel)?;
                }
                Read::Finished => {
                    connection.forget(stream);
                    return flow.server_ended(now, &QuicChannel { connection, stream });
                }
                Read::Reset(code) => return Err(Failure::Reset(code)),
                Read::Blocked => break,
            }
        }
        Ok(())
    }

    fn lost(&mut self, close: Close) -> Failure {
        let connection = self.udp.endpoint.connection(self.key);
        if self.stream.is_none() || connection.is_some_and(|c| c.is_handshaking()) {
            Failure::Connect(close)
        } else {
            Failure::Lost(close)
        }
    }
}

impl Link for QuicLink {
    fn local_address(&self) -> io::Result<SocketAddr> {
        self.udp.socket().local_address()
    }

    fn ready(&mut self, now: Instant, _: Ready, _: &mut Flow) -> Result<(), Failure> {
        Ok(self.udp.receive(now)?)
    }

    fn turn(
        &mut self,
        reactor: &Reactor,
        token: Token,
        now: Instant,
        flow: &mut Flow,
    ) -> Result<(), Failure> {
        if !std::mem::replace(&mut self.registered, true) {
            reactor.register(self.udp.socket(), token, Interest::Read)?;
        }
        self.handle_events(now, flow)?;
        loop {
            self.advance(now, flow)?;
            self.udp.transmit(now)?;
            if !self.handle_events(now, flow)? {
                return Ok(());
            }
        }
    }

    fn deadline(&mut self) -> Option<Instant> {
        self.udp.endpoint.deadline()
    }

    fn close(&mut self, now: Instant, _: bool) -> Result<(), Failure> {
        if let Some(connection) = self.udp.endpoint.connection(self.key) {
            connection.close(now, DONE, "");
        }
        Ok(())
    }

    /// A closed connection answers what still comes, so that the server learns of its end even if
    /// packets are lost (RFC 9000, section 10.2.1).
    fn is_closed(&mut self) -> bool {
        self.udp.endpoint.connections() == 0
    }
}
