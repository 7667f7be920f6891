use std::sync::Arc;

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::crypto::{ClientConfig, Keys, ServerConfig, Session, UnsupportedVersion};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId};

use super::keys::observed_keys;
use super::log::{SharedLog, Space};
use super::session::ObservedSession;

/// TLS of one connection as a client, its packets shown to a log.
pub(crate) struct ObservedClientConfig {
    pub(crate) tls: Arc<QuicClientConfig>,
    pub(crate) log: SharedLog,
}

impl ClientConfig for ObservedClientConfig {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let session = Arc::clone(&self.tls).start_session(version, server_name, params)?;
        Ok(Box::new(ObservedSession::new(session, params, self.log.clone())))
    }
}

/// TLS of one connection as a server, its packets shown to a log.
///
/// As that of an endpoint, it shows the first packets of connections that do not exist yet.
pub(crate) struct ObservedServerConfig {
    pub(crate) tls: Arc<QuicServerConfig>,
    pub(crate) log: SharedLog,
}

impl ServerConfig for ObservedServerConfig {
    fn initial_keys(
        &self,
        version: u32,
        dst_cid: &ConnectionId,
    ) -> Result<Keys, UnsupportedVersion> {
        let keys = self.tls.initial_keys(version, dst_cid)?;
        Ok(observed_keys(keys, Space::Initial, &self.log))
    }

    fn retry_tag(&self, version: u32, orig_dst_cid: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.tls.retry_tag(version, orig_dst_cid, packet)
    }

    fn start_session(
        self: Arc<Self>,
        version: u32,
        params: &TransportParameters,
    ) -> Box<dyn Session> {
        let session = Arc::clone(&self.tls).start_session(version, params);
        Box::new(ObservedSession::new(session, params, self.log.clone()))
    }
}
