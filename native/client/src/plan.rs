//! From options to requests.

use std::io;
use std::net::ToSocketAddrs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use headway_http::event::{Importance, RequestId};
use headway_http::service::Padding;
use headway_wire::Request;

use crate::content::{Content, Names};
use crate::heard::Hears;
use crate::lookup::{Found, look_up};
use crate::messages::{Carrier, TalkOptions};
use crate::options::{Options, ProtocolName, of_url};
use crate::talk::Talk;
use crate::target::{Origin, Target};
use crate::tree;

/// What the options ask for cannot be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanError {
    /// Options that do not go together.
    #[error("{0}")]
    Wrong(String),
    /// A directory or file cannot be used.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A URL to be fetched.
pub(crate) struct Job {
    pub(crate) target: Target,
    pub(crate) request: Request,
    /// Further fields of it.
    pub(crate) padding: Padding,
    pub(crate) importance: Option<Importance>,
    /// Of the request's own content.
    pub(crate) upload_bytes: Option<u64>,
    /// When, from the start.
    pub(crate) offset: Duration,
    pub(crate) content: Content,
    /// What messages the response has, if they are to be reported.
    pub(crate) hears: Option<Hears>,
    /// What the request sends over time.
    pub(crate) talk: Option<Talk>,
    /// Whether a slow reader reads the response.
    pub(crate) is_read_slowly: bool,
}

impl Job {
    /// The same request for another path, at a moment from the start; its content is thrown away.
    pub(crate) fn of_path(&self, path: &str, offset: Duration) -> Self {
        let (mut target, mut request) = (self.target.clone(), self.request.clone());
        path.clone_into(&mut target.path);
        path.clone_into(&mut request.path);
        let (content, talk) = (Content::new(false, None, None), self.talk.clone());
        Self { target, request, content, offset, talk, ..*self }
    }
}

/// What the options ask for.
pub(crate) fn jobs(options: &Options) -> Result<Vec<Job>, PlanError> {
    check(options)?;
    let mut names = Names::default();
    if let Some(path) = &options.output {
        std::fs::create_dir_all(path)
            .map_err(|source| PlanError::File { path: path.clone(), source })?;
    }
    let arrivals = options.arrivals.as_deref().map(arrivals).transpose()?;
    let mut jobs = Vec::new();
    let tree = tree::size(options.fan_out, options.depth);
    for number in 0..(options.repeat as usize).saturating_mul(tree) {
        for (url, target) in options.urls.iter().enumerate() {
            let mut job = job(options, url, target, &mut names)?;
            if let Some(arrivals) = arrivals.as_ref().filter(|_| number % tree == 0) {
                let at = arrivals.get(number / tree * options.urls.len() + url);
                job.offset = *at.ok_or_else(|| {
                    PlanError::Wrong("--arrivals has fewer moments than there are requests".into())
                })?;
            }
            jobs.push(job);
        }
    }
    if let (Some(first), Some(_)) = (jobs.first_mut(), options.slowness()) {
        first.is_read_slowly = true;
    }
    Ok(jobs)
}

/// Moments of a file, one a line.
fn arrivals(path: &Path) -> Result<Vec<Duration>, PlanError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| PlanError::File { path: path.to_path_buf(), source })?;
    let seconds =
        |line: &str| line.parse().ok().and_then(|at| Duration::try_from_secs_f64(at).ok());
    let wrong =
        |line: &str| PlanError::Wrong(format!("--arrivals: {line} is no number of seconds"));
    text.lines().map(|line| seconds(line).ok_or_else(|| wrong(line))).collect()
}

/// The request before all others, for a session to resume.
pub(crate) fn priming(options: &Options) -> Job {
    let target = options.urls[0].clone();
    let mut request = request(options, &target);
    request.method = "HEAD".to_owned();
    let (content, offset) = (Content::new(false, None, None), Duration::ZERO);
    Job {
        target,
        request,
        padding: options.padding(),
        importance: None,
        upload_bytes: None,
        offset,
        content,
        hears: None,
        talk: None,
        is_read_slowly: false,
    }
}

fn check(options: &Options) -> Result<(), PlanError> {
    let wrong = |text: &str| Err(PlanError::Wrong(text.to_owned()));
    let urls = options.urls.len();
    let counts = [options.priority.len(), options.dependency.len(), options.start_offsets.len()];
    if counts.iter().any(|&count| count > 1 && count != urls) {
        return wrong(
            "priorities, dependencies and start offsets are one for all URLs or one each",
        );
    }
    if options.depth > 1 && urls > 1 {
        return wrong("trees of requests are for one URL");
    }
    if options.resume.is_some() && urls > 1 {
        return wrong("--resume is for one URL");
    }
    let earlier = |(number, place): (usize, &crate::options::Dependency)| {
        usize::try_from(place.parent).is_ok_and(|parent| parent <= number)
    };
    if !options.dependency.iter().enumerate().all(earlier) {
        return wrong("a URL depends on an earlier one");
    }
    let plain = options.urls.iter().any(|url| !url.origin.secure);
    if plain && options.protocol != ProtocolName::H1 {
        return wrong("without TLS there is h1 only: --protocol h1");
    }
    let TalkOptions { messages, carrier, .. } = &options.talk;
    let goes_both_ways = options.protocol != ProtocolName::H1 || *carrier == Carrier::Websocket;
    if messages.is_some() && !goes_both_ways {
        return wrong(
            "both sides send at the same time over h2 and h3, or with --carrier websocket",
        );
    }
    Ok(())
}

fn job(
    options: &Options,
    number: usize,
    target: &Target,
    names: &mut Names,
) -> Result<Job, PlanError> {
    let mut request = request(options, target);
    if let Some(value) = of_url(&options.priority, number) {
        request.fields.push(headway_wire::priority::FIELD, value.clone());
    }
    let content = match &options.resume {
        Some(path) => Content::resumed(options.body_digest, path)
            .map_err(|source| PlanError::File { path: path.clone(), source })?,
        None => {
            let file = options.output.as_ref().map(|path| path.join(names.name(&target.path)));
            Content::new(options.body_digest, file, options.range)
        }
    };
    if let Some(range) = content.wanted() {
        request.fields.push("range", range.to_string());
    }
    if let Some(bytes) = options.upload {
        request.method = "POST".to_owned();
        request.fields.push("content-length", bytes.to_string());
        if options.expect {
            request.fields.push("expect", "100-continue");
        }
    }
    let TalkOptions { messages, carrier, deadline } = &options.talk;
    if messages.is_some() {
        request = carrier.request(request, *deadline);
    }
    let importance = of_url(&options.dependency, number).map(|place| Importance {
        parent: place.parent.checked_sub(1).map(RequestId),
        weight: place.weight,
        exclusive: place.exclusive,
    });
    let offset = of_url(&options.start_offsets, number).copied().unwrap_or_default();
    let hears = match (options.events, messages) {
        (true, _) => Some(Hears::Events),
        (false, messages) => messages.as_ref().map(|_| Hears::Answers(*carrier)),
    };
    Ok(Job {
        target: target.clone(),
        request,
        padding: options.padding(),
        importance,
        upload_bytes: options.upload,
        offset,
        content,
        hears,
        talk: messages.as_ref().map(|messages| Talk::new(messages, *carrier, *deadline)),
        is_read_slowly: false,
    })
}

fn request(options: &Options, target: &Target) -> Request {
    let mut request =
        Request::get(target.origin.scheme(), target.authority.clone(), target.path.clone());
    request.fields = options.header.iter().cloned().collect();
    request
}

/// What is known of a server: stated, or asked for.
pub(crate) fn resolve(origin: &Origin, options: &Options) -> Result<Found, String> {
    let known = options.resolve.iter().filter(|known| known.host == origin.host);
    let addresses: Vec<_> = known.map(|known| known.address).collect();
    if !addresses.is_empty() {
        return Ok(Found { addresses, service: None });
    }
    if let Ok(address) = origin.host.parse() {
        return Ok(Found { addresses: vec![address], service: None });
    }
    if let Some(resolver) = options.resolver {
        return look_up(resolver, options.resolver_over, &origin.host)
            .map_err(|error| error.to_string());
    }
    let found = (origin.host.as_str(), origin.port)
        .to_socket_addrs()
        .map_err(|error| format!("{}: {error}", origin.host))?;
    Ok(Found { addresses: found.map(|one| one.ip()).collect(), service: None })
}
