use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use super::{Protocol, TlsError, Versions, certificates, key_log};

/// What a server shows: its chain of certificates, and its key.
#[derive(Debug)]
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    /// An identity from what is in memory.
    #[must_use]
    pub fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Self {
        Self { chain, key }
    }

    /// An identity from two PEM files: the chain, the server's own certificate first, and the key.
    ///
    /// # Errors
    /// A file is missing, or has something else in it.
    pub fn from_pem_files(chain: &Path, key: &Path) -> Result<Self, TlsError> {
        let wrong = |source| TlsError::Pem { path: key.into(), source };
        let secret = PrivateKeyDer::from_pem_file(key).map_err(wrong)?;
        Ok(Self { chain: certificates(chain)?, key: secret })
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self { chain: self.chain.clone(), key: self.key.clone_key() }
    }
}

/// What a server's TLS does.
#[derive(Clone, Debug)]
pub struct ServerTls {
    /// Whose cryptography, and random numbers, it has.
    pub provider: Arc<CryptoProvider>,
    /// What it shows.
    pub identity: Identity,
    /// What it speaks, the preferred one first.
    pub protocols: Vec<Protocol>,
    /// Which versions of TLS.
    pub versions: Versions,
    /// How much early data it accepts on a resumed connection (RFC 8446, section 4.2.10), in bytes;
    /// 0 is none. QUIC knows only none and `u32::MAX` (RFC 9001, section 4.6.1).
    pub early_data_bytes: u32,
    /// Largest TLS record it sends, header included, in bytes; 16 KiB of content if none.
    pub record_bytes: Option<usize>,
}

impl ServerTls {
    /// The configuration for rustls. Tickets are encrypted, with a key that the process keeps.
    ///
    /// # Errors
    /// rustls refuses the key or the chain.
    pub fn config(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(self.versions.list())?
            .with_no_client_auth()
            .with_single_cert(self.identity.chain.clone(), self.identity.key.clone_key())?;
        config.alpn_protocols = self.protocols.iter().map(|p| p.alpn().to_vec()).collect();
        config.key_log = key_log();
        config.max_fragment_size = self.record_bytes;
        config.max_early_data_size = self.early_data_bytes;
        // rustls refuses early data on stateless tickets: nothing would stop a replay.
        if self.early_data_bytes == 0 {
            config.ticketer = rustls::crypto::ring::Ticketer::new()?;
        }
        Ok(Arc::new(config))
    }
}
