use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use headway_http::tcp::{SocketOptions, TlsSide};
use headway_quic::QuicClientConfig;
use rustls_pki_types::ServerName;

use crate::client::link::{Ends, Link};
use crate::client::quic::QuicLink;
use crate::client::tcp::TcpLink;
use crate::failure::{Failure, StartError};
use crate::options::ClientOptions;
use crate::report::Transport;
use crate::tls;

/// Makes connections to the server. What connections share is here, sessions included.
pub(crate) struct Connector {
    /// What they are over.
    pub(crate) transport: Transport,
    /// What they connect.
    pub(crate) ends: Ends,
    method: Method,
}

enum Method {
    Quic {
        tls: Arc<QuicClientConfig>,
        name: ServerName<'static>,
        config: Arc<headway_quic::Config>,
    },
    Tcp {
        tls: Option<TlsSide>,
        options: SocketOptions,
    },
}

impl Connector {
    /// A connector as the options want it.
    pub(crate) fn new(options: &ClientOptions) -> Result<Self, StartError> {
        let any = match options.server {
            SocketAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
        };
        let local = options.bind.unwrap_or(any);
        if local.is_ipv4() != any.is_ipv4() {
            return Err(StartError::Options("--bind has an address of the other family"));
        }
        Ok(Self {
            transport: options.transport,
            ends: Ends {
                server: options.server,
                local: SocketAddr::new(local, 0),
                early_data: options.early_data,
            },
            method: Method::new(options)?,
        })
    }

    /// Begins to connect.
    pub(crate) fn connect(&self, now: Instant) -> Result<Box<dyn Link>, Failure> {
        match &self.method {
            Method::Quic { tls, name, config } => {
                Ok(Box::new(QuicLink::connect(self.ends, name, tls, config, now)?))
            }
            Method::Tcp { tls, options } => {
                Ok(Box::new(TcpLink::connect(self.ends, options, tls.clone(), now)?))
            }
        }
    }
}

impl Method {
    fn new(options: &ClientOptions) -> Result<Self, StartError> {
        let config = Arc::new(options.transports.quic()?);
        if options.transport == Transport::Tcp && options.early_data {
            return Err(StartError::Options("tcp without TLS has no early data"));
        }
        if options.transport == Transport::Tcp {
            return Ok(Self::Tcp { tls: None, options: options.transports.tcp() });
        }
        let record_bytes = options.transports.record_bytes();
        let tls = tls::client(&options.ca, options.early_data, record_bytes)?;
        let name = options.server_name();
        Ok(match options.transport {
            Transport::Quic => Self::Quic { tls: tls::quic_client(tls), name, config },
            Transport::Tls | Transport::Tcp => Self::Tcp {
                tls: Some(TlsSide::Client(tls, name)),
                options: options.transports.tcp(),
            },
        })
    }
}
