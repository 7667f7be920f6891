use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use headway_knobs::parse_time;

use crate::Failure;
use crate::message::{Call, Direction, MEDIA_HEADER_BYTES, MOST_MEDIA, SHORTEST_INTERVAL_NS};

/// Sends datagrams at a constant rate, and tells how many came, and how late.
///
/// Exit status: 0 if the call took place, 1 if not, 2 for wrong options.
#[derive(Debug, Parser)]
#[command(name = "headway-call", version)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Sends to clients and receives from them
    Server(ServerOptions),
    /// Calls a server once
    Client(ClientOptions),
}

/// Options of `headway-call server`.
#[derive(Debug, Args)]
pub(crate) struct ServerOptions {
    /// Address and port
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// Where a line of JSON goes for every call that was received; - is the standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) report: PathBuf,
    /// Calls at a time; further ones are not answered
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) max_calls: usize,
}

/// Options of `headway-call client`.
#[derive(Debug, Args)]
pub(crate) struct ClientOptions {
    /// Where the server is
    #[arg(value_name = "ADDRESS:PORT")]
    pub(crate) server: SocketAddr,
    /// Address to call from
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) bind: Option<IpAddr>,
    /// Time between datagrams, as 20ms
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    every: Duration,
    /// UDP payload of each datagram, bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1200,
          value_parser = clap::value_parser!(u16).range(MEDIA_HEADER_BYTES as i64..=65_507))]
    payload: u16,
    /// How many datagrams
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_MEDIA)))]
    count: u32,
    /// Where they go
    #[arg(long, value_name = "DIRECTION", default_value = "download")]
    direction: Direction,
    /// Length of an interval of the series
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = parse_time)]
    interval: Duration,
    /// Where the report goes, as JSON; - is the standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) report: PathBuf,
}

impl ClientOptions {
    /// What the call is.
    pub(crate) fn call(&self) -> Result<Call, Failure> {
        if self.every.is_zero() || self.interval < Duration::from_nanos(SHORTEST_INTERVAL_NS) {
            return Err(Failure::Options(
                "--every is longer than nothing, --interval 1ms at least",
            ));
        }
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Ok(Call {
            direction: self.direction,
            every_ns: nanoseconds(self.every),
            interval_ns: nanoseconds(self.interval),
            payload_bytes: self.payload,
            count: self.count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &[&str]) -> Result<Call, String> {
        let all = [&["headway-call", "client", "127.0.0.1:1"], arguments].concat();
        match Options::try_parse_from(all).map_err(|error| error.to_string())?.command {
            Command::Client(options) => options.call().map_err(|error| error.to_string()),
            Command::Server(_) => unreachable!("it is not what was asked for"),
        }
    }

    #[test]
    fn options_make_sense() {
        use clap::CommandFactory;
        Options::command().debug_assert();
    }

    #[test]
    fn a_call_is_what_options_say() {
        let call = call(&["--every", "20ms", "--count", "50", "--direction", "upload"]).unwrap();
        assert_eq!((call.every_ns, call.count, call.payload_bytes), (20_000_000, 50, 1200));
        assert_eq!(call.direction, Direction::Upload);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for wrong in [
            &["--every", "20ms"][..],
            &["--every", "0s", "--count", "5"],
            &["--every", "20", "--count", "5"],
            &["--every", "20ms", "--count", "5", "--interval", "1us"],
            &["--every", "20ms", "--count", "0"],
            &["--every", "20ms", "--count", "5", "--payload", "16"],
        ] {
            assert!(call(wrong).is_err(), "{wrong:?}");
        }
    }
}
