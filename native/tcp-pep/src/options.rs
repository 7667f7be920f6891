use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use headway_knobs::limits::Limits as _;

use crate::limits::Limits;
use crate::socket::SideOptions;

/// The program, as its knobs are declared.
const NAME: &str = "headway-tcp-pep";

/// Splits TCP connections between client and server, transparently for both.
///
/// The initial windows are those of this host's routes: `ip route replace ... initcwnd N`.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = Limits::help())]
pub(crate) struct Options {
    /// Where intercepted connections are delivered to; may be repeated
    #[arg(long, required = true, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Vec<SocketAddr>,
    /// Is not transparent, which needs no privileges: all connections go here, from this host
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) to: Option<SocketAddr>,
    /// Congestion control towards the client (TCP_CONGESTION); the route's or the host's without this
    #[arg(long, value_name = "NAME")]
    client_congestion_control: Option<String>,
    /// Congestion control towards the server (TCP_CONGESTION); the route's or the host's without this
    #[arg(long, value_name = "NAME")]
    server_congestion_control: Option<String>,
    /// Send and receive buffer towards the client (SO_SNDBUF, SO_RCVBUF); the kernel tunes them
    /// without this
    #[arg(long, value_name = "BYTES")]
    client_buffer: Option<usize>,
    /// Send and receive buffer towards the server (SO_SNDBUF, SO_RCVBUF); the kernel tunes them
    /// without this
    #[arg(long, value_name = "BYTES")]
    server_buffer: Option<usize>,
    /// Most unsent bytes in the kernel towards the client (TCP_NOTSENT_LOWAT); no bound without this
    #[arg(long, value_name = "BYTES")]
    client_notsent_lowat: Option<u32>,
    /// Most unsent bytes in the kernel towards the server (TCP_NOTSENT_LOWAT); no bound without this
    #[arg(long, value_name = "BYTES")]
    server_notsent_lowat: Option<u32>,
    /// How bytes get from one half to the other
    #[arg(long, default_value = headway_knobs::default(NAME, "copy"), value_name = "HOW")]
    pub(crate) copy: Copying,
    /// JSON lines for every connection, at its beginning and end, to this file; - is the standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// What clients may take, as NAME=VALUE,NAME=VALUE, or off; --help lists them
    #[arg(long, default_value = "", value_name = "LIMITS", value_parser = Limits::parse)]
    pub(crate) limits: Limits,
    /// Connections at a time, at most; further ones wait in the kernel
    #[arg(long, default_value_t = 4096, value_name = "N", value_parser = positive)]
    pub(crate) max_connections: usize,
}

/// How bytes get from one half of a connection to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Copying {
    /// Within the kernel: splice(2) through a pipe.
    Splice,
    /// Through this program's memory.
    Memory,
}

impl Options {
    /// What the halves towards clients are set to.
    pub(crate) fn client_side(&self) -> SideOptions {
        SideOptions {
            congestion_control: self.client_congestion_control.clone(),
            buffer_bytes: self.client_buffer,
            notsent_lowat_bytes: self.client_notsent_lowat,
        }
    }

    /// What the halves towards servers are set to.
    pub(crate) fn server_side(&self) -> SideOptions {
        SideOptions {
            congestion_control: self.server_congestion_control.clone(),
            buffer_bytes: self.server_buffer,
            notsent_lowat_bytes: self.server_notsent_lowat,
        }
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("{error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        Options::try_parse_from([&["headway-tcp-pep"], arguments].concat())
    }

    #[test]
    fn options_make_sense() {
        use clap::CommandFactory;
        Options::command().debug_assert();
    }

    #[test]
    fn each_side_has_its_own() {
        let options = parse(&[
            "--listen=0.0.0.0:443",
            "--client-congestion-control=hybla",
            "--server-buffer=65536",
            "--server-notsent-lowat=16384",
        ])
        .unwrap();
        let (client, server) = (options.client_side(), options.server_side());
        assert_eq!(client.congestion_control.as_deref(), Some("hybla"));
        assert_eq!((client.buffer_bytes, client.notsent_lowat_bytes), (None, None));
        assert_eq!(server.congestion_control, None);
        assert_eq!((server.buffer_bytes, server.notsent_lowat_bytes), (Some(65536), Some(16384)));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for wrong in [
            &[][..],
            &["--listen=443"],
            &["--listen=0.0.0.0:443", "--copy=magic"],
            &["--listen=0.0.0.0:443", "--max-connections=0"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
