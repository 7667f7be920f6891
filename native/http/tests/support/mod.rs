//! What the tests over real sockets share.

use std::sync::Arc;

use headway_http::tls::{ClientTls, Identity, Protocol, ServerTls, Trust, Versions};
use headway_testlink::Certificates;

/// Both ends' TLS, for one another.
pub(crate) struct Tls {
    pub(crate) server: ServerTls,
    pub(crate) client: ClientTls,
}

impl Tls {
    pub(crate) fn new(seed: u64, protocols: &[Protocol], early_data: bool) -> Self {
        let certificates = Certificates::new(seed);
        let chain = vec![certificates.certificate()];
        let trust = Trust::Roots(chain.clone());
        Self {
            server: ServerTls {
                provider: certificates.provider(),
                identity: Identity::new(chain, certificates.key()),
                protocols: protocols.to_vec(),
                versions: Versions::All,
                early_data_bytes: if early_data { 1 << 14 } else { 0 },
                record_bytes: None,
            },
            client: ClientTls {
                provider: certificates.provider(),
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
