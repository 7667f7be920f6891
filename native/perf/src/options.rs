use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use headway_http::tcp::SocketOptions;
use headway_knobs::limits::Limits as _;
use headway_knobs::parse_time;
use headway_quic::{FirstStreams, knobs};
use rustls_pki_types::ServerName;

use crate::failure::StartError;
use crate::flow::{Amount, Job, Planned};
use crate::limits::Limits;
use crate::report::{Direction, Transport};

/// Measures bulk flows over QUIC, TLS over TCP and TCP.
///
/// Exit status: 0 if all flows succeeded, 1 if not, 2 for wrong options.
#[derive(Debug, Parser)]
#[command(name = "headway-perf", version)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Sends and receives what clients want
    #[command(after_long_help = server_help())]
    Server(ServerOptions),
    /// Starts flows and reports what became of them
    #[command(after_long_help = knobs_help())]
    Client(ClientOptions),
}

fn knobs_help() -> String {
    format!("Knobs of QUIC, --quic NAME=VALUE,...:\n{}", knobs::help())
}

fn server_help() -> String {
    format!("{}\n{}", knobs_help(), Limits::help())
}

/// Options of `headway-perf server`.
#[derive(Debug, Args)]
pub(crate) struct ServerOptions {
    /// Address and port; QUIC's is the UDP port of the same number
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// What to offer: quic, and tls or tcp
    #[arg(long, value_delimiter = ',', required = true, value_name = "LIST")]
    pub(crate) transport: Vec<Transport>,
    /// Certificate chain, PEM, the server's own first; for quic and tls
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// The certificate's key, PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
    /// Accepts data in the first flight of connections that resume a session (0-RTT)
    #[arg(long)]
    pub(crate) early_data: bool,
    /// Where a line of JSON goes for every flow that is over; - is the standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// What clients may take, as NAME=VALUE,NAME=VALUE, or off; --help lists them
    #[arg(long, default_value = "", value_name = "LIMITS", value_parser = Limits::parse)]
    pub(crate) limits: Limits,
    /// Connections at a time; further ones are refused
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) max_connections: usize,
    #[command(flatten)]
    pub(crate) transports: TransportOptions,
}

/// Options of `headway-perf client`.
#[derive(Debug, Args)]
pub(crate) struct ClientOptions {
    /// Where the server is
    #[arg(value_name = "ADDRESS:PORT")]
    pub(crate) server: SocketAddr,
    /// What to send the flows over
    #[arg(long, value_name = "TRANSPORT")]
    pub(crate) transport: Transport,
    /// Certificates of the authorities to be trusted, PEM
    #[arg(long, value_name = "FILE", default_value = "/etc/ssl/certs/ca-certificates.crt")]
    pub(crate) ca: PathBuf,
    /// Name that the server's certificate must have; its address without this
    #[arg(long, value_name = "NAME", value_parser = server_name)]
    pub(crate) server_name: Option<ServerName<'static>>,
    /// Address to connect from
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) bind: Option<IpAddr>,
    /// How many flows, each on a connection of its own
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    flows: u16,
    /// When each flow starts, as 0s,5s; all at once without this
    #[arg(long, value_name = "TIME,...", value_delimiter = ',', value_parser = parse_time)]
    start_offsets: Vec<Duration>,
    /// How long each flow sends, as 15s for all or 15s,5s for each
    #[arg(long, value_name = "TIME,...", value_delimiter = ',', value_parser = parse_time,
          required_unless_present = "bytes")]
    duration: Vec<Duration>,
    /// How much each flow sends, as one number for all or one for each
    #[arg(long, value_name = "N,...", value_delimiter = ',', conflicts_with = "duration",
          value_parser = clap::value_parser!(u64).range(..1 << 62))]
    bytes: Vec<u64>,
    /// Where the data go
    #[arg(long, value_name = "DIRECTION", default_value = "download")]
    direction: Direction,
    /// Makes connections beforehand, one for each flow, whose sessions the flows resume, with data in
    /// their first flight (0-RTT)
    #[arg(long)]
    pub(crate) early_data: bool,
    /// Where the report goes, as JSON; - is the standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) report: PathBuf,
    #[command(flatten)]
    pub(crate) transports: TransportOptions,
}

/// Options of both sides' transports.
#[derive(Debug, Args)]
pub(crate) struct TransportOptions {
    /// Length of an interval of the report's series
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = interval)]
    pub(crate) interval: Duration,
    /// Knobs of QUIC; --help lists them; may be repeated
    #[arg(long, value_name = "NAME=VALUE,...")]
    quic: Vec<String>,
    /// Directory for qlog files of QUIC connections
    #[arg(long, value_name = "DIRECTORY")]
    qlog: Option<PathBuf>,
    /// Directory for compact traces of QUIC senders
    #[arg(long, value_name = "DIRECTORY")]
    trace: Option<PathBuf>,
    /// The kernel's congestion controller for TCP
    #[arg(long, value_name = "NAME")]
    tcp_congestion_control: Option<String>,
    /// The kernel's send buffer for TCP (SO_SNDBUF); its own choice without this
    #[arg(long, value_name = "BYTES")]
    tcp_send_buffer: Option<usize>,
    /// The kernel's receive buffer for TCP (SO_RCVBUF); its own choice without this
    #[arg(long, value_name = "BYTES")]
    tcp_receive_buffer: Option<usize>,
    /// Bytes that may wait in the kernel unsent (TCP_NOTSENT_LOWAT); 0 is no limit
    #[arg(long, value_name = "BYTES", default_value = headway_knobs::default("headway-perf", "notsent-lowat"))]
    tcp_notsent_lowat: u32,
    /// Largest TLS record sent over TCP, its header included; 16 KiB of data without this
    #[arg(long, value_name = "BYTES", value_parser = headway_knobs::parser::<u32>("headway-perf", "tls-record-bytes"))]
    tls_record_bytes: Option<u32>,
}

impl TransportOptions {
    /// How QUIC behaves.
    pub(crate) fn quic(&self) -> Result<headway_quic::Config, StartError> {
        let mut config = headway_quic::Config::default();
        for knobs in &self.quic {
            config.set(knobs)?;
        }
        config.qlog_directory.clone_from(&self.qlog);
        config.trace_directory.clone_from(&self.trace);
        Ok(config)
    }

    /// The largest TLS record over TCP.
    pub(crate) fn record_bytes(&self) -> Option<usize> {
        self.tls_record_bytes.map(|bytes| bytes as usize)
    }

    /// What TCP sockets are set to.
    pub(crate) fn tcp(&self) -> SocketOptions {
        SocketOptions {
            congestion_control: self.tcp_congestion_control.clone(),
            notsent_lowat_bytes: (self.tcp_notsent_lowat > 0).then_some(self.tcp_notsent_lowat),
            send_buffer_bytes: self.tcp_send_buffer,
            receive_buffer_bytes: self.tcp_receive_buffer,
            ..SocketOptions::default()
        }
    }
}

impl ClientOptions {
    /// What each flow is to do, and when it starts.
    pub(crate) fn flows(&self) -> Result<Vec<Planned>, StartError> {
        let starts = self.starts()?;
        let times = self.duration.iter().map(|&time| Amount::Time(time));
        let mut amounts: Vec<_> =
            times.chain(self.bytes.iter().map(|&bytes| Amount::Bytes(bytes))).collect();
        if let [all] = amounts[..] {
            amounts = vec![all; starts.len()];
        }
        if amounts.len() != starts.len() {
            return Err(StartError::Options(
                "--duration or --bytes needs one for all, or each flow's",
            ));
        }
        let (direction, interval) = (self.direction, self.transports.interval);
        let planned = starts
            .into_iter()
            .zip(amounts)
            .map(|(start, amount)| Planned { start, job: Job { direction, amount, interval } });
        Ok(planned.collect())
    }

    /// When each flow starts.
    fn starts(&self) -> Result<Vec<Duration>, StartError> {
        let flows = usize::from(self.flows);
        match self.start_offsets.len() {
            0 => Ok(vec![Duration::ZERO; flows]),
            offsets if flows == 1 || offsets == flows => Ok(self.start_offsets.clone()),
            _ => Err(StartError::Options("--start-offsets needs a time for each of --flows")),
        }
    }

    /// Who the server must be.
    pub(crate) fn server_name(&self) -> ServerName<'static> {
        self.server_name.clone().unwrap_or_else(|| self.server.ip().into())
    }
}

/// Open files besides those of connections: listeners, signals, epoll, the report, and some to spare.
const OTHER_DESCRIPTORS: usize = 32;
/// Unidirectional streams that a connection may begin with; there is no use for any.
const FIRST_UNWANTED: u32 = 10;

impl ServerOptions {
    /// Open files that they need: a socket for each connection and its traces.
    pub(crate) fn descriptors(&self) -> u64 {
        let traces = [&self.transports.qlog, &self.transports.trace];
        let each = 1 + traces.into_iter().flatten().count();
        self.max_connections.saturating_mul(each).saturating_add(OTHER_DESCRIPTORS) as u64
    }

    /// How QUIC behaves.
    pub(crate) fn quic(&self) -> Result<headway_quic::Config, StartError> {
        let first = |bidirectional| FirstStreams { bidirectional, unidirectional: FIRST_UNWANTED };
        let first_streams = self.limits.newcomers.first_streams.map(first);
        Ok(headway_quic::Config { first_streams, ..self.transports.quic()? })
    }

    /// Whether the options go together.
    pub(crate) fn check(&self) -> Result<(), StartError> {
        let has = |transport| self.transport.contains(&transport);
        if has(Transport::Tls) && has(Transport::Tcp) {
            return Err(StartError::Options("tls and tcp cannot share a port"));
        }
        if self.certificate.is_none() && (has(Transport::Quic) || has(Transport::Tls)) {
            return Err(StartError::Options("quic and tls need --certificate and --key"));
        }
        Ok(())
    }
}

fn server_name(text: &str) -> Result<ServerName<'static>, String> {
    ServerName::try_from(text.to_owned()).map_err(|error| error.to_string())
}

fn interval(text: &str) -> Result<Duration, String> {
    let length = parse_time(text)?;
    if length.is_zero() { Err("an interval is longer than nothing".to_owned()) } else { Ok(length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(arguments: &[&str]) -> Result<ClientOptions, clap::Error> {
        let all = [&["headway-perf", "client", "127.0.0.1:1", "--transport", "quic"], arguments];
        match Options::try_parse_from(all.concat())?.command {
            Command::Client(options) => Ok(options),
            Command::Server(_) => unreachable!("it is not what was asked for"),
        }
    }

    #[test]
    fn options_make_sense() {
        use clap::CommandFactory;
        Options::command().debug_assert();
    }

    fn amounts(arguments: &[&str]) -> Vec<Amount> {
        client(arguments).unwrap().flows().unwrap().iter().map(|one| one.job.amount).collect()
    }

    #[test]
    fn a_flow_has_a_duration_or_a_size() {
        assert!(client(&[]).is_err());
        assert!(client(&["--bytes", "1", "--duration", "1s"]).is_err());
        assert_eq!(amounts(&["--bytes", "7"]), [Amount::Bytes(7)]);
        let time = |ms| Amount::Time(Duration::from_millis(ms));
        assert_eq!(amounts(&["--duration", "1.5s"]), [time(1500)]);
        let two = ["--start-offsets", "0s,5s"];
        assert_eq!(amounts(&[&["--bytes", "7"][..], &two].concat()), [Amount::Bytes(7); 2]);
        assert_eq!(
            amounts(&[&["--duration", "1s,2s"][..], &two].concat()),
            [time(1000), time(2000)]
        );
        assert!(client(&["--bytes", "1,2,3", "--flows", "2"]).unwrap().flows().is_err());
    }

    #[test]
    fn times_have_units() {
        assert_eq!(parse_time("100ms"), Ok(Duration::from_millis(100)));
        assert_eq!(parse_time("20us"), Ok(Duration::from_micros(20)));
        for wrong in ["5", "-1s", "s", "fast", "nans"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
        assert!(interval("0s").is_err());
    }

    #[test]
    fn offsets_are_for_each_flow() {
        let offsets =
            |arguments: &[&str]| client(&[&["--bytes", "1"], arguments].concat()).unwrap().starts();
        let seconds = Duration::from_secs;
        assert_eq!(offsets(&["--flows", "2"]).unwrap(), [seconds(0), seconds(0)]);
        assert_eq!(offsets(&["--start-offsets", "0s,5s"]).unwrap(), [seconds(0), seconds(5)]);
        assert!(offsets(&["--flows", "3", "--start-offsets", "0s,5s"]).is_err());
    }
}
