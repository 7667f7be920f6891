//! TLS of both sides.

use std::sync::Arc;

use headway_quic::{QuicClientConfig, QuicServerConfig};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// A server's certificate, and clients that trust it.
pub(crate) struct Authority {
    chain: Vec<CertificateDer<'static>>,
    key: Vec<u8>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let certified = rcgen::generate_simple_self_signed(["server.test".to_owned()]).unwrap();
        let chain = vec![certified.cert.der().clone()];
        Self { chain, key: certified.key_pair.serialize_der() }
    }

    pub(crate) fn client(&self, protocol: &str) -> Arc<QuicClientConfig> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.chain[0].clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![protocol.into()];
        tls.enable_early_data = true;
        Arc::new(QuicClientConfig::try_from(Arc::new(tls)).unwrap())
    }

    /// A server; none knows another one's sessions.
    pub(crate) fn server(&self, early_data: bool) -> Arc<QuicServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::try_from(self.key.clone()).unwrap();
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(self.chain.clone(), key)
            .unwrap();
        tls.alpn_protocols = vec![b"test".to_vec()];
        tls.max_early_data_size = if early_data { u32::MAX } else { 0 };
        Arc::new(QuicServerConfig::try_from(Arc::new(tls)).unwrap())
    }
}
