use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use headway_http::tcp::{Pipe, Reading, SocketOptions, TlsSide};
use headway_reactor::{Reactor, Ready, Token};

use crate::channel::{Channel, TcpChannel};
use crate::client::link::{Ends, Link};
use crate::failure::Failure;
use crate::flow::Flow;

/// A TCP connection, with or without TLS.
pub(crate) struct TcpLink {
    channel: TcpChannel,
    reading: Reading,
    early: bool,
    established: bool,
    /// It ends with a reset, and needs to wait for nothing.
    reset: bool,
}

impl TcpLink {
    /// Begins to connect.
    pub(crate) fn connect(
        ends: Ends,
        options: &SocketOptions,
        tls: Option<TlsSide>,
        now: Instant,
    ) -> Result<Self, Failure> {
        let pipe = Pipe::connect(ends.server, Some(ends.local), options, tls, now)?;
        let (channel, reading) = (TcpChannel::new(pipe), Reading::Open);
        let mut link = Self { channel, reading, early: false, established: false, reset: false };
        // Before the handshake, there is room for early data only.
        link.early = ends.early_data && link.channel.room() > 0;
        Ok(link)
    }

    fn establish(&mut self, flow: &mut Flow) -> Result<(), Failure> {
        let Some(at) = self.channel.established().filter(|_| !self.established) else {
            return Ok(());
        };
        self.established = true;
        flow.established(at);
        if self.early {
            let security = self.channel.pipe.security();
            flow.tried_early_data(security.is_some_and(|security| security.early_data));
        }
        Ok(self.channel.settle()?)
    }
}

impl Link for TcpLink {
    fn local_address(&self) -> io::Result<SocketAddr> {
        self.channel.pipe.local_address()
    }

    fn ready(&mut self, now: Instant, ready: Ready, flow: &mut Flow) -> Result<(), Failure> {
        self.channel.pipe.ready(ready, now)?;
        let mut bytes = 0;
        if ready.readable {
            self.reading = self.channel.pipe.read(now, |data| bytes += data.len() as u64)?;
        }
        self.establish(flow)?;
        if bytes > 0 {
            flow.received(now, bytes, &self.channel)?;
        }
        if self.reading == Reading::Ended { flow.server_ended(now, &self.channel) } else { Ok(()) }
    }

    fn turn(
        &mut self,
        reactor: &Reactor,
        token: Token,
        now: Instant,
        flow: &mut Flow,
    ) -> Result<(), Failure> {
        flow.advance(now, &mut self.channel)?;
        let read = self.reading == Reading::Open;
        Ok(self.channel.pipe.watch(reactor, token, read, flow.wants_room())?)
    }

    fn deadline(&mut self) -> Option<Instant> {
        None
    }

    /// Only a reset stops a peer, and proxies on the way, that have more to send.
    fn close(&mut self, _: Instant, cut_off: bool) -> Result<(), Failure> {
        if !cut_off {
            return self.channel.finish();
        }
        self.channel.pipe.reset_on_drop();
        self.reset = true;
        Ok(())
    }

    fn is_closed(&mut self) -> bool {
        self.reset || (self.reading == Reading::Ended && self.channel.pipe.is_finished())
    }
}
