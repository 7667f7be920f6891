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
mod slow;
mod talk;
mod target;
mod transport;
mod tree;
mod values;
mod video;
mod viewer;

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use headway_http::h2;
use headway_http::tcp::SocketOptions;
use headway_http::tls::{ClientTls, Protocol, TlsError, Trust, Versions, provider};
use headway_quic::QuicClientConfig;
use headway_reactor::{Reactor, Signals, run, say};

use crate::fetch::{ACT, END, Fetch, Limits};
use crate::lookup::Service;
use crate::options::{Options, ProtocolName, TlsVersions};
use crate::plan::{Job, PlanError};
use crate::report::Report;
use crate::target::Origin;
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
    let servers = servers(options)?;
    let looked_up_s = options.resolver.map(|_| clock.seconds(Instant::now()));
    let protocol = options.protocol.protocol(servers.service.as_ref());
    let connector = connector(options, protocol)?;
    let mut reactor = Reactor::new()?;
    let mut signals = Signals::register(&reactor, END, ACT)?;
    let mut run_jobs = |jobs: Vec<Job>, viewer: Option<Viewer>, clock: Clock| {
        let (limits, interval) = (limits(options, protocol), options.interval);
        let addresses = &servers.addresses;
        let mut fetch =
            Fetch::new(jobs, &connector, addresses, &mut signals, limits, clock, interval)
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
    let clock = if options.early_data {
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

fn connector(options: &Options, protocol: Protocol) -> Result<Connector, ClientError> {
    let tls = ClientTls {
        provider: provider(),
        trust: Trust::File(options.ca.clone()),
        protocols: vec![protocol],
        versions: match options.tls {
            // RFC 9001, section 4.2.
            _ if protocol == Protocol::H3 => Versions::Tls13,
            TlsVersions::All => Versions::All,
            TlsVersions::Tls12 => Versions::Tls12,
            TlsVersions::Tls13 => Versions::Tls13,
        },
        early_data: options.early_data,
    };
    if protocol == Protocol::H3 {
        let tls = QuicClientConfig::try_from(tls.config()?)
            .expect("TLS 1.3 has the cipher suite of Initial packets");
        return Ok(Connector::Quic(QuicConnector {
            local: options.local(),
            tls: Arc::new(tls),
            config: Arc::new(options.quic()),
            moves: options.moves(),
            on_command: Move::Migration(options.migrate_to),
            compression: options.compression(),
        }));
    }
    Ok(Connector::Tcp(TcpConnector {
        protocol,
        socket: SocketOptions {
            congestion_control: options.cc.clone(),
            receive_buffer_bytes: options.receive_buffer,
            ..SocketOptions::default()
        },
        local: options.local(),
        tls: tls.config()?,
        h2: h2::ClientOptions {
            stream_window_bytes: options.h2_stream_window,
            connection_window_bytes: options.h2_connection_window,
            table_bytes: options.tables().hpack_bytes,
        },
    }))
}

/// Where the servers are.
struct Servers {
    addresses: HashMap<Origin, SocketAddr>,
    /// What the first one's HTTPS record says.
    service: Option<Service>,
}

fn servers(options: &Options) -> Result<Servers, ClientError> {
    let mut servers = Servers { addresses: HashMap::new(), service: None };
    for origin in options.urls.iter().map(|target| &target.origin) {
        if servers.addresses.contains_key(origin) {
            continue;
        }
        let found = plan::resolve(origin, options).map_err(ClientError::NoAddress)?;
        let none = || ClientError::NoAddress(format!("{}: no address", origin.host));
        let address = *found.addresses.first().ok_or_else(none)?;
        let service = found.service.filter(|_| origin.secure);
        // A service's port is of that service alone, which another version of HTTP would not find.
        let follows = options.protocol == ProtocolName::Auto;
        let port = service.as_ref().and_then(|one| one.port).filter(|_| follows);
        let port = port.unwrap_or(origin.port);
        if servers.addresses.is_empty() {
            servers.service = service;
        }
        servers.addresses.insert(origin.clone(), SocketAddr::new(address, port));
    }
    Ok(servers)
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
