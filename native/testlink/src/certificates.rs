use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The name that the certificate holds.
pub const SERVER_NAME: &str = "server.test";

/// A certificate that was made for one test, and whoever believes it.
#[derive(Debug)]
pub struct Certificates {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl Default for Certificates {
    fn default() -> Self {
        let certified = rcgen::generate_simple_self_signed([SERVER_NAME.to_owned()])
            .expect("the name is a valid one");
        Self {
            certificate: certified.cert.der().clone(),
            key: PrivatePkcs8KeyDer::from(certified.key_pair.serialize_der()),
            provider: Arc::new(rustls::crypto::ring::default_provider()),
        }
    }
}

impl Certificates {
    /// A server that has the certificate and accepts early data.
    #[must_use]
    pub fn server(&self, protocols: &[&str]) -> ServerConfig {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&TLS13])
            .expect("the provider has TLS 1.3")
            .with_no_client_auth()
            .with_single_cert(
                vec![self.certificate.clone()],
                PrivateKeyDer::Pkcs8(self.key.clone_key()),
            )
            .expect("key and certificate belong together");
        config.alpn_protocols = identifiers(protocols);
        config.max_early_data_size = u32::MAX;
        config
    }

    /// A client that believes the certificate, and sends early data when it has a ticket.
    #[must_use]
    pub fn client(&self, protocols: &[&str]) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("it is a certificate");
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&TLS13])
            .expect("the provider has TLS 1.3")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = identifiers(protocols);
        config.enable_early_data = true;
        config
    }
}

fn identifiers(protocols: &[&str]) -> Vec<Vec<u8>> {
    protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect()
}
