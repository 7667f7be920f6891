use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;

use super::{Protocol, TlsError, Versions, certificates, key_log};

/// Servers whose tickets are kept.
const RESUMABLE_SERVERS: usize = 256;

/// Which certificates a client believes.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Those of a PEM file.
    File(PathBuf),
    /// These.
    Roots(Vec<CertificateDer<'static>>),
}

impl Trust {
    fn store(&self) -> Result<RootCertStore, TlsError> {
        let mut store = RootCertStore::empty();
        match self {
            // A bundle of a distribution may hold what rustls does not understand.
            Self::File(path) => {
                store.add_parsable_certificates(certificates(path)?);
                if store.is_empty() {
                    return Err(TlsError::NoCertificate(path.clone()));
                }
            }
            Self::Roots(roots) => {
                for root in roots {
                    store.add(root.clone())?;
                }
            }
        }
        Ok(store)
    }
}

/// What a client's TLS does.
#[derive(Clone, Debug)]
pub struct ClientTls {
    /// Whose cryptography, and random numbers, it has.
    pub provider: Arc<CryptoProvider>,
    /// Whom it believes.
    pub trust: Trust,
    /// What it offers, the preferred one first.
    pub protocols: Vec<Protocol>,
    /// Which versions of TLS.
    pub versions: Versions,
    /// Whether requests go out as early data on resumed connections.
    pub early_data: bool,
}

impl ClientTls {
    /// The configuration for rustls. Connections that share it resume one another's sessions.
    ///
    /// # Errors
    /// A file of certificates is missing or has none.
    pub fn config(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(self.versions.list())?
            .with_root_certificates(self.trust.store()?)
            .with_no_client_auth();
        config.alpn_protocols = self.protocols.iter().map(|p| p.alpn().to_vec()).collect();
        config.key_log = key_log();
        config.resumption = Resumption::in_memory_sessions(RESUMABLE_SERVERS);
        config.enable_early_data = self.early_data;
        Ok(Arc::new(config))
    }
}
