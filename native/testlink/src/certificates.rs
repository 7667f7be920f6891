use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::CryptoProvider;
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};

use crate::numbers::Numbers;
use crate::provider;

/// A name that the certificate holds; the other is `localhost`.
pub const SERVER_NAME: &str = "server.test";
/// What comes before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410 section 7).
const ED25519_PKCS8: [u8; 16] =
    [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// The certificate of a seed, and TLS for those who have and who believe it.
///
/// Its key is one of Ed25519: signatures of ECDSA draw random numbers and vary in length.
#[derive(Debug)]
pub struct Certificates {
    certificate: CertificateDer<'static>,
    pem: String,
    key: KeyPair,
    provider: Arc<CryptoProvider>,
}

/// The age of tickets is told in real time; that of tests has none.
#[derive(Debug)]
struct Standstill;

impl TimeProvider for Standstill {
    fn current_time(&self) -> Option<UnixTime> {
        // 2026-01-01 00:00 UTC.
        Some(UnixTime::since_unix_epoch(Duration::from_secs(1_767_225_600)))
    }
}

impl Certificates {
    /// Those of a seed.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "there is nothing that may be wrong")]
    pub fn new(seed: u64) -> Self {
        let mut secret = [0; 32];
        Numbers::new(seed).fill(&mut secret);
        let key = PrivatePkcs8KeyDer::from([&ED25519_PKCS8[..], &secret].concat());
        let key = KeyPair::try_from(&key).expect("any bytes are a key");
        let certificate = CertificateParams::new([SERVER_NAME.to_owned(), "localhost".to_owned()])
            .and_then(|parameters| parameters.self_signed(&key))
            .expect("the names are valid ones");
        Self {
            certificate: certificate.der().clone(),
            pem: certificate.pem(),
            key,
            provider: provider(seed),
        }
    }

    /// The certificate itself.
    #[must_use]
    pub fn certificate(&self) -> CertificateDer<'static> {
        self.certificate.clone()
    }

    /// Its key.
    #[must_use]
    pub fn key(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.serialize_der()).into()
    }

    /// The certificate and its key as PEM files hold them.
    #[must_use]
    pub fn pem(&self) -> [String; 2] {
        [self.pem.clone(), self.key.serialize_pem()]
    }

    /// The cryptography of both sides.
    #[must_use]
    pub fn provider(&self) -> Arc<CryptoProvider> {
        Arc::clone(&self.provider)
    }

    /// A server that has the certificate and accepts early data.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "there is nothing that may be wrong")]
    pub fn server(&self, protocols: &[&str]) -> ServerConfig {
        let mut config = ServerConfig::builder_with_details(self.provider(), Arc::new(Standstill))
            .with_protocol_versions(&[&TLS13])
            .expect("the provider has TLS 1.3")
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate()], self.key())
            .expect("key and certificate belong together");
        config.alpn_protocols = identifiers(protocols);
        config.max_early_data_size = u32::MAX;
        config
    }

    /// A client that believes the certificate, and sends early data when it has a ticket.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "there is nothing that may be wrong")]
    pub fn client(&self, protocols: &[&str]) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate()).expect("it is a certificate");
        let mut config = ClientConfig::builder_with_details(self.provider(), Arc::new(Standstill))
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
