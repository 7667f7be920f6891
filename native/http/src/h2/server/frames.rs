//! What a client's frames change.

use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_schedule::Priority;
use headway_wire::fields::{ContentLength, trailers};
use headway_wire::h2::{Error, ErrorCode, Frame, Scope, Settings};
use headway_wire::{Dependency, Fields, Malformed, Request};

use super::{Server, Stream};
use crate::event::{RequestId, ServerEvent};
use crate::h2::flow::StreamWindow;
use crate::h2::link::window_too_large;
use crate::limits::{Exceeded, Meters};
use crate::priorities::Priorities;
use crate::priority::{dependency, priority};
use crate::side::ServerSide;

impl Server {
    /// A frame came.
    pub(super) fn frame(&mut self, frame: Frame) -> Result<(), Error> {
        match frame {
            Frame::Headers { stream, block, dependency, end_stream } => {
                self.headers(stream, block, dependency, end_stream)
            }
            Frame::Data { stream, data, flow, end_stream } => {
                self.content(stream, data, flow, end_stream)
            }
            Frame::Priority { stream, dependency } => self.prioritise(stream, dependency),
            Frame::PriorityUpdate { stream, value } => self.update_priority(stream, &value),
            Frame::ResetStream { stream, code } => self.reset(stream, code),
            Frame::Settings(settings) => self.apply(&settings),
            Frame::SettingsAck => {
                self.link.known();
                for (&id, stream) in &mut self.streams {
                    self.link.resize(id, &mut stream.receive_window);
                }
                Ok(())
            }
            Frame::WindowUpdate { stream, increment } => self.widen(stream, increment),
            // Clients have nothing that a server would ask of them (RFC 9113, section 6.8).
            _ => Ok(()),
        }
    }

    fn headers(
        &mut self,
        id: u32,
        block: Bytes,
        dependency: Option<Dependency>,
        end_stream: bool,
    ) -> Result<(), Error> {
        let fields = self.link.decode_fields(block)?;
        if id % 2 == 0 {
            return Err(protocol_error("a request on a stream that is not the client's"));
        }
        if id <= self.last_stream {
            return self.trailers(id, fields, end_stream);
        }
        self.history.opened(id, self.last_stream);
        self.last_stream = id;
        // What was said of streams that were passed over is of no use any more.
        self.early_priorities = self.early_priorities.split_off(&id);
        let early = self.early_priorities.remove(&id);
        if self.going_away {
            return Ok(());
        }
        if self.streams.len() >= self.options.max_streams as usize {
            return Err(Error::stream(id, ErrorCode::RefusedStream, "too many streams"));
        }
        let malformed = |malformed| Error::malformed(id, malformed);
        let request = Request::from_section(fields).map_err(malformed)?;
        if !(request.protocol.is_empty() || self.options.takes_websockets) {
            return Err(malformed(Malformed("an extended CONNECT that was not asked for")));
        }
        let length = ContentLength::new(&request.fields, true).map_err(malformed)?;
        if end_stream {
            length.finish().map_err(malformed)?;
        }
        self.open(id, request, length, dependency, early, end_stream);
        Ok(())
    }

    fn open(
        &mut self,
        id: u32,
        request: Request,
        length: ContentLength,
        dependency: Option<Dependency>,
        early: Option<Priority>,
        end_stream: bool,
    ) {
        let field = headway_wire::Priority::from_fields(&request.fields);
        let mut wanted = priority(field, dependency);
        // RFC 9218, section 7: what PRIORITY_UPDATE says counts more than the field.
        if let Some(Priority { urgency, incremental, .. }) = early {
            wanted = Priority { urgency, incremental, ..wanted };
        }
        let decided = self.options.priorities.decided(&request);
        let stream = Stream {
            remote_open: !end_stream,
            asks: !end_stream && request.expects_continue(),
            content_bytes: 0,
            content: BytesMut::new(),
            tells_content: request.fields.get("content-length").is_none(),
            length,
            receive_window: self.link.new_receive_window(),
            send_window: StreamWindow::default(),
            priority: decided.unwrap_or(wanted),
            body: None,
            trailers: None,
            sent_bytes: 0,
        };
        self.streams.insert(id, stream);
        let name = RequestId(id.into());
        self.events.push_back(ServerEvent::Request { id: name, request });
        if end_stream {
            let content = Bytes::new();
            self.events.push_back(ServerEvent::Received { id: name, content_bytes: 0, content });
        }
    }

    /// The request's content has come, all of it.
    fn received(&mut self, id: u32) -> Result<(), Error> {
        let Some(stream) = self.streams.get_mut(&id) else { return Ok(()) };
        stream.remote_open = false;
        stream.length.finish().map_err(|malformed| Error::malformed(id, malformed))?;
        let (name, content_bytes) = (RequestId(id.into()), stream.content_bytes);
        let content = std::mem::take(&mut stream.content).freeze();
        self.events.push_back(ServerEvent::Received { id: name, content_bytes, content });
        Ok(())
    }

    fn trailers(&mut self, id: u32, fields: Fields, end_stream: bool) -> Result<(), Error> {
        let malformed = |malformed| Error::malformed(id, malformed);
        let Some(stream) = self.streams.get_mut(&id) else {
            if self.history.is_unused(id) {
                // RFC 9113, section 5.1.1.
                return Err(protocol_error("a request on a stream below the last one"));
            }
            return self.history.check(id);
        };
        if !stream.remote_open {
            return Err(stream_closed(id));
        }
        trailers(fields).map_err(malformed)?;
        if !end_stream {
            return Err(Error::stream(id, ErrorCode::ProtocolError, "trailers without end"));
        }
        self.received(id)
    }

    fn content(
        &mut self,
        id: u32,
        content: Bytes,
        flow: u32,
        end_stream: bool,
    ) -> Result<(), Error> {
        self.check_not_idle(id)?;
        let malformed = |malformed| Error::malformed(id, malformed);
        let Some(stream) = self.streams.get_mut(&id) else { return self.history.check(id) };
        if !stream.remote_open {
            return Err(stream_closed(id));
        }
        self.link.count_stream_content(id, &mut stream.receive_window, flow)?;
        stream.length.add(content.len()).map_err(malformed)?;
        stream.content_bytes += content.len() as u64;
        let room = self.options.kept_content_bytes.saturating_sub(stream.content.len());
        stream.content.extend_from_slice(&content[..content.len().min(room)]);
        if stream.tells_content && !content.is_empty() {
            let id = RequestId(id.into());
            self.events.push_back(ServerEvent::Content { id, data: content });
        }
        if end_stream { self.received(id) } else { Ok(()) }
    }

    fn prioritise(&mut self, id: u32, place: Dependency) -> Result<(), Error> {
        let place = dependency(place);
        if place.parent == Some(id.into()) {
            let reason = "a stream that depends on itself";
            return Err(Error::stream(id, ErrorCode::ProtocolError, reason));
        }
        if self.options.priorities != Priorities::Browser {
            return Ok(());
        }
        let mut wanted = Priority::default();
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.priority.dependency = Some(place);
            wanted = stream.priority;
        }
        wanted.dependency = Some(place);
        self.turns.reprioritise(id, &wanted);
        Ok(())
    }

    fn update_priority(&mut self, id: u32, value: &[u8]) -> Result<(), Error> {
        if id == 0 || id % 2 == 0 {
            return Err(protocol_error("PRIORITY_UPDATE for what is no request"));
        }
        let field = headway_wire::Priority::parse(value);
        if let Some(stream) = self.streams.get_mut(&id) {
            if self.options.priorities != Priorities::Browser {
                return Ok(());
            }
            let place = stream.priority.dependency;
            stream.priority = Priority { dependency: place, ..priority(field, None) };
            self.turns.reprioritise(id, &stream.priority);
        } else if id > self.last_stream {
            self.early_priorities.insert(id, priority(field, None));
            // RFC 9218, section 7.1.
            if self.streams.len() + self.early_priorities.len() > self.options.max_streams as usize
            {
                return Err(protocol_error("PRIORITY_UPDATE for more streams than there may be"));
            }
        }
        Ok(())
    }

    fn reset(&mut self, id: u32, code: u32) -> Result<(), Error> {
        self.check_not_idle(id)?;
        if self.streams.contains_key(&id) {
            let name = ErrorCode::from_code(code).map_or("unknown code", ErrorCode::name);
            self.forget(id, &format!("reset by the client: {name}"));
        }
        self.history.ended(id);
        self.count(Meters::reset);
        Ok(())
    }

    fn apply(&mut self, settings: &Settings) -> Result<(), Error> {
        self.link.apply(settings);
        let initial = self.link.initial_window;
        if self.highest_window.check(initial).is_err() {
            let windows = self.streams.values().map(|stream| stream.send_window);
            self.highest_window = windows.max().unwrap_or_default();
            let checked = self.highest_window.check(initial);
            checked.map_err(|_| window_too_large(Scope::Connection))?;
        }
        self.count(Meters::settings);
        Ok(())
    }

    fn widen(&mut self, id: u32, increment: u32) -> Result<(), Error> {
        self.check_not_idle(id)?;
        let Some(stream) = self.streams.get_mut(&id) else { return Ok(()) };
        let (before, initial) = (stream.send_window, self.link.initial_window);
        let widened = stream.send_window.widen(increment, initial);
        if stream.body.as_ref().is_some_and(|body| body.remaining() > 0) {
            self.turns.widened(id, before, stream.send_window, initial);
        }
        self.highest_window = self.highest_window.max(stream.send_window);
        widened.map_err(|_| window_too_large(Scope::Stream(id)))
    }

    /// Counts something against its limit.
    pub(super) fn count(&mut self, what: fn(&mut Meters, Option<Instant>) -> Result<(), Exceeded>) {
        if let Err(exceeded) = what(&mut self.meters, self.now) {
            let reason = exceeded.to_string();
            self.link.end(self.last_stream, ErrorCode::EnhanceYourCalm, &reason);
            self.close(&reason);
        }
    }

    /// RFC 9113, section 5.1: on an idle stream only HEADERS and PRIORITY may come.
    fn check_not_idle(&self, id: u32) -> Result<(), Error> {
        if id > self.last_stream || id % 2 == 0 {
            return Err(protocol_error("a frame on an idle stream"));
        }
        Ok(())
    }
}

fn protocol_error(reason: &'static str) -> Error {
    Error::connection(ErrorCode::ProtocolError, reason)
}

fn stream_closed(id: u32) -> Error {
    Error::stream(id, ErrorCode::StreamClosed, "a frame after the end of the request")
}
