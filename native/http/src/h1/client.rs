use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use headway_wire::Request;
use headway_wire::h1::{BodyPiece, BodyReader, Error, ResponseReader, encode};

use super::MAX_HEAD_BYTES;
use crate::event::{ClientEvent, Failure, Importance, RequestId};
use crate::side::ClientSide;

/// The exchange of the moment.
struct Exchange {
    id: RequestId,
    method: String,
    /// Once the final response's head has come.
    body: Option<BodyReader>,
    keep_alive: bool,
}

/// The client's side of a connection: one request after the other, without content.
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
            if head.response.is_interim() {
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
                    self.events.push_back(ClientEvent::Data { id, data });
                }
                Some(BodyPiece::End(_)) => self.finish(),
            }
        }
        Ok(())
    }

    fn finish(&mut self) {
        if let Some(exchange) = self.exchange.take() {
            self.closed |= !exchange.keep_alive;
            self.events.push_back(ClientEvent::Finished { id: exchange.id });
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

    fn request(&mut self, id: RequestId, request: Request, _importance: Option<Importance>) {
        if !self.is_free() {
            self.events.push_back(ClientEvent::Failed { id, failure: Failure::Refused });
            return;
        }
        let mut head = BytesMut::new();
        encode::request(&request, &mut head);
        self.unsent = Some((id, head));
        let method = request.method;
        self.exchange = Some(Exchange { id, method, body: None, keep_alive: false });
    }

    fn poll(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    fn wants_send(&self) -> bool {
        self.unsent.is_some()
    }

    fn wants_input(&self) -> bool {
        true
    }

    fn send(&mut self, limit: usize, out: &mut BytesMut) {
        let Some((id, head)) = &mut self.unsent else { return };
        let length = head.len().min(limit);
        out.unsplit(head.split_to(length));
        if head.is_empty() {
            self.events.push_back(ClientEvent::Sent { id: *id });
            self.unsent = None;
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
