//! TLS of both sides, for whatever application protocol.

use std::sync::Arc;

use headway_quic::{QuicClientConfig, QuicServerConfig};

/// rustls has no cipher suite that QUIC begins with, or the protocol version is not 1.3.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("TLS 1.3 with AES-128-GCM, with which QUIC begins, is not among what is configured")]
pub struct NotForQuic;

/// TLS towards clients and towards the next hop.
#[derive(Clone)]
pub struct Tls {
    server: rustls::ServerConfig,
    client: rustls::ClientConfig,
    first_packets: Arc<QuicServerConfig>,
}

impl Tls {
    /// From configurations whose application protocols do not matter.
    ///
    /// # Errors
    /// They cannot be used for QUIC.
    pub fn new(
        server: &rustls::ServerConfig,
        client: &rustls::ClientConfig,
    ) -> Result<Self, NotForQuic> {
        QuicClientConfig::try_from(client.clone()).map_err(|_| NotForQuic)?;
        let first_packets = QuicServerConfig::try_from(server.clone()).map_err(|_| NotForQuic)?;
        let first_packets = Arc::new(first_packets);
        Ok(Self { server: server.clone(), client: client.clone(), first_packets })
    }

    /// What decrypts clients' first packets.
    pub(crate) fn first_packets(&self) -> &Arc<QuicServerConfig> {
        &self.first_packets
    }

    /// Towards a client, with these application protocols. All share sessions and tickets.
    pub(crate) fn server(&self, protocols: Vec<Vec<u8>>) -> Arc<QuicServerConfig> {
        let mut config = self.server.clone();
        config.alpn_protocols = protocols;
        Arc::new(QuicServerConfig::try_from(config).expect("it was tried with other protocols"))
    }

    /// Towards the next hop, with these application protocols. All share sessions and tickets.
    pub(crate) fn client(&self, protocols: Vec<Vec<u8>>) -> Arc<QuicClientConfig> {
        let mut config = self.client.clone();
        config.alpn_protocols = protocols;
        Arc::new(QuicClientConfig::try_from(config).expect("it was tried with other protocols"))
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("client", &self.client).finish_non_exhaustive()
    }
}
