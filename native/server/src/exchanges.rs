use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use headway_http::event::{RequestId, ServerEvent};
use headway_http::service::{Body, Reply, Said};
use headway_http::tls::Protocol;
use headway_wire::{Request, Response};

use crate::access_log::Entry;
use crate::context::Context;
use crate::talks::Talks;

/// The requests of a connection that are being answered, whatever the version of HTTP.
pub(crate) struct Exchanges {
    pub(crate) connection: u64,
    remote: String,
    pub(crate) began: Instant,
    open: HashMap<RequestId, Exchange>,
    /// Those whose content is still to come.
    awaited: HashMap<RequestId, Request>,
    /// Answers whose time has not come, by that and their number.
    later: BTreeMap<(Instant, u64), (RequestId, Reply)>,
    /// Answers that have begun and go on over time.
    talks: Talks,
    count: u64,
}

/// What is to be told to a connection.
pub(crate) enum Next {
    /// Nothing yet.
    Nothing,
    /// A request's content is waited for.
    Proceed(RequestId),
    /// What can be said before a request's answer.
    Inform(RequestId, Response),
    /// A request's answer.
    Respond(RequestId, Reply),
}

struct Exchange {
    at: Instant,
    method: String,
    path: String,
    status: u16,
    /// What a player told of its state.
    cmcd: Option<String>,
    /// What it takes of memory that depends on the request.
    held_bytes: u64,
}

impl Exchanges {
    /// Those of a connection.
    pub(crate) fn new(connection: u64, remote: String, began: Instant) -> Self {
        let (open, awaited, later) = (HashMap::new(), HashMap::new(), BTreeMap::new());
        let talks = Talks::default();
        Self { connection, remote, began, open, awaited, later, talks, count: 0 }
    }

    /// Whether none is under way.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.awaited.is_empty()
    }

    /// Memory that they take, in bytes, beside what the connection keeps of each.
    pub(crate) fn kept(&self) -> u64 {
        let open = self.open.values().map(|exchange| exchange.held_bytes);
        let awaited = self.awaited.values().map(|request| {
            let texts = [&request.method, &request.authority, &request.path];
            texts.iter().map(|text| text.len() as u64).sum::<u64>() + request.fields.size()
        });
        open.chain(awaited).sum::<u64>() + self.talks.kept()
    }

    /// How many have come so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Has a request answered, or its content waited for; what else happened to one is logged.
    pub(crate) fn handle(
        &mut self,
        event: ServerEvent,
        protocol: Protocol,
        context: &mut Context<'_>,
    ) -> Next {
        match event {
            ServerEvent::Request { id, request } => {
                self.count += 1;
                if let Some((response, conversation)) =
                    context.service.converse(&request, context.now)
                {
                    self.talks.begin(id, conversation);
                    let reply = Reply { response, body: Body::growing() };
                    self.open(id, &request, &reply, context);
                    return Next::Respond(id, reply);
                }
                if context.service.awaits_content(&request) {
                    self.awaited.insert(id, request);
                    return Next::Proceed(id);
                }
                let reply = context.service.respond(&request);
                self.open(id, &request, &reply, context);
                self.in_time(id, &request, reply, context)
            }
            ServerEvent::Content { id, data } => {
                self.talks.hear(id, &data, context.now);
                Next::Nothing
            }
            ServerEvent::Received { id, content_bytes, .. } => {
                self.talks.hear_end(id, context.now);
                let Some(request) = self.awaited.remove(&id) else { return Next::Nothing };
                let reply = context.service.acknowledge(&request, content_bytes);
                self.open(id, &request, &reply, context);
                self.in_time(id, &request, reply, context)
            }
            ended => {
                self.end(&ended, protocol, context);
                Next::Nothing
            }
        }
    }

    /// An answer that goes at once; others go when it is time.
    fn in_time(
        &mut self,
        id: RequestId,
        request: &Request,
        reply: Reply,
        context: &mut Context<'_>,
    ) -> Next {
        let Some(at) = context.work.take(context.now, request) else {
            return Next::Respond(id, reply);
        };
        let hints = if context.early_hints { early_hints(&reply.response) } else { None };
        self.later.insert((at, self.count), (id, reply));
        hints.map_or(Next::Nothing, |interim| Next::Inform(id, interim))
    }

    /// The next answer whose time has come.
    pub(crate) fn due(&mut self, now: Instant) -> Option<(RequestId, Reply)> {
        let first = self.later.first_entry().filter(|first| first.key().0 <= now)?;
        Some(first.remove())
    }

    /// What is to be sent next of an answer that goes on over time, if it is time.
    pub(crate) fn say(&mut self, now: Instant) -> Option<(RequestId, Said)> {
        self.talks.next(now)
    }

    /// When the next answer, or part of one, is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let later = self.later.first_key_value().map(|(&(at, _), _)| at);
        later.into_iter().chain(self.talks.due()).min()
    }

    fn open(&mut self, id: RequestId, request: &Request, reply: &Reply, context: &mut Context<'_>) {
        let (method, path) = (request.method.clone(), request.path.clone());
        let status = reply.response.status;
        let fields = reply.response.fields.iter();
        let head: usize = fields.map(|field| field.name.len() + field.value.len()).sum();
        let cmcd = if context.log.is_open() { told_by_player(request) } else { None };
        let told = cmcd.as_ref().map_or(0, String::len);
        let sizes = [method.len(), path.len(), head, told, reply.body.held_bytes()];
        let held_bytes = sizes.into_iter().sum::<usize>() as u64;
        self.open.insert(id, Exchange { at: context.now, method, path, status, cmcd, held_bytes });
    }

    /// Logs the end of a response; other events are not about one.
    pub(crate) fn end(
        &mut self,
        event: &ServerEvent,
        protocol: Protocol,
        context: &mut Context<'_>,
    ) {
        let (id, bytes, error) = match event {
            ServerEvent::Request { .. }
            | ServerEvent::Content { .. }
            | ServerEvent::Received { .. } => return,
            ServerEvent::Finished { id, sent_bytes } => (id, *sent_bytes, None),
            ServerEvent::Aborted { id, sent_bytes, reason } => (id, *sent_bytes, Some(&**reason)),
        };
        self.awaited.remove(id);
        self.talks.end(*id);
        let Some(exchange) = self.open.remove(id) else { return };
        let Context { log, now, .. } = context;
        log.write(|log| Entry {
            at_s: log.seconds(exchange.at),
            duration_s: now.duration_since(exchange.at).as_secs_f64(),
            connection: self.connection,
            remote: &self.remote,
            protocol,
            id: id.0,
            method: &exchange.method,
            path: &exchange.path,
            status: exchange.status,
            bytes,
            cmcd: exchange.cmcd.as_deref(),
            error,
        });
    }
}

/// The links of an answer, which a client may follow before that comes (RFC 8297); none if it has none.
fn early_hints(answer: &Response) -> Option<Response> {
    let mut interim = Response::new(103);
    for link in answer.fields.iter().filter(|field| *field.name == *b"link") {
        interim.fields.push(link.name.clone(), link.value.clone());
    }
    (!interim.fields.is_empty()).then_some(interim)
}

/// All fields of CMCD (CTA-5004) in a request, in the order of their names.
fn told_by_player(request: &Request) -> Option<String> {
    let values = ["cmcd-object", "cmcd-request", "cmcd-session", "cmcd-status"]
        .iter()
        .filter_map(|name| request.fields.get(name))
        .map(|value| String::from_utf8_lossy(value))
        .collect::<Vec<_>>();
    if values.is_empty() { None } else { Some(values.join(",")) }
}
