//! What the connections of HTTP/1.1 and HTTP/2 have in common.

use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_wire::{Fields, Request, Response};

use crate::counts::HeaderCounts;
use crate::event::{Asked, ClientEvent, Importance, RequestId, ServerEvent};
use crate::service::{Reply, Said};

/// What a server waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// A request.
    Request,
    /// The rest of a request's head.
    RestOfHead,
    /// The rest of a request's content, without which there is no response.
    Content,
    /// That responses under way are taken.
    Nothing,
}

/// Why a server ends a client's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It has had its time.
    Slow,
    /// It takes too much.
    Greedy,
}

/// The server's side of a connection over a byte pipe.
pub trait ServerSide {
    /// Tells the time, for limits of what may come in one. Without that none passes.
    fn set_now(&mut self, _now: Instant) {}

    /// Takes bytes of the client, if it [wants](Self::wants_input) them. Nothing is taken after an
    /// error of the connection.
    fn receive(&mut self, input: Bytes);

    /// The same until so many events wait: what is left then is the caller's, for later.
    fn receive_some(&mut self, input: &mut Bytes, _events: usize) {
        self.receive(std::mem::take(input));
    }

    /// The connection is over: what is under way is given up.
    fn close(&mut self, reason: &str);

    /// Takes no more requests than those under way.
    fn go_away(&mut self);

    /// What it waits for.
    fn awaits(&self) -> Awaits;

    /// The connection ends by the client's fault: it is told, as far as the version of HTTP lets it be, and
    /// nothing is sent after that. What is under way is given up.
    fn expire(&mut self, fault: Fault, reason: &str);

    /// What has happened since.
    fn poll(&mut self) -> Option<ServerEvent>;

    /// The answer to a request waits for its content: a client that asks first (RFC 9110, section 10.1.1) is told
    /// to send it.
    fn proceed(&mut self, id: RequestId);

    /// An interim answer (RFC 9110, section 15.2) to a request whose answer is still to come. A client of HTTP/1.0 gets
    /// none.
    fn inform(&mut self, id: RequestId, interim: &Response);

    /// Answers a request. One that was given up meanwhile needs no answer; of one whose content has not come, all of
    /// it, the rest is not taken.
    fn respond(&mut self, id: RequestId, reply: Reply);

    /// More comes of content that grows ([`Body::growing`](crate::service::Body::growing)).
    ///
    /// # Arguments
    /// * `ends` - whether that is all.
    fn extend(&mut self, id: RequestId, content: Bytes, ends: bool);

    /// Content that grows is complete with what came of it, and these fields follow it.
    fn trail(&mut self, id: RequestId, trailers: Fields);

    /// What a conversation says.
    fn say(&mut self, id: RequestId, said: Said) {
        let has_trailers = !said.trailers.is_empty();
        self.extend(id, said.content, said.ends && !has_trailers);
        if said.ends && has_trailers {
            self.trail(id, said.trailers);
        }
    }

    /// Whether there is something to send.
    fn wants_send(&mut self) -> bool;

    /// Whether bytes of the client may be taken: not from one that does not read its answers.
    fn wants_input(&self) -> bool;

    /// Whether nothing more will be sent.
    fn is_finished(&self) -> bool;

    /// Memory that the client makes it keep, in bytes.
    fn kept(&self) -> u64;

    /// What header fields took; nothing where they are not compressed.
    fn header_counts(&self) -> HeaderCounts {
        HeaderCounts::default()
    }

    /// Appends what is to be sent next, up to `limit` bytes; perhaps one frame with content beyond
    /// that if nothing else was appended.
    fn send(&mut self, limit: usize, out: &mut BytesMut);
}

/// The client's side of a connection over a byte pipe.
pub trait ClientSide {
    /// Whether a request would be sent without waiting for another one to be answered.
    fn is_free(&self) -> bool;

    /// Whether the connection takes no more requests.
    fn is_closed(&self) -> bool;

    /// Sends a request as soon as possible, or refuses it.
    fn ask(&mut self, asked: Asked);

    /// The same of a request without content.
    fn request(&mut self, id: RequestId, request: Request, importance: Option<Importance>) {
        self.ask(Asked::new(id, request, importance));
    }

    /// Sends content that the server was to ask for first, though it has not.
    fn proceed(&mut self, id: RequestId);

    /// More comes of the content of a request that [talks](Asked::talks) and was sent.
    ///
    /// # Arguments
    /// * `ends` - whether that is all.
    fn extend(&mut self, id: RequestId, content: Bytes, ends: bool);

    /// Gives up a request that was sent, if its connection can go on without its response.
    fn cancel(&mut self, id: RequestId);

    /// The program takes so many more bytes of a response that it reads on demand
    /// ([`Asked::reads_on_demand`]).
    fn read(&mut self, id: RequestId, bytes: u64);

    /// What has happened since.
    fn poll(&mut self) -> Option<ClientEvent>;

    /// Takes bytes of the server, if it [wants](Self::wants_input) them.
    fn receive(&mut self, input: Bytes);

    /// The connection is over.
    ///
    /// # Arguments
    /// * `orderly` - the server said that it had sent everything.
    fn close(&mut self, reason: &str, orderly: bool);

    /// Whether there is something to send.
    fn wants_send(&self) -> bool;

    /// Whether bytes of the server may be taken: not from one that does not read its answers.
    fn wants_input(&self) -> bool;

    /// Appends what is to be sent next, up to `limit` bytes.
    fn send(&mut self, limit: usize, out: &mut BytesMut);
}
