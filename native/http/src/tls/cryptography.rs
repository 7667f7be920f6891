//! What TLS encrypts with, and by what the keys for it are exchanged.

use std::str::FromStr;
use std::sync::Arc;

use rustls::crypto::ring::{default_provider, kx_group};
use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::{CipherSuite, SupportedCipherSuite};

use super::mlkem::X25519_MLKEM768;

/// A group for the exchange of keys (RFC 8446, section 4.2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// X25519 (RFC 7748).
    X25519,
    /// X25519 and ML-KEM-768 together (draft-ietf-tls-ecdhe-mlkem), which quantum computers do not break.
    X25519MlKem768,
    /// The NIST curve P-256.
    Secp256r1,
}

impl Group {
    fn exchange(self) -> &'static dyn SupportedKxGroup {
        match self {
            Self::X25519 => kx_group::X25519,
            Self::X25519MlKem768 => X25519_MLKEM768,
            Self::Secp256r1 => kx_group::SECP256R1,
        }
    }
}

impl FromStr for Group {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "x25519" => Ok(Self::X25519),
            "x25519mlkem768" => Ok(Self::X25519MlKem768),
            "secp256r1" => Ok(Self::Secp256r1),
            _ => Err("it is none of x25519, x25519mlkem768 and secp256r1"),
        }
    }
}

/// A cipher for records and packets (RFC 8446, section B.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// AES of 128 bits, in GCM.
    Aes128Gcm,
    /// AES of 256 bits, in GCM.
    Aes256Gcm,
    /// `ChaCha20` with Poly1305.
    ChaCha20Poly1305,
}

impl Cipher {
    fn is_of(self, suite: SupportedCipherSuite) -> bool {
        let cipher = match suite.suite() {
            CipherSuite::TLS13_AES_128_GCM_SHA256
            | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
            | CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => Self::Aes128Gcm,
            CipherSuite::TLS13_AES_256_GCM_SHA384
            | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
            | CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => Self::Aes256Gcm,
            _ => Self::ChaCha20Poly1305,
        };
        cipher == self
    }
}

impl FromStr for Cipher {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "aes-128-gcm" => Ok(Self::Aes128Gcm),
            "aes-256-gcm" => Ok(Self::Aes256Gcm),
            "chacha20-poly1305" => Ok(Self::ChaCha20Poly1305),
            _ => Err("it is none of aes-128-gcm, aes-256-gcm and chacha20-poly1305"),
        }
    }
}

/// What an endpoint offers, or takes. What is not stated is any that ring has: it prefers AES of 256 bits and X25519.
/// A server takes every group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cryptography {
    /// The only group.
    pub group: Option<Group>,
    /// The only cipher.
    pub cipher: Option<Cipher>,
}

impl Cryptography {
    /// The same for a server's rustls.
    #[must_use]
    pub fn provider_of_server(self) -> Arc<CryptoProvider> {
        let mut provider = self.provider();
        if self.group.is_none() {
            Arc::make_mut(&mut provider).kx_groups.push(X25519_MLKEM768);
        }
        provider
    }

    /// The same for a client's rustls, with the operating system's random numbers.
    #[must_use]
    pub fn provider(self) -> Arc<CryptoProvider> {
        let mut provider = default_provider();
        if let Some(group) = self.group {
            provider.kx_groups = vec![group.exchange()];
        }
        if let Some(cipher) = self.cipher {
            provider.cipher_suites.retain(|&suite| cipher.is_of(suite));
        }
        Arc::new(provider)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cipher_leaves_a_suite_of_each_version_and_kind_of_certificate() {
        for name in ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"] {
            let cryptography = Cryptography { cipher: Some(name.parse().unwrap()), group: None };
            assert_eq!(cryptography.provider().cipher_suites.len(), 3, "{name}");
        }
        assert!("rc4".parse::<Cipher>().is_err());
    }

    #[test]
    fn both_sides_of_each_group_get_the_same_secret() {
        for name in ["x25519", "x25519mlkem768", "secp256r1"] {
            let group: Group = name.parse().unwrap();
            let cryptography = Cryptography { group: Some(group), cipher: None };
            let [exchange] = cryptography.provider().kx_groups[..] else { panic!("{name}") };
            let client = exchange.start().unwrap();
            let server = exchange.start_and_complete(client.pub_key()).unwrap();
            assert_eq!(server.group, client.group());
            let secret = client.complete(&server.pub_key).unwrap();
            assert_eq!(secret.secret_bytes(), server.secret.secret_bytes(), "{name}");
        }
        assert!("x448".parse::<Group>().is_err());
    }
}
