use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use headway_wire::h1::{BodyPiece, BodyReader, Error, RequestHead, RequestReader, encode};
use headway_wire::{Fields, Response};

use super::MAX_HEAD_BYTES;
use super::upgrade::Upgrade;
use crate::event::{RequestId, ServerEvent};
use crate::service::{Body, Reply};
use crate::side::{Awaits, Fault, ServerSide};

/// Where the exchange of the moment is. The next request, if it is there already, waits
/// (pipelining: RFC 9112, section 9.3.2).
enum State {
    /// For a request.
    Waits,
    /// In the content of a request.
    Content(Incoming),
    /// For the program's answer.
    Asked { keep_alive: bool, takes_chunks: bool },
    /// For the answer to a client that asks for something else than HTTP, and sends nothing until then.
    AskedForUpgrade(Upgrade),
    /// In the response.
    Answers(Answer),
    /// After the last response.
    Over,
}

/// A request whose head has come.
struct Incoming {
    keep_alive: bool,
    takes_chunks: bool,
    /// The client asks before it sends the content.
    asks: bool,
    body: BodyReader,
    /// Of the content, how much has come.
    content_bytes: u64,
}

/// A response that is being sent.
struct Answer {
    /// Content that grows is in it with its chunks' lines.
    body: Body,
    is_chunked: bool,
    /// No HTTP is spoken any more: what comes is content of the request, and what grows is sent as it is.
    is_upgraded: bool,
    sent_bytes: u64,
    /// Of these, lines of chunks.
    framing_bytes: u64,
    keep_alive: bool,
}

impl Answer {
    /// The last one of a connection, of which nothing was sent.
    fn new(body: Body, is_chunked: bool, is_upgraded: bool) -> Self {
        Self { body, is_chunked, is_upgraded, sent_bytes: 0, framing_bytes: 0, keep_alive: false }
    }

    /// Content that was sent, in bytes.
    fn content_bytes(&self) -> u64 {
        self.sent_bytes.saturating_sub(self.framing_bytes)
    }

    /// Content that grows is complete, and these fields follow it where there is a place for them.
    fn trail(&mut self, trailers: &Fields) {
        let mut framed = BytesMut::new();
        if self.is_chunked {
            encode::last_chunk(trailers, &mut framed);
        }
        self.framing_bytes += framed.len() as u64;
        self.body.extend(framed.freeze(), true);
    }

    /// More content comes.
    fn extend(&mut self, content: Bytes, ends: bool) {
        if !self.is_chunked {
            return self.body.extend(content, ends);
        }
        let (mut framed, content_bytes) = (BytesMut::new(), content.len());
        if content_bytes > 0 {
            encode::chunk_line(content_bytes as u64, &mut framed);
            framed.extend_from_slice(&content);
            framed.extend_from_slice(encode::CHUNK_END);
        }
        self.framing_bytes += (framed.len() - content_bytes) as u64;
        self.body.extend(framed.freeze(), false);
        if ends {
            self.trail(&Fields::new());
        }
    }
}

/// The server's side of a connection: one response after the other.
pub struct Server {
    reader: RequestReader,
    /// Connections may be upgraded to WebSocket.
    takes_websockets: bool,
    state: State,
    /// Bytes of the client that were not looked at.
    input: Bytes,
    /// A head, to be sent.
    head: BytesMut,
    /// Which request it is; the first is 0.
    number: u64,
    events: VecDeque<ServerEvent>,
}

impl Server {
    /// The start of a connection.
    ///
    /// # Arguments
    /// * `scheme` - `http` or `https`, of the requests' targets.
    #[must_use]
    pub fn new(scheme: &'static str) -> Self {
        Self {
            reader: RequestReader::new(scheme, MAX_HEAD_BYTES),
            takes_websockets: false,
            state: State::Waits,
            input: Bytes::new(),
            head: BytesMut::new(),
            number: 0,
            events: VecDeque::new(),
        }
    }

    /// The same of one whose client may ask for WebSocket: that is an extended CONNECT, as over HTTP/2.
    #[must_use]
    pub fn with_websockets(self, takes_websockets: bool) -> Self {
        Self { takes_websockets, ..self }
    }

    /// Goes on with the bytes that are there, until a request is complete.
    fn advance(&mut self) {
        if let Err(error) = self.read_request() {
            self.refuse(error.status(), &error.to_string());
        }
    }

    fn read_request(&mut self) -> Result<(), Error> {
        loop {
            match &mut self.state {
                State::Waits => {
                    let Some(head) = self.reader.decode(&mut self.input)? else { return Ok(()) };
                    let RequestHead { mut request, keep_alive, takes_chunks, .. } = head;
                    let id = RequestId(self.number);
                    if let Some(upgrade) =
                        self.takes_websockets.then(|| Upgrade::taken(&mut request)).flatten()
                    {
                        self.state = State::AskedForUpgrade(upgrade);
                        self.events.push_back(ServerEvent::Request { id, request });
                        return Ok(());
                    }
                    let (asks, body) = (head.expects_continue, BodyReader::new(head.body));
                    let content_bytes = 0;
                    self.state = State::Content(Incoming {
                        keep_alive,
                        takes_chunks,
                        asks,
                        body,
                        content_bytes,
                    });
                    self.events.push_back(ServerEvent::Request { id, request });
                }
                State::Content(incoming) => match incoming.body.decode(&mut self.input)? {
                    None => return Ok(()),
                    Some(BodyPiece::Data(data)) => incoming.content_bytes += data.len() as u64,
                    Some(BodyPiece::End(_)) => {
                        let (id, content_bytes) = (RequestId(self.number), incoming.content_bytes);
                        let Incoming { keep_alive, takes_chunks, .. } = *incoming;
                        self.state = State::Asked { keep_alive, takes_chunks };
                        self.events.push_back(ServerEvent::Received {
                            id,
                            content_bytes,
                            content: Bytes::new(),
                        });
                    }
                },
                State::Answers(answer) if answer.is_upgraded => {
                    let (id, data) = (RequestId(self.number), std::mem::take(&mut self.input));
                    if !data.is_empty() {
                        self.events.push_back(ServerEvent::Content { id, data });
                    }
                    return Ok(());
                }
                State::Asked { .. } | State::AskedForUpgrade(_) | State::Answers(_) => {
                    return Ok(());
                }
                State::Over => {
                    self.input.clear();
                    return Ok(());
                }
            }
        }
    }

    /// What follows a message that cannot be understood cannot be, either.
    fn refuse(&mut self, status: u16, reason: &str) {
        self.close(reason);
        let text = format!("{reason}\n");
        let mut response = Response::new(status);
        response.fields.push("content-length", text.len().to_string());
        response.fields.push("connection", "close");
        encode::response(&response, &mut self.head);
        self.head.extend_from_slice(text.as_bytes());
        self.input.clear();
    }
}

impl ServerSide for Server {
    fn receive(&mut self, input: Bytes) {
        if self.input.is_empty() {
            self.input = input;
        } else {
            self.input = [&self.input[..], &input].concat().into();
        }
        self.advance();
    }

    fn close(&mut self, reason: &str) {
        let sent_bytes = match std::mem::replace(&mut self.state, State::Over) {
            State::Content(_) | State::Asked { .. } | State::AskedForUpgrade(_) => 0,
            State::Answers(answer) => answer.content_bytes(),
            State::Waits | State::Over => return,
        };
        let (id, reason) = (RequestId(self.number), reason.to_owned());
        self.events.push_back(ServerEvent::Aborted { id, sent_bytes, reason });
    }

    fn go_away(&mut self) {
        match &mut self.state {
            State::Waits | State::Content(..) => self.state = State::Over,
            State::Asked { keep_alive, .. } | State::Answers(Answer { keep_alive, .. }) => {
                *keep_alive = false;
            }
            State::AskedForUpgrade(_) | State::Over => {}
        }
    }

    fn kept(&self) -> u64 {
        let body = match &self.state {
            State::Answers(answer) => answer.body.waiting(),
            _ => 0,
        };
        (self.reader.kept() + self.input.len() + self.head.len()) as u64 + body
    }

    fn awaits(&self) -> Awaits {
        match &self.state {
            State::Waits if self.reader.is_idle() => Awaits::Request,
            State::Waits => Awaits::RestOfHead,
            State::Content(..) => Awaits::Content,
            State::Asked { .. } | State::AskedForUpgrade(_) | State::Answers(_) | State::Over => {
                Awaits::Nothing
            }
        }
    }

    fn expire(&mut self, _fault: Fault, reason: &str) {
        match self.awaits() {
            // RFC 9110, section 15.5.9.
            Awaits::RestOfHead | Awaits::Content => self.refuse(408, reason),
            Awaits::Request | Awaits::Nothing => self.close(reason),
        }
        self.state = State::Over;
    }

    fn poll(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    fn proceed(&mut self, _id: RequestId) {
        if let State::Content(incoming) = &mut self.state {
            if std::mem::take(&mut incoming.asks) {
                encode::response(&Response::new(100), &mut self.head);
            }
        }
    }

    fn inform(&mut self, _id: RequestId, interim: &Response) {
        if matches!(self.state, State::Asked { takes_chunks: true, .. }) {
            encode::response(interim, &mut self.head);
        }
    }

    fn respond(&mut self, _id: RequestId, reply: Reply) {
        let (mut keep_alive, takes_chunks) = match &self.state {
            State::AskedForUpgrade(upgrade) if reply.body.is_open() => {
                encode::response(&upgrade.response(&reply.response), &mut self.head);
                self.state = State::Answers(Answer::new(reply.body, false, true));
                return self.advance();
            }
            State::AskedForUpgrade(_) => (false, true),
            State::Asked { keep_alive, takes_chunks } => (*keep_alive, *takes_chunks),
            // Where the next request would begin is not known before the rest has come (RFC 9112, section 9.3).
            State::Content(incoming) => (false, incoming.takes_chunks),
            State::Waits | State::Answers(_) | State::Over => return,
        };
        let Reply { mut response, body } = reply;
        let is_chunked = body.is_open() && takes_chunks;
        if is_chunked {
            response.fields.push("transfer-encoding", "chunked");
        }
        // Without chunks, the connection's end is the content's.
        keep_alive &= is_chunked || !body.is_open();
        if !keep_alive {
            response.fields.push("connection", "close");
        }
        encode::response(&response, &mut self.head);
        self.state = State::Answers(Answer { keep_alive, ..Answer::new(body, is_chunked, false) });
    }

    fn trail(&mut self, id: RequestId, trailers: Fields) {
        if let State::Answers(answer) = &mut self.state {
            if id == RequestId(self.number) {
                answer.trail(&trailers);
            }
        }
    }

    fn extend(&mut self, id: RequestId, content: Bytes, ends: bool) {
        if let State::Answers(answer) = &mut self.state {
            if id == RequestId(self.number) {
                answer.extend(content, ends);
            }
        }
    }

    fn wants_send(&mut self) -> bool {
        let has_content = match &self.state {
            State::Answers(answer) => answer.body.remaining() > 0 || !answer.body.is_open(),
            _ => false,
        };
        !self.head.is_empty() || has_content
    }

    fn wants_input(&self) -> bool {
        self.input.is_empty() && !matches!(self.state, State::Over)
    }

    fn is_finished(&self) -> bool {
        matches!(self.state, State::Over) && self.head.is_empty()
    }

    fn send(&mut self, limit: usize, out: &mut BytesMut) {
        let head = self.head.len().min(limit);
        out.unsplit(self.head.split_to(head));
        let State::Answers(answer) = &mut self.state else { return };
        match answer.body.read(out, limit - head) {
            Ok(length) => answer.sent_bytes += length as u64,
            Err(error) => return self.close(&error.to_string()),
        }
        if answer.body.ends_with(0) && self.head.is_empty() {
            let (id, sent_bytes) = (RequestId(self.number), answer.content_bytes());
            self.state = if answer.keep_alive { State::Waits } else { State::Over };
            self.number += 1;
            self.events.push_back(ServerEvent::Finished { id, sent_bytes });
            self.advance();
        }
    }
}
