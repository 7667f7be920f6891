//! `headway-client`: fetches URLs over HTTP/1.1, HTTP/2 and HTTP/3 and reports when what arrived.

mod cmcd;
mod content;
mod fetch;
mod heard;
mod lookup;
mod messages;
mod options;
mod plan;
mod record;
mod report;
mod servers;
mod slow;
mod talk;
mod target;
mod tls;
mod transport;
mod tree;
mod values;
mod video;
mod viewer;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use headway_http::h2;
use headway_http::tcp::SocketOptions;
use headway_http::tls::{Protocol, TlsError};
use headway_reactor::{Reactor, Signals, run, say};

use crate::fetch::{ACT, END, Fetch, Limits};
use crate::options::Options;
use crate::plan::{Job, PlanError};
use crate::report::Report;
use crate::servers::Servers;
use crate::transport::{Connector, Move, QuicConnector, TcpConnector};
use crate::viewer::Viewer;
use headway_reactor::Clock;

/// Exit status if an option is wrong; clap's is the same.
const WRONG_OPTION: u8 = 2;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
enum ClientError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("{0}")]
    NoAddress(String),
    #[error("{}: {source}", path.display())]
    Report { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn main() -> ExitCode {
    let options = Options::from_command_line();
    match fetch(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say!("headway-client: {error}");
            match error {
                ClientError::Plan(_) | ClientError::Tls(_) => ExitCode::from(WRONG_OPTION),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// Fetches everything.
///
/// # Returns
/// Whether all requests succeeded.
fn fetch(options: &Options) -> Result<bool, ClientError> {
    let mut jobs = plan::jobs(options)?;
    let viewer = viewer(options, &mut jobs)?;
    let clock = Clock::start();
    let servers = Servers::find(options).map_err(ClientError::NoAddress)?;
    let looked_up_s = options.resolver.map(|_| clock.seconds(Instant::now()));
    let protocol = servers.protocol;
    let connector = connector(options, &servers)?;
    let mut reactor = Reactor::new()?;
    let mut signals = Signals::register(&reactor, END, ACT)?;
    let mut run_jobs = |jobs: Vec<Job>, viewer: Option<Viewer>, clock: Clock| {
        let (limits, interval) = (limits(options, protocol), options.interval);
        let places = &servers.candidates;
        let mut fetch = Fetch::new(jobs, &connector, places, &mut signals, limits, clock, interval)
            .watched_by(viewer);
        run(&mut reactor, &mut fetch)?;
        let session = fetch.session();
        let (requests, connections, goodput) = fetch.finish();
        Ok::<_, ClientError>(Report {
            version: env!("CARGO_PKG_VERSION"),
            started_unix_s: clock.started_unix_s(),
            ended_s: clock.seconds(std::time::Instant::now()),
            protocol,
            looked_up_s,
            requests,
            connections,
            goodput,
            session,
        })
    };
    // What follows a connection for a session begins anew, and knows the addresses.
    let clock = if options.tls.early_data {
        tell_errors(&run_jobs(vec![plan::priming(options)], None, clock)?);
        Clock::start()
    } else {
        clock
    };
    let report = run_jobs(jobs, viewer, clock)?;
    tell_errors(&report);
    match &options.report {
        Some(path) => report
            .write(path)
            .map_err(|source| ClientError::Report { path: path.clone(), source })?,
        None => report.summarise(&mut io::stdout())?,
    }
    Ok(report.requests.iter().all(|row| row.error.is_none()))
}

/// Who watches a video, if there is one: the URL's server has it.
fn viewer(options: &Options, jobs: &mut Vec<Job>) -> Result<Option<Viewer>, PlanError> {
    let Some(file) = &options.video.video else { return Ok(None) };
    match (jobs.pop(), jobs.is_empty()) {
        (Some(template), true) => {
            let session = options.video.cmcd.clone();
            Viewer::new(file, options.video.settings(), template, session).map(Some)
        }
        _ => Err(PlanError::Wrong("--video is for one URL".into())),
    }
}

/// What all connections to these servers have in common.
fn connector(options: &Options, servers: &Servers) -> Result<Connector, TlsError> {
    let mut protocols = servers.candidates.values().flatten().map(|one| one.protocol);
    let by_tcp = protocols.clone().find(|&one| one != Protocol::H3);
    let is_by_quic = protocols.any(|one| one == Protocol::H3);
    Ok(Connector {
        tcp: by_tcp.map(|protocol| tcp_connector(options, protocol)).transpose()?,
        quic: is_by_quic.then(|| quic_connector(options)).transpose()?,
        attempt_delay: options.attempt_delay,
    })
}

fn quic_connector(options: &Options) -> Result<QuicConnector, TlsError> {
    Ok(QuicConnector {
        local: options.local(),
        tls: Arc::new(options.tls.over_quic()?),
        config: Arc::new(options.quic()),
        moves: options.moves(),
        on_command: Move::Migration(options.migrate_to),
        compression: options.compression(),
    })
}

fn tcp_connector(options: &Options, protocol: Protocol) -> Result<TcpConnector, TlsError> {
    Ok(TcpConnector {
        protocol,
        socket: SocketOptions {
            congestion_control: options.cc.clone(),
            receive_buffer_bytes: options.receive_buffer,
            ..SocketOptions::default()
        },
        local: options.local(),
        tls: options.tls.over_tcp(protocol)?,
        h2: h2::ClientOptions {
            stream_window_bytes: options.h2_stream_window,
            connection_window_bytes: options.h2_connection_window,
            table_bytes: options.tables().hpack_bytes,
        },
    })
}

fn limits(options: &Options, protocol: Protocol) -> Limits {
    let default = if protocol == Protocol::H1 { 6 } else { 1 };
    Limits {
        connections: usize::from(options.connections.unwrap_or(default)),
        requests: options.concurrency.map_or(usize::MAX, |requests| requests as usize),
        users: options.users.map(|users| users as usize),
        think: options.think,
        new_connections: options.new_connections,
        expect: options.expect_timeout,
        talks: options.talk.messages.is_some(),
        slowness: options.slowness(),
        fan_out: options.fan_out,
        depth: options.depth,
        timeout: (!options.timeout.is_zero()).then_some(options.timeout),
    }
}

fn tell_errors(report: &Report) {
    for row in &report.requests {
        if let Some(error) = &row.error {
            say!("headway-client: {}: {error}", row.url);
        }
    }
}
