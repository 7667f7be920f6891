use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use headway_wire::h1::{BodyLength, BodyPiece, BodyReader, Error, ResponseReader, encode};

use super::MAX_HEAD_BYTES;
use super::upgrade::Upgrade;
use crate::event::{Asked, ClientEvent, Failure, Outgoing, RequestId};
use crate::side::ClientSide;

/// The exchange of the moment.
struct Exchange {
    id: RequestId,
    method: String,
    /// What the connection is to be used for instead of HTTP.
    upgrade: Option<Upgrade>,
    /// What is still to be sent of it, if it has content.
    content: Option<Outgoing>,
    /// Once the final response's head has come.
    body: Option<BodyReader>,
    keep_alive: bool,
    /// Of a response that is read on demand, what the program takes beyond what it has got; less than nothing if more
    /// came with what it took.
    appetite: Option<i64>,
}

impl Exchange {
    fn wants_input(&self) -> bool {
        self.body.is_none() || self.appetite.is_none_or(|appetite| appetite > 0)
    }

    fn has_content_to_send(&self) -> bool {
        self.content.as_ref().is_some_and(Outgoing::is_ready)
    }
}

/// The client's side of a connection: one request after the other.
pub struct Client {
    reader: ResponseReader,
    exchange: Option<Exchange>,
    unsent: Option<(RequestId, BytesMut)>,
    closed: bool,
    events: VecDeque<ClientEvent>,
}

impl Default for Client {
    fn default() -> Self {
        Self {
            reader: ResponseReader::new(MAX_HEAD_BYTES),
            exchange: None,
            unsent: None,
            closed: false,
            events: VecDeque::new(),
        }
    }
}

impl Client {
    fn read(&mut self, input: &mut Bytes) -> Result<(), Error> {
        let Some(exchange) = &mut self.exchange else {
            self.closed = true;
            return Ok(());
        };
        let id = exchange.id;
        if exchange.body.is_none() {
            let Some(head) = self.reader.decode(&exchange.method, input)? else { return Ok(()) };
            if let Some(upgrade) = exchange.upgrade.take() {
                if let Err(reason) = upgrade.check(&head.response) {
                    self.closed = true;
                    self.fail(Failure::Connection(reason));
                    return Ok(());
                }
                exchange.body = Some(BodyReader::new(BodyLength::UntilClose));
                self.events.push_back(ClientEvent::Head { id, response: head.response });
                return Ok(());
            }
            if head.response.is_interim() {
                if head.response.status == 100 {
                    self.events.push_back(ClientEvent::Continued { id });
                    self.proceed(id);
                }
                return Ok(());
            }
            exchange.keep_alive = head.keep_alive;
            exchange.body = Some(BodyReader::new(head.body));
            self.events.push_back(ClientEvent::Head { id, response: head.response });
        }
        while let Some(body) = self.exchange.as_mut().and_then(|e| e.body.as_mut()) {
            match body.decode(input)? {
                None => break,
                Some(BodyPiece::Data(data)) => {
                    if let Some(appetite) = self.exchange.as_mut().and_then(|e| e.appetite.as_mut())
                    {
                        *appetite -= data.len() as i64;
                    }
                    self.events.push_back(ClientEvent::Data { id, data });
                }
                Some(BodyPiece::End(fields)) => {
                    if !fields.is_empty() {
                        self.events.push_back(ClientEvent::Trailers { id, fields });
                    }
                    self.finish();
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            // Where a request's content ends early, the next one has no beginning (RFC 9112, section 9.5).
            let is_cut = exchange.content.as_ref().is_some_and(|c| c.body.remaining() > 0);
            self.closed |= !exchange.keep_alive || is_cut;
            let content_bytes = exchange.content.map_or(0, |content| content.sent_bytes());
            self.events.push_back(ClientEvent::Finished { id: exchange.id, content_bytes });
        }
    }

    fn fail(&mut self, failure: Failure) {
        self.unsent = None;
        if let Some(Exchange { id, .. }) = self.exchange.take() {
            self.events.push_back(ClientEvent::Failed { id, failure });
        }
    }
}

impl ClientSide for Client {
    fn is_free(&self) -> bool {
        self.exchange.is_none() && !self.closed
    }

    fn is_closed(&self) -> bool {
        self.closed
    }

    fn ask(&mut self, asked: Asked) {
        let id = asked.id;
        let upgrade = Upgrade::asked(&asked.request);
        if asked.talks && upgrade.is_none() {
            let reason = "over HTTP/1.1 a server answers once the request is complete".to_owned();
            let failure = Failure::Connection(reason);
            self.events.push_back(ClientEvent::Failed { id, failure });
            return;
        }
        if !self.is_free() {
            self.events.push_back(ClientEvent::Failed { id, failure: Failure::Refused });
            return;
        }
        let mut head = BytesMut::new();
        match &upgrade {
            Some(upgrade) => encode::request(&upgrade.request(&asked.request), &mut head),
            None => encode::request(&asked.request, &mut head),
        }
        self.unsent = Some((id, head));
        let appetite = asked.reads_on_demand.then_some(0);
        let (content, method) = (asked.content(), asked.request.method);
        let (body, keep_alive) = (None, false);
        self.exchange = Some(Exchange { id, method, upgrade, content, body, keep_alive, appetite });
    }

    fn proceed(&mut self, id: RequestId) {
        let exchange = self.exchange.as_mut().filter(|exchange| exchange.id == id);
        if let Some(content) = exchange.and_then(|exchange| exchange.content.as_mut()) {
            content.is_held = false;
        }
    }

    /// Messages of HTTP/1.1 go one way at a time; what an upgraded connection carries does not.
    fn extend(&mut self, id: RequestId, content: Bytes, ends: bool) {
        let exchange = self.exchange.as_mut().filter(|exchange| exchange.id == id);
        if let Some(outgoing) = exchange.and_then(|exchange| exchange.content.as_mut()) {
            if outgoing.body.is_open() {
                outgoing.size += content.len() as u64;
                outgoing.body.extend(content, ends);
            }
        }
    }

    /// Nothing could follow on the connection.
    fn cancel(&mut self, id: RequestId) {
        if self.exchange.as_ref().is_some_and(|exchange| exchange.id == id) {
            self.closed = true;
            self.fail(Failure::Cancelled);
        }
    }

    fn read(&mut self, id: RequestId, bytes: u64) {
        let exchange = self.exchange.as_mut().filter(|exchange| exchange.id == id);
        if let Some(appetite) = exchange.and_then(|exchange| exchange.appetite.as_mut()) {
            *appetite = appetite.saturating_add_unsigned(bytes);
        }
    }

    fn poll(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    fn wants_send(&self) -> bool {
        self.unsent.is_some() || self.exchange.as_ref().is_some_and(Exchange::has_content_to_send)
    }

    fn wants_input(&self) -> bool {
        self.exchange.as_ref().is_none_or(Exchange::wants_input)
    }

    fn send(&mut self, limit: usize, out: &mut BytesMut) {
        let mut room = limit;
        if let Some((id, head)) = &mut self.unsent {
            let length = head.len().min(room);
            out.unsplit(head.split_to(length));
            room -= length;
            if !head.is_empty() {
                return;
            }
            self.events.push_back(ClientEvent::Sent { id: *id });
            self.unsent = None;
        }
        let content = self.exchange.as_mut().and_then(|exchange| exchange.content.as_mut());
        if let Some(content) = content.filter(|content| content.is_ready()) {
            content.body.read(out, room).expect("content that is computed is always there");
        }
    }

    fn receive(&mut self, mut input: Bytes) {
        while !input.is_empty() && !self.closed {
            if let Err(error) = self.read(&mut input) {
                self.closed = true;
                let failure = match error {
                    Error::Malformed(malformed) => Failure::Malformed(malformed.0),
                    other => Failure::Connection(other.to_string()),
                };
                self.fail(failure);
            }
        }
    }

    fn close(&mut self, reason: &str, orderly: bool) {
        self.closed = true;
        let body = self.exchange.as_ref().and_then(|exchange| exchange.body.as_ref());
        if orderly && body.is_some_and(|body| body.finish().is_ok()) {
            self.finish();
        } else {
            self.fail(Failure::Connection(reason.to_owned()));
        }
    }
}
