use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};
use headway_http::h3;
use headway_http::service::Padding;
use headway_http::tls::Protocol;
use headway_knobs::compression::{CompressionOptions, Tables};
use headway_quic::Config;
use headway_quic::knobs::{self, KnobError};
use headway_wire::Field;
use headway_wire::range::Range;

use crate::lookup::{Over, Service};
use crate::messages::TalkOptions;
use crate::slow::Slowness;
use crate::target::Target;
use crate::tls::TlsOptions;
use crate::transport::Move;
use crate::values::{attempt_delay, check_priority, field, milliseconds, range, seconds};
use crate::video::VideoOptions;

/// Fetches URLs, all at once, and reports when what arrived.
#[derive(Debug, Parser)]
#[command(name = "headway-client", version, after_long_help = quic_help())]
pub(crate) struct Options {
    /// What to fetch
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<Target>,
    /// The version of HTTP; auto is the newest that the first host's HTTPS record names (RFC 9460), or h2
    #[arg(long, default_value = "h2")]
    pub(crate) protocol: ProtocolName,
    /// Over auto, where the record names h3: begins TCP, too, once QUIC has not answered for the attempt delay
    #[arg(long)]
    pub(crate) fall_back: bool,
    /// How long an attempt to connect is alone before one to another address of the host begins (RFC 8305)
    #[arg(long, value_name = "TIME", default_value = headway_knobs::default("headway-client", "attempt-delay"), value_parser = attempt_delay)]
    pub(crate) attempt_delay: Duration,
    /// Connections to a server at a time; 6 for h1, else 1 without this
    #[arg(long, value_name = "N", value_parser = headway_knobs::parser::<u16>("headway-client", "connections"))]
    pub(crate) connections: Option<u16>,
    /// Requests at a time, over all connections; no limit without this
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) concurrency: Option<u32>,
    /// When each URL is requested, in seconds from the start; all at once without this
    #[arg(long, value_delimiter = ',', value_name = "SECONDS,...", value_parser = seconds)]
    pub(crate) start_offsets: Vec<Duration>,
    /// How often each URL is requested
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) repeat: u32,
    /// File with the moments, in seconds from the start, at which a repeated URL is requested, one a line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["start_offsets", "users"])]
    pub(crate) arrivals: Option<PathBuf>,
    /// Users that make the requests: each waits for its response before it makes the next one
    #[arg(long, value_name = "N", conflicts_with_all = ["start_offsets", "concurrency"], value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) users: Option<u32>,
    /// What a user waits between a response and the next request, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "0", requires = "users", value_parser = seconds)]
    pub(crate) think: Duration,
    /// Makes so many requests once a response has come, and so on: --repeat is the number of such trees
    #[arg(long, value_name = "N", default_value_t = 0, requires = "depth")]
    pub(crate) fan_out: usize,
    /// Levels of these trees
    #[arg(long, value_name = "N", default_value_t = 1, requires = "fan_out", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: u32,
    /// Makes a connection for each request, and ends it
    #[arg(long)]
    pub(crate) new_connections: bool,
    /// Field added to all requests, as "name: value"; may be repeated
    #[arg(long, value_name = "FIELD", value_parser = field)]
    pub(crate) header: Vec<Field>,
    /// Names and values of header fields that all requests have besides, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = Padding::parse_bytes)]
    pub(crate) field_bytes: usize,
    /// Gives each request other values of these
    #[arg(long, requires = "field_bytes")]
    pub(crate) fields_change: bool,
    /// Content of each request, which is a POST, in bytes
    #[arg(long, value_name = "BYTES", conflicts_with_all = ["range", "resume"])]
    pub(crate) upload: Option<u64>,
    /// Sends that content once the server says that it wants it (Expect: 100-continue), or after
    /// --expect-timeout
    #[arg(long, requires = "upload")]
    pub(crate) expect: bool,
    /// How long the server may take to say so, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub(crate) expect_timeout: Duration,
    /// Reports when each message came that a response has, of server-sent events, and when it was made
    #[arg(long, conflicts_with_all = ["range", "resume", "output"])]
    pub(crate) events: bool,
    #[command(flatten)]
    pub(crate) talk: TalkOptions,
    /// Reads the first URL's response at this rate, in bytes a second, every 10 ms; flow control holds the server back
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) slow_rate: Option<u64>,
    /// Reads nothing of the content of the first URL's response for so many seconds after its head, and then all
    #[arg(long, value_name = "SECONDS", conflicts_with = "slow_rate", value_parser = seconds)]
    pub(crate) slow_pause: Option<Duration>,
    /// Priority field (RFC 9218), as "u=1, i": one for all URLs, or repeated one for each
    #[arg(long, value_name = "PRIORITY", value_parser = check_priority)]
    pub(crate) priority: Vec<String>,
    /// Place in HTTP/2's dependency tree, as PARENT:WEIGHT[:exclusive], where PARENT is an earlier
    /// URL's number or 0: one for all URLs, or repeated one for each
    #[arg(long, value_name = "PLACE")]
    pub(crate) dependency: Vec<Dependency>,
    /// Bytes of each URL's content, as FIRST-LAST, FIRST- or -LENGTH
    #[arg(long, value_name = "RANGE", value_parser = range, allow_hyphen_values = true)]
    pub(crate) range: Option<Range>,
    /// Fetches what is missing of a file that holds the URL's beginning, and appends it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["range", "output"])]
    pub(crate) resume: Option<PathBuf>,
    /// Directory for the contents; they are thrown away without this
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) output: Option<PathBuf>,
    /// Address to connect from
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) bind: Option<IpAddr>,
    /// Address of a host, which is not looked up then; may be repeated, also for further addresses of a host
    #[arg(long, value_name = "HOST:ADDRESS")]
    pub(crate) resolve: Vec<Resolved>,
    /// Resolver that is asked for the addresses of other hosts, and for their HTTPS records; the system's without this
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) resolver: Option<SocketAddr>,
    /// Over what it is asked
    #[arg(long, default_value = "udp", requires = "resolver")]
    pub(crate) resolver_over: Over,
    /// The kernel's congestion controller for TCP
    #[arg(long, value_name = "NAME")]
    pub(crate) cc: Option<String>,
    /// The kernel's receive buffer for TCP (SO_RCVBUF); its own choice without this
    #[arg(long, value_name = "BYTES")]
    pub(crate) receive_buffer: Option<usize>,
    /// HTTP/2's window for a stream
    #[arg(long, value_name = "BYTES", default_value = headway_knobs::default("headway-client", "h2-stream-window"), value_parser = headway_knobs::parser::<u32>("headway-client", "h2-stream-window"))]
    pub(crate) h2_stream_window: u32,
    /// HTTP/2's window for a connection
    #[arg(long, value_name = "BYTES", default_value = headway_knobs::default("headway-client", "h2-connection-window"), value_parser = headway_knobs::parser::<u32>("headway-client", "h2-connection-window"))]
    pub(crate) h2_connection_window: u32,
    #[command(flatten)]
    compression: CompressionOptions,
    /// Knobs of QUIC, as NAME=VALUE,NAME=VALUE; --help lists them
    #[arg(long, default_value = "", value_name = "KNOBS", value_parser = quic_knobs)]
    pub(crate) quic: Config,
    /// Directory for a qlog file of every QUIC connection
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) qlog: Option<PathBuf>,
    /// Directory for a compact trace of every QUIC connection
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) trace: Option<PathBuf>,
    /// Address to migrate QUIC to, on SIGUSR1 or as --migrate-after says; 0.0.0.0 or :: lets the
    /// kernel choose one of this host's
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0")]
    pub(crate) migrate_to: IpAddr,
    /// Migrates after so many bytes of content
    #[arg(long, value_name = "BYTES")]
    pub(crate) migrate_after: Option<u64>,
    /// Goes on from another port after so many bytes of content, without telling QUIC: as if a NAT
    /// had rebound
    #[arg(long, value_name = "BYTES")]
    pub(crate) rebind_after: Option<u64>,
    #[command(flatten)]
    pub(crate) tls: TlsOptions,
    /// Interval of the report's goodput, in milliseconds
    #[arg(long, value_name = "MS", default_value = "100", value_parser = milliseconds)]
    pub(crate) interval: Duration,
    #[command(flatten)]
    pub(crate) video: VideoOptions,
    /// Ends with what has come by then, in seconds from the start; 0 is never
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Where the report goes, as JSON; - is the standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Adds each content's SHA-256 to the report
    #[arg(long)]
    pub(crate) body_digest: bool,
}

/// A version of HTTP, as options call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProtocolName {
    H1,
    H2,
    H3,
    Auto,
}

impl ProtocolName {
    /// The version.
    ///
    /// # Arguments
    /// * `service` - what is known of the host, if it is to be found out.
    pub(crate) fn protocol(self, service: Option<&Service>) -> Protocol {
        match self {
            Self::H1 => Protocol::H1,
            Self::H3 => Protocol::H3,
            Self::Auto if service.is_some_and(|one| one.names(Protocol::H3.alpn())) => Protocol::H3,
            Self::H2 | Self::Auto => Protocol::H2,
        }
    }
}

/// A place in the dependency tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The URL depended on, from 1; 0 is none.
    pub(crate) parent: u64,
    /// From 1 to 256.
    pub(crate) weight: u16,
    /// Whether it becomes the parent's only child.
    pub(crate) exclusive: bool,
}

impl FromStr for Dependency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} is not PARENT:WEIGHT[:exclusive]");
        let mut parts = text.split(':');
        let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok());
        let (parent, weight) = number().zip(number()).ok_or_else(wrong)?;
        let weight = u16::try_from(weight).ok().filter(|weight| (1..=256).contains(weight));
        let exclusive = match (parts.next(), parts.next()) {
            (None, None) => false,
            (Some("exclusive"), None) => true,
            _ => return Err(wrong()),
        };
        Ok(Self { parent, weight: weight.ok_or("a weight is from 1 to 256")?, exclusive })
    }
}

/// A host with its address.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// The host.
    pub(crate) host: String,
    /// Its address.
    pub(crate) address: IpAddr,
}

impl FromStr for Resolved {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} is not HOST:ADDRESS");
        let (host, address) = text.split_once(':').ok_or_else(wrong)?;
        let address = address.trim_matches(['[', ']']).parse().map_err(|_| wrong())?;
        Ok(Self { host: host.to_owned(), address })
    }
}

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

    /// Dynamic tables.
    pub(crate) fn tables(&self) -> Tables {
        self.compression.or(Tables::default())
    }

    /// Changes of QUIC's address, and after how many bytes of content, in this order.
    pub(crate) fn moves(&self) -> Vec<(u64, Move)> {
        let migration = self.migrate_after.map(|bytes| (bytes, Move::Migration(self.migrate_to)));
        let rebinding = self.rebind_after.map(|bytes| (bytes, Move::Rebinding));
        let mut moves: Vec<_> = migration.into_iter().chain(rebinding).collect();
        moves.sort_by_key(|&(bytes, _)| bytes);
        moves
    }

    /// How QUIC is spoken.
    pub(crate) fn quic(&self) -> Config {
        let (qlog_directory, trace_directory) = (self.qlog.clone(), self.trace.clone());
        Config { qlog_directory, trace_directory, ..self.quic.clone() }
    }

    /// Header fields of requests that are there for their size.
    pub(crate) fn padding(&self) -> Padding {
        Padding { bytes: self.field_bytes, changes: self.fields_change }
    }

    /// How the first URL's response is read, if not as it comes.
    pub(crate) fn slowness(&self) -> Option<Slowness> {
        self.slow_rate.map(Slowness::Rate).or(self.slow_pause.map(Slowness::Pause))
    }

    /// The address to connect from.
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        self.bind.map(|address| SocketAddr::new(address, 0))
    }
}

/// What an option that is given once, or once for each URL, says of a URL.
pub(crate) fn of_url<T>(values: &[T], url: usize) -> Option<&T> {
    if values.len() == 1 { values.first() } else { values.get(url) }
}

fn quic_knobs(text: &str) -> Result<Config, KnobError> {
    text.parse()
}

fn quic_help() -> String {
    format!("Knobs of QUIC (--quic):\n{}", knobs::help())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        Options::try_parse_from([&["headway-client", "https://a.test/"], arguments].concat())
    }

    #[test]
    fn options_make_sense() {
        Options::command().debug_assert();
    }

    #[test]
    fn values_are_read() {
        let options = parse(&["--range", "-500", "--dependency", "1:256:exclusive"]).unwrap();
        assert_eq!(options.range, Some(Range::Last(500)));
        let place = Dependency { parent: 1, weight: 256, exclusive: true };
        assert_eq!(options.dependency, [place]);
        let options = parse(&["--start-offsets", "0,0.25", "--interval", "50ms"]).unwrap();
        assert_eq!(options.start_offsets[1], Duration::from_millis(250));
        assert_eq!(options.interval, Duration::from_millis(50));
        let options = parse(&["--resolve", "a.test:[::1]", "--bind", "10.0.0.1"]).unwrap();
        assert_eq!(options.resolve[0].address, "::1".parse::<IpAddr>().unwrap());
        assert_eq!(options.local().unwrap().to_string(), "10.0.0.1:0");
    }

    #[test]
    fn wrong_values_are_refused() {
        let wrong = [
            ["--range", "5-1"],
            ["--dependency", "1"],
            ["--dependency", "0:257"],
            ["--dependency", "0:1:x"],
            ["--resolve", "a.test"],
            ["--interval", "0"],
            ["--start-offsets", "-1"],
            ["--connections", "0"],
            ["--header", "no colon"],
            ["--protocol", "h4"],
        ];
        for arguments in wrong {
            assert!(parse(&arguments).is_err(), "{arguments:?}");
        }
    }

    #[test]
    fn one_value_is_for_all_urls() {
        assert_eq!((of_url(&["a"], 5), of_url(&["a", "b"], 1)), (Some(&"a"), Some(&"b")));
        assert_eq!((of_url(&["a", "b"], 2), of_url::<u8>(&[], 0)), (None, None));
    }

    #[test]
    fn tables_that_contradict_themselves() {
        let check = |capacity, streams| {
            let knobs = ["--qpack-capacity", capacity, "--qpack-blocked-streams", streams];
            parse(&knobs).unwrap().compression().check()
        };
        assert_eq!(check("4096", "100"), Ok(()));
        assert!(check("0", "100").is_err());
    }
}
