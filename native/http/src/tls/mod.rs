//! TLS configurations, for TCP and for QUIC.

mod client;
mod cryptography;
mod mlkem;
mod server;

pub use client::{ClientTls, Trust};
pub use cryptography::{Cipher, Cryptography, Group};
pub use server::{Identity, ServerTls};

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::{KeyLogFile, SupportedProtocolVersion, version};
use serde::Serialize;

/// A version of HTTP, as ALPN names it (RFC 7301).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/1.1 (RFC 9112).
    H1,
    /// HTTP/2 (RFC 9113).
    H2,
    /// HTTP/3 (RFC 9114).
    H3,
}

impl Protocol {
    /// Its ALPN identifier.
    #[must_use]
    pub fn alpn(self) -> &'static [u8] {
        match self {
            Self::H1 => b"http/1.1",
            Self::H2 => b"h2",
            Self::H3 => b"h3",
        }
    }

    /// The protocol of an ALPN identifier.
    #[must_use]
    pub fn from_alpn(identifier: &[u8]) -> Option<Self> {
        [Self::H1, Self::H2, Self::H3].into_iter().find(|p| p.alpn() == identifier)
    }
}

static ALL_VERSIONS: [&SupportedProtocolVersion; 2] = [&version::TLS13, &version::TLS12];

/// Which versions of TLS an endpoint speaks. QUIC needs 1.3 (RFC 9001, section 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// 1.2 and 1.3.
    #[default]
    All,
    /// 1.2 only: its handshake takes a round trip more.
    Tls12,
    /// 1.3 only.
    Tls13,
}

impl FromStr for Versions {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "all" => Ok(Self::All),
            "1.2" => Ok(Self::Tls12),
            "1.3" => Ok(Self::Tls13),
            _ => Err("it is none of all, 1.2 and 1.3"),
        }
    }
}

impl Versions {
    fn list(self) -> &'static [&'static SupportedProtocolVersion] {
        match self {
            Self::All => &ALL_VERSIONS,
            Self::Tls12 => &ALL_VERSIONS[1..],
            Self::Tls13 => &ALL_VERSIONS[..1],
        }
    }
}

/// Why a TLS configuration cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A PEM file is missing or is not one.
    #[error("{}: {source}", path.display())]
    Pem {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: rustls_pki_types::pem::Error,
    },
    /// A file holds no certificate.
    #[error("{}: no certificate in it", .0.display())]
    NoCertificate(PathBuf),
    /// rustls refuses what the files hold.
    #[error("TLS: {0}")]
    Refused(#[from] rustls::Error),
}

/// The cryptography of programs: ring's, with the operating system's random numbers.
#[must_use]
pub fn provider() -> Arc<CryptoProvider> {
    Cryptography::default().provider()
}

/// Writes secrets to the file that SSLKEYLOGFILE names, if it names one.
fn key_log() -> Arc<KeyLogFile> {
    Arc::new(KeyLogFile::new())
}

fn certificates(
    path: &std::path::Path,
) -> Result<Vec<rustls_pki_types::CertificateDer<'static>>, TlsError> {
    use rustls_pki_types::pem::PemObject;

    let wrong = |source| TlsError::Pem { path: path.into(), source };
    let chain: Vec<_> = rustls_pki_types::CertificateDer::pem_file_iter(path)
        .map_err(wrong)?
        .collect::<Result<_, _>>()
        .map_err(wrong)?;
    if chain.is_empty() { Err(TlsError::NoCertificate(path.into())) } else { Ok(chain) }
}
