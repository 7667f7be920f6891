//! What the tests over real sockets share.

use std::sync::Arc;

use headway_http::tls::{ClientTls, Identity, Protocol, ServerTls, Trust, Versions};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// A certificate for `localhost` that signs itself, with its key.
pub(crate) fn self_signed() -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(made.key_pair.serialize_der());
    (made.cert.der().clone(), key.into())
}

/// Both ends' TLS, for one another.
pub(crate) struct Tls {
    pub(crate) server: ServerTls,
    pub(crate) client: ClientTls,
}

impl Tls {
    pub(crate) fn new(protocols: &[Protocol], early_data: bool) -> Self {
        let (certificate, key) = self_signed();
        let trust = Trust::Roots(vec![certificate.clone()]);
        Self {
            server: ServerTls {
                identity: Identity::new(vec![certificate], key),
                protocols: protocols.to_vec(),
                versions: Versions::All,
                early_data_bytes: if early_data { 1 << 14 } else { 0 },
                record_bytes: None,
            },
            client: ClientTls {
                trust,
                protocols: protocols.to_vec(),
                versions: Versions::All,
                early_data,
            },
        }
    }

    pub(crate) fn server_config(&self) -> Arc<rustls::ServerConfig> {
        self.server.config().unwrap()
    }

    pub(crate) fn client_config(&self) -> Arc<rustls::ClientConfig> {
        self.client.config().unwrap()
    }
}
