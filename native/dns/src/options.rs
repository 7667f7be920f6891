use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use headway_knobs::parse_time;

/// A resolver that answers from a file, over UDP, TCP and HTTPS, and tells what it was asked.
///
/// Exit status: 0 if a signal ended it, 1 if it cannot serve, 2 for wrong options or a wrong file.
#[derive(Debug, Parser)]
#[command(name = "headway-dns", version)]
pub(crate) struct Options {
    /// Address and port
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// Address and port for HTTPS (RFC 8484), by HTTP/2
    #[arg(long, value_name = "ADDRESS:PORT", requires_all = ["cert", "key"])]
    pub(crate) https: Option<SocketAddr>,
    /// Certificate chain, PEM, its own first
    #[arg(long, value_name = "FILE")]
    pub(crate) cert: Option<PathBuf>,
    /// The certificate's key, PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// What it knows: JSON, docs/native-dns.md
    #[arg(long, value_name = "FILE")]
    pub(crate) zone: PathBuf,
    /// How long it takes to find an answer
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = parse_time)]
    pub(crate) delay: Duration,
    /// How long a connection may be of no use before it ends (RFC 7766, section 6.2.3)
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = idle_time)]
    pub(crate) idle_time: Duration,
    /// Where a line of JSON goes for every query; - is the standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) report: PathBuf,
}

fn idle_time(text: &str) -> Result<Duration, String> {
    let time = parse_time(text)?;
    if time.is_zero() { Err("no connection would live".to_owned()) } else { Ok(time) }
}
