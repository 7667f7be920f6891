use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use headway_http::tls::{ClientTls, Identity, ServerTls, TlsError, Trust, Versions, provider};
use headway_knobs::limits::Limits as _;
use headway_quic::knobs::{self, KnobError};
use headway_quic::{Config, FirstStreams};
use headway_quic_pep::{Limits, Mode, NotForQuic, Pool, Settings, Tls};
use headway_schedule::Strategy;

/// Why the proxy cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// A knob is wrong.
    #[error(transparent)]
    Knob(#[from] KnobError),
    /// Certificates or key are of no use.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// TLS is of no use for QUIC.
    #[error(transparent)]
    Quic(#[from] NotForQuic),
    /// A socket, a file or the reactor fails.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The program, as its knobs are declared.
const NAME: &str = "headway-quic-pep";

/// Splits QUIC connections: ends the client's and opens another to the next hop, with the same
/// streams.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = knobs_help())]
pub(crate) struct Options {
    /// Where clients connect to
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// The next hop: the next proxy, or the server
    #[arg(long, value_name = "ADDRESS:PORT")]
    to: SocketAddr,
    /// Certificate chain shown to clients, PEM, the proxy's own first
    #[arg(long, value_name = "FILE")]
    certificate: PathBuf,
    /// The certificate's key, PEM
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Certificates of the authorities that the next hop is verified with, PEM
    #[arg(long, value_name = "FILE", default_value = "/etc/ssl/certs/ca-certificates.crt")]
    ca: PathBuf,
    /// Name by which the next hop is asked for and verified; the one that the client asks for
    /// without this
    #[arg(long, value_name = "NAME")]
    server_name: Option<String>,
    /// Whether clients are accepted at once, when the handshake with the next hop is complete, or when
    /// they send a packet again after that
    #[arg(long, default_value = headway_knobs::default(NAME, "mode"), value_name = "MODE")]
    mode: ModeName,
    /// Knobs of QUIC towards clients; --help lists them; may be repeated
    #[arg(long, value_name = "NAME=VALUE,...")]
    client_quic: Vec<String>,
    /// Knobs of QUIC towards the next hop; may be repeated
    #[arg(long, value_name = "NAME=VALUE,...")]
    server_quic: Vec<String>,
    /// In which order streams are sent: sequential, round-robin, batched-round-robin:N or others
    #[arg(long, default_value = headway_knobs::default(NAME, "scheduler"), value_name = "NAME")]
    scheduler: Strategy,
    /// Accepts early data (0-RTT) of clients that come again
    #[arg(long)]
    client_early_data: bool,
    /// Sends early data (0-RTT) to the next hop after the first connection
    #[arg(long)]
    server_early_data: bool,
    /// Connections to the next hop that wait for clients, their handshake complete
    #[arg(long, value_name = "N", default_value = headway_knobs::default(NAME, "pool"), requires = "server_name")]
    pool: usize,
    /// The application protocol of connections that wait
    #[arg(long, value_name = "NAME", default_value = "h3")]
    pool_protocol: String,
    /// How long the handshake with the next hop may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value = headway_knobs::default(NAME, "connect-timeout"), value_parser = seconds)]
    connect_timeout: Duration,
    /// Application error code that one end gets when the other's connection fails; HTTP/3's
    /// H3_INTERNAL_ERROR without this
    #[arg(long, value_name = "CODE", default_value_t = 0x102,
          value_parser = clap::value_parser!(u64).range(..1 << 62))]
    failure_code: u64,
    /// Directory for qlog files of connections with clients
    #[arg(long, value_name = "DIRECTORY")]
    client_qlog: Option<PathBuf>,
    /// Directory for qlog files of connections to the next hop
    #[arg(long, value_name = "DIRECTORY")]
    server_qlog: Option<PathBuf>,
    /// Directory for compact traces of what is sent to clients
    #[arg(long, value_name = "DIRECTORY")]
    client_trace: Option<PathBuf>,
    /// Directory for compact traces of what is sent to the next hop
    #[arg(long, value_name = "DIRECTORY")]
    server_trace: Option<PathBuf>,
    /// A JSON line for every connection, to this file; - is the standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Clients at a time; further ones are refused
    #[arg(long, value_name = "N", default_value_t = 900)]
    max_clients: usize,
    /// What clients may take, as NAME=VALUE,NAME=VALUE, or off; --help lists them
    #[arg(long, default_value = "", value_name = "LIMITS", value_parser = Limits::parse)]
    limits: Limits,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModeName {
    /// At once.
    Default,
    /// When the handshake with the next hop is complete.
    H3Capable,
    /// When they send a packet again after that.
    Probed,
}

impl Options {
    /// What the proxy does.
    pub(crate) fn settings(&self) -> Result<Settings, StartError> {
        Ok(Settings {
            next_hop_name: self.server_name.clone(),
            mode: match self.mode {
                ModeName::Default => Mode::Default,
                ModeName::H3Capable => Mode::H3Capable,
                ModeName::Probed => Mode::Probed,
            },
            downstream: Arc::new(self.downstream()?),
            upstream: Arc::new(self.upstream()?),
            scheduler: self.scheduler,
            connect_timeout: self.connect_timeout,
            failure_code: self.failure_code,
            pool: self.pool(),
            max_clients: self.max_clients,
            limits: self.limits,
            ..Settings::towards(self.to)
        })
    }

    fn downstream(&self) -> Result<Config, StartError> {
        let same = |streams| FirstStreams { bidirectional: streams, unidirectional: streams };
        let first_streams = self.limits.newcomers.first_streams.map(same);
        let config = quic(&self.client_quic, &self.client_qlog, &self.client_trace)?;
        Ok(Config { first_streams, send_memory: self.send_memory(), ..config })
    }

    fn upstream(&self) -> Result<Config, StartError> {
        let config = quic(&self.server_quic, &self.server_qlog, &self.server_trace)?;
        Ok(Config { send_memory: self.send_memory(), ..config })
    }

    /// What was sent to either end and is not acknowledged may take half of what a client may.
    fn send_memory(&self) -> Option<u64> {
        self.limits.memory.of_each.map(|bytes| bytes / 2)
    }

    /// TLS of both sides.
    pub(crate) fn tls(&self) -> Result<Tls, StartError> {
        let server = ServerTls {
            provider: provider(),
            identity: Identity::from_pem_files(&self.certificate, &self.key)?,
            protocols: Vec::new(),
            versions: Versions::Tls13,
            early_data_bytes: if self.client_early_data { u32::MAX } else { 0 },
            record_bytes: None,
        };
        let client = ClientTls {
            provider: provider(),
            trust: Trust::File(self.ca.clone()),
            protocols: Vec::new(),
            versions: Versions::Tls13,
            early_data: self.server_early_data,
        };
        Ok(Tls::new(&*server.config()?, &*client.config()?)?)
    }

    fn pool(&self) -> Option<Pool> {
        let server_name = self.server_name.clone().filter(|_| self.pool > 0)?;
        let protocol = self.pool_protocol.clone().into_bytes();
        Some(Pool { size: self.pool, server_name, protocol })
    }
}

fn quic(
    knobs: &[String],
    qlog: &Option<PathBuf>,
    trace: &Option<PathBuf>,
) -> Result<Config, StartError> {
    let mut config = Config::default();
    for knobs in knobs {
        config.set(knobs)?;
    }
    config.qlog_directory.clone_from(qlog);
    config.trace_directory.clone_from(trace);
    Ok(config)
}

fn knobs_help() -> String {
    format!(
        "Knobs of QUIC, --client-quic and --server-quic NAME=VALUE,...:\n{}\n{}",
        knobs::help(),
        Limits::help()
    )
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds")?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use headway_congestion::{Algorithm, WindowSize};

    use super::*;

    fn settings(arguments: &[&str]) -> Result<Settings, String> {
        let needed =
            ["headway-quic-pep", "--listen=[::]:443", "--to=10.0.0.2:443", "--certificate=c"];
        let all = [&needed[..], &["--key=k"], arguments].concat();
        let options = Options::try_parse_from(all).map_err(|error| error.to_string())?;
        options.settings().map_err(|error| error.to_string())
    }

    #[test]
    fn options_make_sense() {
        use clap::CommandFactory;
        Options::command().debug_assert();
    }

    #[test]
    fn each_side_has_its_own_knobs() {
        let settings = settings(&[
            "--client-quic=congestion-control=newreno,initial-window=100",
            "--server-quic=ack-threshold=10",
            "--server-quic=max-streams=7",
            "--server-qlog=/tmp/q",
            "--mode=h3-capable",
        ])
        .unwrap();
        let (client, server) = (&settings.downstream, &settings.upstream);
        assert_eq!(client.congestion.algorithm, Algorithm::NewReno);
        assert_eq!(client.congestion.initial_window, WindowSize::Packets(100));
        assert_eq!(server.congestion.algorithm, Algorithm::Cubic);
        assert_eq!(server.max_streams, 7);
        assert_eq!(server.ack_frequency.unwrap().ack_eliciting_threshold, 10);
        assert_eq!(
            (&client.qlog_directory, &server.qlog_directory),
            (&None, &Some("/tmp/q".into()))
        );
        assert_eq!(settings.mode, Mode::H3Capable);
        assert!(settings.pool.is_none());
        assert_eq!(settings.limits, Limits::default());
        let first = FirstStreams { bidirectional: 100, unidirectional: 100 };
        assert_eq!((client.first_streams, server.first_streams), (Some(first), None));
    }

    #[test]
    fn connections_that_wait_need_a_name() {
        assert!(settings(&["--pool=2"]).unwrap_err().contains("--server-name"));
        let pool = settings(&["--pool=2", "--server-name=server.test"]).unwrap().pool.unwrap();
        assert_eq!((pool.size, &pool.protocol[..]), (2, &b"h3"[..]));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        assert!(settings(&["--client-quic=cc=cubic"]).unwrap_err().contains("congestion-control"));
        assert!(settings(&["--mode=h3"]).is_err());
        assert!(settings(&["--connect-timeout=-1"]).is_err());
        let contradiction = settings(&["--limits=idle-time=5s"]).unwrap_err();
        assert!(contradiction.contains("handshake-time=10s is longer than idle-time=5s"));
    }
}
