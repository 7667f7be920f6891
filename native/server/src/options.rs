use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};
use headway_http::priorities::Priorities;
use headway_http::service::{
    Files, Padded, Padding, Service, Sink, Site, SiteError, Streams, Verdict,
};
use headway_http::tcp::SocketOptions;
use headway_http::tls::{Cryptography, Group, Identity, Protocol, ServerTls, TlsError, Versions};
use headway_http::{h2, h3};
use headway_knobs::compression::{CompressionOptions, Tables};
use headway_knobs::limits::Limits as _;
use headway_quic::knobs::{self, KnobError};
use headway_quic::{Config, FirstStreams, QuicServerConfig};
use headway_reactor::TooFewDescriptors;
use headway_schedule::Strategy;
use headway_wire::Field;

use crate::limits::Limits;
use crate::quic::QuicOptions;
use crate::thought::Thought;
use crate::work::Work;

/// Why the server cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// An address cannot be listened on.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// Certificate or key are of no use.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// There is no recorded site to be replayed.
    #[error("cannot replay: {0}")]
    Site(#[from] SiteError),
    /// The log cannot be written, or the root is none.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The options need more open files than there may be.
    #[error("{0}; --max-connections is most of them")]
    Descriptors(#[from] TooFewDescriptors),
    /// The reactor fails.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The program, as its knobs are declared.
const NAME: &str = "headway-server";

/// Serves files and, at /bytes/N, bodies of N bytes, or replays a recorded site: over HTTP/1.1,
/// HTTP/2 and HTTP/3.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = lists())]
pub(crate) struct Options {
    /// Address for TLS; may be repeated
    #[arg(long, value_name = "ADDRESS:PORT", requires_all = ["cert", "key"])]
    pub(crate) listen: Vec<SocketAddr>,
    /// Address for HTTP/1.1 without TLS; may be repeated
    #[arg(long, value_name = "ADDRESS:PORT", required_unless_present = "listen")]
    pub(crate) plain: Vec<SocketAddr>,
    /// Certificate chain, PEM, the server's own first
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// The certificate's key, PEM
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Directory of the files; without it there are only generated bodies
    #[arg(long, value_name = "DIRECTORY")]
    root: Option<PathBuf>,
    /// Replay tree of a recorded site, which is served instead of files; what is asked without TLS
    /// may be for https, by X-Forwarded-Proto
    #[arg(long, value_name = "DIRECTORY", conflicts_with_all = ["root", "header"])]
    site: Option<PathBuf>,
    /// Takes the content of POST and PUT, to whatever path, throws it away, and answers with the number of its
    /// bytes
    #[arg(long)]
    sink: bool,
    /// Status of that answer
    #[arg(long, value_name = "STATUS", default_value_t = 200, requires = "sink", value_parser = clap::value_parser!(u16).range(200..=599))]
    sink_status: u16,
    /// Answers once the head of such a request has come, and takes no more of it
    #[arg(long, requires = "sink")]
    sink_early: bool,
    /// Answers GET of /events/SIZE?SCHEDULE with server-sent events of that size, each made at its time: SCHEDULE is
    /// first=SECONDS&interval=SECONDS&count=N, or at=SECONDS,SECONDS,... Answers GET of
    /// /live/SIZE?begins=NANOSECONDS&segment=SECONDS&chunk=SECONDS with a segment of live video, each chunk when it is
    /// made, if the segment began at that moment since 1970, and GET of
    /// /live/begins=NANOSECONDS&segment=SECONDS&chunk=SECONDS/FILE with a file of a video whose source began then: N.m4s
    /// is its segment N, and an MPD says that moment. Answers POST to /echo/SIZE, whose content is
    /// messages behind their lengths, with a message of that size for each; of type application/grpc with grpc-status
    /// behind the last one
    #[arg(long)]
    events: bool,
    /// Answers messages of WebSocket at /echo/SIZE, too: over HTTP/1.1 (RFC 6455), and over HTTP/2 (RFC 8441) and
    /// HTTP/3 (RFC 9220) with an extended CONNECT, which its settings then announce
    #[arg(long, requires = "events")]
    pub(crate) websockets: bool,
    /// Names and values of header fields that all responses have besides, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = Padding::parse_bytes)]
    field_bytes: usize,
    /// Gives each response other values of these
    #[arg(long, requires = "field_bytes")]
    fields_change: bool,
    /// What an application behind the server takes for each answer, one after the other, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    service_time: Duration,
    /// What it takes besides, for all at the same time, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    think_time: Duration,
    /// How far it is from that for a single answer, which then is the median: the standard deviation of the logarithm.
    /// The draw is by --think-seed and what is asked for
    #[arg(long, value_name = "SIGMA", default_value_t = 0.0, value_parser = spread)]
    think_spread: f64,
    /// What it takes instead for the document of a page, which a browser says it asks for (Sec-Fetch-Dest)
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    document_time: Option<Duration>,
    /// Seed of these draws
    #[arg(long, value_name = "TEXT", default_value = "")]
    think_seed: String,
    /// Tells the Link fields of an answer that takes time before it, by a 103 (Early Hints, RFC 8297)
    #[arg(long)]
    pub(crate) early_hints: bool,
    /// HTTP/2's window for a client's content on a stream
    #[arg(long, value_name = "BYTES", default_value = headway_knobs::default(NAME, "h2-stream-window"), value_parser = headway_knobs::parser::<u32>(NAME, "h2-stream-window"))]
    h2_stream_window: u32,
    /// HTTP/2's window for a client's content on a connection
    #[arg(long, value_name = "BYTES", default_value = headway_knobs::default(NAME, "h2-connection-window"), value_parser = headway_knobs::parser::<u32>(NAME, "h2-connection-window"))]
    h2_connection_window: u32,
    /// No Date and no Last-Modified, so that equal requests have equal answers; recorded sites have
    /// those that were recorded anyway
    #[arg(long)]
    no_dates: bool,
    /// What is offered, the preferred one first: h1, h2, h3
    #[arg(long, value_delimiter = ',', default_value = "h2,h1", value_name = "LIST")]
    protocols: Vec<ProtocolName>,
    /// In which order the responses of a connection are sent: sequential, round-robin,
    /// batched-round-robin:N, weighted-round-robin, dependency-tree or rfc9218
    #[arg(long, default_value = headway_knobs::default(NAME, "scheduler"), value_name = "NAME")]
    scheduler: Strategy,
    /// Who decides how important responses are. If it is not the browser, whatever it says, it is the server by
    /// what they are, and the order is that of a browser: chrome, safari, firefox, firefox-eps; or of none:
    /// round-robin, batched-round-robin:N
    #[arg(long, default_value = headway_knobs::default(NAME, "priorities"), value_name = "NAME", conflicts_with = "scheduler")]
    priorities: Priorities,
    /// Content of an HTTP/2 DATA frame, at most: the scheduler decides on each. Without this 1400, and
    /// 16384 for a response that is the only one
    #[arg(long, value_name = "BYTES", value_parser = headway_knobs::parser::<u32>(NAME, "h2-frame-bytes"))]
    h2_frame_bytes: Option<u32>,
    /// Requests of a client at a time (SETTINGS_MAX_CONCURRENT_STREAMS)
    #[arg(long, default_value_t = 1000, value_name = "N")]
    max_streams: u32,
    #[command(flatten)]
    compression: CompressionOptions,
    /// Bytes that may wait in the kernel unsent (TCP_NOTSENT_LOWAT); 0 is no limit. Without this, what
    /// is sent in two milliseconds, but 16384 at least
    #[arg(long, value_name = "BYTES")]
    notsent_lowat: Option<u32>,
    /// The kernel's congestion controller for TCP
    #[arg(long, value_name = "NAME")]
    congestion_control: Option<String>,
    /// The kernel's send buffer for TCP (SO_SNDBUF); its own choice without this
    #[arg(long, value_name = "BYTES")]
    send_buffer: Option<usize>,
    /// The kernel's receive buffer for TCP (SO_RCVBUF); its own choice without this
    #[arg(long, value_name = "BYTES")]
    receive_buffer: Option<usize>,
    /// Largest TLS record sent, its header included
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(64..=16_389))]
    tls_record_bytes: Option<u32>,
    /// Knobs of QUIC, as NAME=VALUE,NAME=VALUE; --help lists them
    #[arg(long, default_value = "", value_name = "KNOBS", value_parser = quic_knobs)]
    quic: Config,
    /// Directory for a qlog file of every QUIC connection
    #[arg(long, value_name = "DIRECTORY")]
    qlog: Option<PathBuf>,
    /// Directory for a compact trace of every QUIC connection
    #[arg(long, value_name = "DIRECTORY")]
    trace: Option<PathBuf>,
    /// Early data accepted on resumed connections (0-RTT); 0 is none
    #[arg(long, default_value_t = 0, value_name = "BYTES")]
    early_data: u32,
    /// Version of TLS: 1.2, 1.3 or all
    #[arg(long, default_value = "all", value_name = "VERSION")]
    tls: Versions,
    /// The only group that it takes to exchange keys by: x25519, x25519mlkem768 or secp256r1
    #[arg(long, value_name = "GROUP")]
    key_exchange: Option<Group>,
    /// Field added to all responses, as "name: value"; may be repeated
    #[arg(long, value_name = "FIELD", value_parser = field)]
    header: Vec<Field>,
    /// A JSON line for every request, to this file; - is the standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) access_log: Option<PathBuf>,
    /// A JSON line for every connection whose header fields were compressed, to this file: what they took
    #[arg(long, value_name = "FILE")]
    pub(crate) header_counts: Option<PathBuf>,
    /// What clients may take, as NAME=VALUE,NAME=VALUE, or off; --help lists them
    #[arg(long, default_value = "", value_name = "LIMITS", value_parser = Limits::parse)]
    pub(crate) limits: Limits,
    /// Connections at a time; further ones are closed at once
    #[arg(long, default_value_t = 900, value_name = "N")]
    pub(crate) max_connections: usize,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProtocolName {
    H1,
    H2,
    H3,
}

/// Unidirectional streams that a QUIC connection may begin with, of which HTTP/3 needs three (RFC 9114
/// section 6.2).
const FIRST_CONTROLS: u32 = 10;
/// Open files besides those of connections: signals, epoll, the log, and some to spare.
const OTHER_DESCRIPTORS: usize = 32;

impl Options {
    /// The command line, or an exit with what is wrong with it.
    pub(crate) fn from_command_line() -> Self {
        let options = Self::parse();
        if let Err(contradiction) = options.compression().check() {
            let message = format!("--qpack-capacity, --qpack-blocked-streams: {contradiction}");
            Self::command().error(ErrorKind::ValueValidation, message).exit();
        }
        options
    }

    /// How HTTP/3 compresses fields.
    pub(crate) fn compression(&self) -> h3::Compression {
        self.tables().into()
    }

    /// Pages have dynamic tables as the web has, downloads have nothing to compress.
    fn tables(&self) -> Tables {
        let is_of_pages = self.site.is_some();
        self.compression.or(if is_of_pages { Tables::OF_PAGES } else { Tables::default() })
    }

    /// Open files that they need: a socket for each connection, its traces, and a file that it asks
    /// for.
    pub(crate) fn descriptors(&self) -> u64 {
        let optional = [&self.root, &self.qlog, &self.trace];
        let each = 1 + optional.into_iter().flatten().count();
        let listeners = 2 * self.listen.len() + self.plain.len() + OTHER_DESCRIPTORS;
        (self.max_connections.saturating_mul(each)).saturating_add(listeners) as u64
    }

    /// What requests are answered with.
    pub(crate) fn service(&self) -> Result<Box<dyn Service>, StartError> {
        let service: Box<dyn Service> = match &self.site {
            Some(directory) => Box::new(Site::open(directory)?),
            None => {
                let root = self.root.as_deref();
                let files = Files::new(root, self.header.clone()).map_err(|source| {
                    StartError::File { path: root.unwrap_or(Path::new("")).to_owned(), source }
                })?;
                Box::new(if self.no_dates { files } else { files.dated(SystemTime::now) })
            }
        };
        let verdict = Verdict { status: self.sink_status, is_early: self.sink_early };
        let service: Box<dyn Service> =
            if self.sink { Box::new(Sink::before(service, verdict)) } else { service };
        let padding = Padding { bytes: self.field_bytes, changes: self.fields_change };
        let service: Box<dyn Service> =
            if padding.bytes > 0 { Box::new(Padded::around(service, padding)) } else { service };
        Ok(if self.events { Box::new(Streams::before(service)) } else { service })
    }

    /// How long answers take.
    pub(crate) fn work(&self) -> Work {
        let thought = Thought::new(self.think_time, self.think_spread, &self.think_seed);
        Work::new(self.service_time, thought.of_documents(self.document_time))
    }

    /// What TCP sockets are set to.
    pub(crate) fn socket(&self) -> SocketOptions {
        SocketOptions {
            congestion_control: self.congestion_control.clone(),
            notsent_lowat_bytes: Some(self.notsent_lowat.unwrap_or(16_384))
                .filter(|&bytes| bytes > 0),
            adapts_lowat: self.notsent_lowat.is_none(),
            send_buffer_bytes: self.send_buffer,
            receive_buffer_bytes: self.receive_buffer,
        }
    }

    fn cryptography(&self) -> Cryptography {
        Cryptography { group: self.key_exchange, cipher: None }
    }

    /// How TLS is spoken over TCP, if there is a certificate.
    pub(crate) fn tls(&self) -> Result<Option<ServerTls>, TlsError> {
        let Some(identity) = self.identity()? else { return Ok(None) };
        let protocols = self.protocols.iter().map(|name| name.protocol());
        let protocols: Vec<Protocol> = protocols.filter(|&p| p != Protocol::H3).collect();
        if protocols.is_empty() {
            return Ok(None);
        }
        Ok(Some(ServerTls {
            provider: self.cryptography().provider_of_server(),
            identity,
            protocols,
            versions: self.tls,
            early_data_bytes: self.early_data,
            record_bytes: self.tls_record_bytes.map(|bytes| bytes as usize),
        }))
    }

    /// How QUIC is spoken, if HTTP/3 is offered.
    pub(crate) fn quic(&self) -> Result<Option<QuicOptions>, TlsError> {
        let offered = self.protocols.iter().any(|name| name.protocol() == Protocol::H3);
        let Some(identity) = self.identity()?.filter(|_| offered) else { return Ok(None) };
        let tls = ServerTls {
            provider: self.cryptography().provider_of_server(),
            identity,
            protocols: vec![Protocol::H3],
            versions: Versions::Tls13,
            // Of QUIC, TLS takes all early data or none (RFC 9001 section 4.6.1).
            early_data_bytes: if self.early_data > 0 { u32::MAX } else { 0 },
            record_bytes: None,
        };
        let tls = QuicServerConfig::try_from(tls.config()?)
            .expect("TLS 1.3 has the cipher suite of Initial packets");
        let (qlog_directory, trace_directory) = (self.qlog.clone(), self.trace.clone());
        let max_streams = self.max_streams.min(self.quic.max_streams);
        let first = |bidirectional| FirstStreams { bidirectional, unidirectional: FIRST_CONTROLS };
        let first_streams = self.limits.newcomers.first_streams.map(first);
        let config = Config {
            qlog_directory,
            trace_directory,
            max_streams,
            first_streams,
            send_memory: self.limits.memory.of_each.map(|bytes| bytes / 2),
            ..self.quic.clone()
        };
        Ok(Some(QuicOptions {
            tls: Arc::new(tls),
            config: Arc::new(config),
            strategy: self.priorities.strategy(self.scheduler),
            priorities: self.priorities,
            max_connections: self.max_connections,
            compression: self.compression(),
            takes_websockets: self.websockets,
            limits: self.limits,
        }))
    }

    fn identity(&self) -> Result<Option<Identity>, TlsError> {
        let (Some(cert), Some(key)) = (&self.cert, &self.key) else { return Ok(None) };
        Identity::from_pem_files(cert, key).map(Some)
    }

    /// How HTTP/2 is spoken.
    pub(crate) fn h2(&self) -> h2::ServerOptions {
        let defaults = h2::ServerOptions::default();
        let frame_bytes = self.h2_frame_bytes.map(|bytes| bytes as usize);
        h2::ServerOptions {
            strategy: self.scheduler,
            priorities: self.priorities,
            frame_bytes: frame_bytes.unwrap_or(defaults.frame_bytes),
            lone_frame_bytes: frame_bytes.unwrap_or(defaults.lone_frame_bytes),
            max_streams: self.max_streams,
            table_bytes: self.tables().hpack_bytes,
            limits: self.limits.rates,
            stream_window_bytes: self.h2_stream_window,
            connection_window_bytes: self.h2_connection_window,
            takes_websockets: self.websockets,
            kept_content_bytes: 0,
        }
    }
}

impl ProtocolName {
    fn protocol(self) -> Protocol {
        match self {
            Self::H1 => Protocol::H1,
            Self::H2 => Protocol::H2,
            Self::H3 => Protocol::H3,
        }
    }
}

fn quic_knobs(text: &str) -> Result<Config, KnobError> {
    text.parse()
}

fn lists() -> String {
    format!("Knobs of QUIC (--quic):\n{}\n{}", knobs::help(), Limits::help())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text} is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn spread(text: &str) -> Result<f64, String> {
    let sigma: f64 = text.parse().map_err(|_| format!("{text} is not a number"))?;
    let has_sense = (0.0..=3.0).contains(&sigma);
    if has_sense { Ok(sigma) } else { Err(format!("{text} is not between 0 and 3")) }
}

fn field(text: &str) -> Result<Field, String> {
    let (name, value) = text.split_once(':').ok_or("a field is \"name: value\"")?;
    Ok(Field::new(name.trim().to_ascii_lowercase(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_make_sense() {
        Options::command().debug_assert();
    }

    #[test]
    fn what_is_missing_is_said() {
        let parse =
            |arguments: &[&str]| Options::try_parse_from([&["headway-server"], arguments].concat());
        assert!(parse(&["--plain", "127.0.0.1:80"]).is_ok());
        for wrong in [&[][..], &["--listen", "127.0.0.1:443"], &["--plain", "127.0.0.1"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
        for other in [["--root", "x"], ["--header", "a: b"]] {
            let both = [&["--plain", "127.0.0.1:80", "--site", "x"], &other[..]].concat();
            assert!(parse(&both).unwrap_err().to_string().contains("cannot be used with"));
        }
        let unknown = parse(&["--plain", "127.0.0.1:80", "--scheduler", "fifo"]).unwrap_err();
        assert!(unknown.to_string().contains("no scheduler 'fifo'"));
    }

    #[test]
    fn pages_have_tables_unless_something_else_is_said() {
        let parse = |more: &[&str]| {
            let all = [&["headway-server", "--plain", "127.0.0.1:80"], more].concat();
            let options = Options::try_parse_from(all).unwrap();
            let h3::Compression { table_bytes, blocked_streams } = options.compression();
            assert!(options.compression().check().is_ok());
            (table_bytes, blocked_streams, options.h2().table_bytes)
        };
        assert_eq!(parse(&[]), (0, 0, 0));
        assert_eq!(parse(&["--site", "x"]), (4096, 100, 4096));
        assert_eq!(parse(&["--site", "x", "--qpack-capacity", "0"]), (0, 0, 4096));
        assert_eq!(parse(&["--site", "x", "--qpack-blocked-streams", "0"]), (4096, 0, 4096));
        assert_eq!(parse(&["--hpack-capacity", "100"]), (0, 0, 100));
    }

    #[test]
    fn tables_that_contradict_themselves() {
        let check = |capacity, streams| {
            let knobs = ["--qpack-capacity", capacity, "--qpack-blocked-streams", streams];
            let options = Options::try_parse_from(
                [&["headway-server", "--plain", "127.0.0.1:80"][..], &knobs[..]].concat(),
            )
            .unwrap();
            options.compression().check()
        };
        for (capacity, streams) in [("0", "0"), ("32", "0"), ("4096", "100")] {
            assert_eq!(check(capacity, streams), Ok(()));
        }
        assert!(check("0", "100").unwrap_err().starts_with("100 streams cannot wait"));
        assert!(check("31", "0").unwrap_err().contains("holds nothing"));
    }
}
