//! Queries over HTTPS (RFC 8484): POST, by HTTP/2.

use std::collections::HashMap;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use headway_http::event::{RequestId, ServerEvent};
use headway_http::h2;
use headway_http::service::{Body, Reply};
use headway_http::side::ServerSide;
use headway_http::tcp::{Pipe, PipeError, Reading, SocketOptions, TlsSide};
use headway_reactor::{Reactor, Ready, Token};
use headway_wire::{Request, Response};
use rustls::ServerConfig;

/// The path of the URI template that clients are told.
const PATH: &str = "/dns-query";
const MEDIA_TYPE: &str = "application/dns-message";
/// Queries have some hundred bytes, padding (RFC 8467) among them. More is not kept, and the rest cannot be read.
const MOST_QUERY_BYTES: usize = 4096;
/// Queries of a connection at a time.
const MOST_QUERIES: u32 = 100;

/// A client's connection.
pub(crate) struct HttpsConnection {
    pipe: Pipe,
    side: h2::Server,
    /// Requests whose content is still to come.
    asked: HashMap<RequestId, Request>,
    reading: Reading,
}

/// What has come of a connection.
#[derive(Debug, Default)]
pub(crate) struct Come {
    /// Queries, by the requests that they came with.
    pub(crate) queries: Vec<(RequestId, Vec<u8>)>,
    /// Whether it is over.
    pub(crate) is_over: bool,
}

impl HttpsConnection {
    /// A connection just accepted.
    pub(crate) fn new(
        socket: TcpStream,
        tls: &Arc<ServerConfig>,
        now: Instant,
    ) -> Result<Self, PipeError> {
        socket.set_nodelay(true)?;
        let tls = TlsSide::Server(Arc::clone(tls));
        let pipe = Pipe::accept(socket, &SocketOptions::default(), Some(tls), now)?;
        let options = h2::ServerOptions {
            kept_content_bytes: MOST_QUERY_BYTES,
            max_streams: MOST_QUERIES,
            ..Default::default()
        };
        Ok(Self {
            pipe,
            side: h2::Server::new(options),
            asked: HashMap::new(),
            reading: Reading::Open,
        })
    }

    /// Goes on with what is ready, and says what to wait for.
    pub(crate) fn progress(
        &mut self,
        ready: Option<Ready>,
        reactor: &Reactor,
        token: Token,
        now: Instant,
    ) -> Come {
        let mut come = Come::default();
        come.is_over = !self.exchange(ready, now, &mut come.queries).unwrap_or(false)
            || self
                .pipe
                .watch(reactor, token, self.reading == Reading::Open, self.side.wants_send())
                .is_err();
        come
    }

    /// Answers a query.
    pub(crate) fn answer(&mut self, id: RequestId, answer: &[u8]) {
        let mut response = Response::new(200);
        response.fields.push("content-type", MEDIA_TYPE);
        response.fields.push("content-length", answer.len().to_string());
        self.side.respond(id, Reply { response, body: Body::Bytes(answer.to_vec().into()) });
    }

    /// # Returns
    /// Whether it goes on.
    fn exchange(
        &mut self,
        ready: Option<Ready>,
        now: Instant,
        queries: &mut Vec<(RequestId, Vec<u8>)>,
    ) -> Result<bool, PipeError> {
        if let Some(ready) = ready {
            self.pipe.ready(ready, now)?;
            if ready.readable {
                let side = &mut self.side;
                self.reading = self.pipe.read(now, |piece| side.receive(piece))?;
            }
        }
        while let Some(event) = self.side.poll() {
            match event {
                ServerEvent::Request { id, request } => {
                    self.asked.insert(id, request);
                }
                ServerEvent::Received { id, content, .. } => {
                    if let Some(request) = self.asked.remove(&id) {
                        match refused(&request) {
                            Some(status) => self.side.respond(id, empty(status)),
                            None => queries.push((id, content.to_vec())),
                        }
                    }
                }
                ServerEvent::Content { .. }
                | ServerEvent::Finished { .. }
                | ServerEvent::Aborted { .. } => {}
            }
        }
        if self.pipe.is_established() {
            self.write()?;
        }
        Ok(self.reading == Reading::Open && !self.side.is_finished())
    }

    fn write(&mut self) -> Result<(), PipeError> {
        let mut bytes = BytesMut::new();
        while self.side.wants_send() {
            let room = self.pipe.room();
            if room == 0 {
                break;
            }
            self.side.send(room, &mut bytes);
            self.pipe.write(bytes.split().freeze())?;
        }
        Ok(())
    }
}

/// With which status a request is refused that is no query by POST; none if it is one.
fn refused(request: &Request) -> Option<u16> {
    let is_message = |value: &bytes::Bytes| value == MEDIA_TYPE.as_bytes();
    if request.path != PATH {
        Some(404)
    } else if request.method != "POST" {
        Some(405)
    } else if !request.fields.get("content-type").is_some_and(is_message) {
        Some(415)
    } else {
        None
    }
}

fn empty(status: u16) -> Reply {
    let mut response = Response::new(status);
    response.fields.push("content-length", "0");
    Reply { response, body: Body::empty() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, path: &str, media: Option<&str>) -> Option<u16> {
        let mut request = Request::get("https", "dns.test", path);
        request.method = method.to_owned();
        if let Some(media) = media {
            request.fields.push("content-type", media.to_owned());
        }
        refused(&request)
    }

    #[test]
    fn only_queries_by_post_are_taken() {
        assert_eq!(asked("POST", "/dns-query", Some(MEDIA_TYPE)), None);
        assert_eq!(asked("POST", "/", Some(MEDIA_TYPE)), Some(404));
        assert_eq!(asked("GET", "/dns-query", None), Some(405));
        assert_eq!(asked("POST", "/dns-query", Some("text/plain")), Some(415));
        assert_eq!(asked("POST", "/dns-query", None), Some(415));
    }
}
