use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_http::event::{Asked, ClientEvent, RequestId};
use headway_http::side::ClientSide;
use headway_http::tcp::{
    HeldBytes, Milestones, Pipe, PipeError, Reading, Release, Security, SocketOptions, TcpInfo,
    TlsSide,
};
use headway_http::tls::Protocol;
use headway_http::{h1, h2};
use headway_reactor::{Reactor, Ready, Token};
use rustls::ClientConfig;
use rustls_pki_types::ServerName;

use super::Transport;
use crate::report::{ConnectionRow, ReleaseRow, TcpRow};
use crate::target::Origin;
use headway_reactor::Clock;

/// What all connections over TCP have in common.
pub(crate) struct TcpConnector {
    /// HTTP/1.1 or HTTP/2.
    pub(crate) protocol: Protocol,
    /// What sockets are set to.
    pub(crate) socket: SocketOptions,
    /// The address to connect from.
    pub(crate) local: Option<SocketAddr>,
    /// How TLS is spoken.
    pub(crate) tls: Arc<ClientConfig>,
    /// HTTP/2's windows.
    pub(crate) h2: h2::ClientOptions,
}

impl TcpConnector {
    /// Begins to connect. What goes wrong is told by the requests' events.
    pub(crate) fn connect(
        &self,
        number: u64,
        origin: &Origin,
        remote: SocketAddr,
        token: Token,
        now: Instant,
    ) -> Box<dyn Transport> {
        let side: Box<dyn ClientSide> = match self.protocol {
            Protocol::H2 => Box::new(h2::Client::new(self.h2)),
            _ => Box::new(h1::Client::default()),
        };
        let mut transport = TcpTransport {
            number,
            token,
            protocol: self.protocol,
            remote,
            begun: now,
            pipe: None,
            side,
            last: LastKnown::default(),
            held: HeldBytes::default(),
            releases: Vec::new(),
            error: None,
        };
        match self.pipe(origin, remote, now) {
            Ok(pipe) => transport.pipe = Some(pipe),
            Err(error) => transport.error = Some(error.to_string()),
        }
        Box::new(transport)
    }

    fn pipe(&self, origin: &Origin, remote: SocketAddr, now: Instant) -> Result<Pipe, PipeError> {
        let tls = match origin.secure {
            false => None,
            true => {
                let name = ServerName::try_from(origin.host.clone());
                let name = name.map_err(|error| rustls::Error::General(error.to_string()))?;
                Some(TlsSide::Client(self.tls.clone(), name))
            }
        };
        Pipe::connect(remote, self.local, &self.socket, tls, now)
    }
}

/// HTTP/1.1 or HTTP/2 over TCP.
pub(super) struct TcpTransport {
    number: u64,
    token: Token,
    protocol: Protocol,
    remote: SocketAddr,
    begun: Instant,
    /// Until it has ended.
    pipe: Option<Pipe>,
    side: Box<dyn ClientSide>,
    last: LastKnown,
    held: HeldBytes,
    releases: Vec<Release>,
    error: Option<String>,
}

/// What was known of the pipe when it ended.
#[derive(Default)]
struct LastKnown {
    milestones: Option<Milestones>,
    security: Option<Security>,
    local: Option<SocketAddr>,
    info: Option<TcpInfo>,
}

impl LastKnown {
    fn of(pipe: &Pipe) -> Self {
        Self {
            milestones: Some(pipe.milestones()),
            security: pipe.security(),
            local: pipe.local_address().ok(),
            info: pipe.info().ok(),
        }
    }
}

impl TcpTransport {
    /// The connection is over: responses under way are incomplete.
    fn close(&mut self, reason: &str, orderly: bool) {
        if let Some(pipe) = self.pipe.take() {
            self.last = LastKnown::of(&pipe);
        }
        if !orderly {
            self.error = Some(reason.to_owned());
        }
        self.side.close(reason, orderly);
    }

    fn receive(&mut self, ready: Ready, now: Instant) -> Result<Reading, PipeError> {
        let Some(pipe) = &mut self.pipe else { return Ok(Reading::Open) };
        pipe.ready(ready, now)?;
        if !ready.readable {
            return Ok(Reading::Open);
        }
        let before = pipe.read_bytes();
        let reading = pipe.read(now, |piece| self.side.receive(piece));
        let came = pipe.read_bytes() - before;
        self.releases.extend(self.held.read(now, came, || pipe.info().ok()));
        reading
    }

    fn write(&mut self) -> Result<(), PipeError> {
        let Some(pipe) = &mut self.pipe else { return Ok(()) };
        if pipe.is_established()
            && self.protocol == Protocol::H2
            && pipe.protocol() != Some(Protocol::H2)
        {
            return Err(PipeError::Tls(rustls::Error::NoApplicationProtocol));
        }
        let mut bytes = BytesMut::new();
        while self.side.wants_send() {
            let room = pipe.room();
            if room == 0 {
                break;
            }
            self.side.send(room, &mut bytes);
            pipe.write(bytes.split().freeze())?;
        }
        Ok(())
    }
}

impl Transport for TcpTransport {
    fn is_free(&self) -> bool {
        self.side.is_free()
    }

    fn is_closed(&self) -> bool {
        self.side.is_closed()
    }

    fn is_connected(&self) -> bool {
        self.pipe.as_ref().is_some_and(|pipe| pipe.milestones().connected.is_some())
    }

    fn failure(&self) -> Option<&str> {
        self.error.as_deref()
    }

    fn ask(&mut self, asked: Asked) {
        self.side.ask(asked);
        if let (None, Some(error)) = (&self.pipe, &self.error) {
            let reason = error.clone();
            self.close(&reason, false);
        }
    }

    fn proceed(&mut self, id: RequestId) {
        self.side.proceed(id);
    }

    fn extend(&mut self, id: RequestId, content: Bytes, ends: bool) {
        self.side.extend(id, content, ends);
    }

    fn cancel(&mut self, id: RequestId) {
        self.side.cancel(id);
    }

    fn read(&mut self, id: RequestId, bytes: u64, _now: Instant) {
        self.side.read(id, bytes);
    }

    fn ready(&mut self, ready: Ready, now: Instant) {
        match self.receive(ready, now) {
            Ok(Reading::Open) => {}
            Ok(Reading::Ended) => self.close("the server ended the connection", true),
            Err(error) => self.close(&error.to_string(), false),
        }
    }

    fn turn(
        &mut self,
        reactor: &Reactor,
        _now: Instant,
        events: &mut Vec<ClientEvent>,
    ) -> io::Result<()> {
        if let Err(error) = self.write() {
            self.close(&error.to_string(), false);
        }
        events.extend(std::iter::from_fn(|| self.side.poll()));
        let (read, write) = (self.side.wants_input(), self.side.wants_send());
        match &mut self.pipe {
            Some(pipe) => pipe.watch(reactor, self.token, read, write),
            None => Ok(()),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn end(&mut self, _now: Instant) {
        if let Some(mut pipe) = self.pipe.take() {
            self.last = LastKnown::of(&pipe);
            // The server may be gone; nothing is expected of it.
            let _ = pipe.finish();
        }
    }

    fn row(&self, clock: &Clock) -> ConnectionRow {
        let now = self.pipe.as_ref().map(LastKnown::of);
        let LastKnown { milestones, security, local, info } = now.as_ref().unwrap_or(&self.last);
        let release = |release: &Release| ReleaseRow {
            at_s: clock.seconds(release.at),
            since_s: clock.seconds(release.since),
            bytes: release.bytes,
        };
        ConnectionRow {
            number: self.number,
            protocol: self.protocol,
            remote: self.remote.to_string(),
            local: local.map(|address| address.to_string()),
            connect_start_s: clock.seconds(self.begun),
            connected_s: milestones.and_then(|m| m.connected).map(|at| clock.seconds(at)),
            secured_s: milestones.and_then(|m| m.secured).map(|at| clock.seconds(at)),
            tls: security.clone(),
            error: self.error.clone(),
            tried: Vec::new(),
            tcp: Some(TcpRow {
                info: *info,
                held_bytes: self.held.total(),
                releases: self.releases.iter().map(release).collect(),
            }),
            quic: None,
        }
    }
}
