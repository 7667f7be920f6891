use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use headway_http::tls::{
    Cipher, ClientTls, Cryptography, Group, Protocol, TlsError, Trust, Versions,
};
use headway_quic::QuicClientConfig;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::{ClientConfig, Tls13CipherSuite};

/// How TLS is spoken.
#[derive(Args, Debug)]
pub(crate) struct TlsOptions {
    /// Certificates of the authorities to be trusted, PEM
    #[arg(long, value_name = "FILE", default_value = "/etc/ssl/certs/ca-certificates.crt")]
    ca: PathBuf,
    /// Version of TLS: 1.2, 1.3 or all
    #[arg(long = "tls", default_value = "all", value_name = "VERSION")]
    versions: Versions,
    /// The only group that it offers to exchange keys by: x25519, x25519mlkem768 or secp256r1
    #[arg(long, value_name = "GROUP")]
    key_exchange: Option<Group>,
    /// The only cipher that it offers: aes-128-gcm, aes-256-gcm or chacha20-poly1305
    #[arg(long, value_name = "CIPHER")]
    cipher: Option<Cipher>,
    /// Fetches the first URL's head beforehand, over a connection of its own, and sends requests as
    /// early data (0-RTT) on connections that resume its session
    #[arg(long)]
    pub(crate) early_data: bool,
}

impl TlsOptions {
    /// Over TCP.
    pub(crate) fn over_tcp(&self, protocol: Protocol) -> Result<Arc<ClientConfig>, TlsError> {
        self.config(protocol, self.versions)
    }

    /// Over QUIC, whose TLS is 1.3 (RFC 9001, section 4.2).
    pub(crate) fn over_quic(&self) -> Result<QuicClientConfig, TlsError> {
        let config = self.config(Protocol::H3, Versions::Tls13)?;
        // Initial packets have a cipher of their own (section 5.2), which need not be offered.
        let initial = TLS13_AES_128_GCM_SHA256.tls13().and_then(Tls13CipherSuite::quic_suite);
        let initial = initial.expect("ring's suites can be spoken over QUIC");
        Ok(QuicClientConfig::with_initial(config, initial).expect("it is that of Initial packets"))
    }

    fn config(
        &self,
        protocol: Protocol,
        versions: Versions,
    ) -> Result<Arc<ClientConfig>, TlsError> {
        let cryptography = Cryptography { group: self.key_exchange, cipher: self.cipher };
        let tls = ClientTls {
            provider: cryptography.provider(),
            trust: Trust::File(self.ca.clone()),
            protocols: vec![protocol],
            versions,
            early_data: self.early_data,
        };
        tls.config()
    }
}
