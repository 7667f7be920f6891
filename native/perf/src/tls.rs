//! TLS of the protocol `perf`, for TCP and for QUIC.

use std::path::Path;
use std::sync::Arc;

use headway_http::tls::{ClientTls, Identity, ServerTls, TlsError, Trust, Versions, provider};
use headway_quic::{QuicClientConfig, QuicServerConfig};
use rustls::{ClientConfig, ServerConfig};

use crate::protocol::ALPN;

/// Early data accepted over TCP: more than a request has, so that uploads begin with them, too.
const TCP_EARLY_BYTES: u32 = 16 << 10;
/// QUIC's early data have no limit of their own (RFC 9001, section 4.6.1).
const QUIC_EARLY_BYTES: u32 = u32::MAX;

/// A client's TLS, over TCP or for QUIC.
pub(crate) fn client(
    ca: &Path,
    early_data: bool,
    record_bytes: Option<usize>,
) -> Result<Arc<ClientConfig>, TlsError> {
    let tls = ClientTls {
        provider: provider(),
        trust: Trust::File(ca.to_owned()),
        protocols: Vec::new(),
        versions: Versions::Tls13,
        early_data,
    };
    let mut config = Arc::unwrap_or_clone(tls.config()?);
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.max_fragment_size = record_bytes;
    Ok(Arc::new(config))
}

/// The same for QUIC's packets.
pub(crate) fn quic_client(tls: Arc<ClientConfig>) -> Arc<QuicClientConfig> {
    Arc::new(QuicClientConfig::try_from(tls).expect("ring has QUIC's initial cipher suite"))
}

/// A server's TLS over TCP.
pub(crate) fn server(
    identity: &Identity,
    early_data: bool,
    record_bytes: Option<usize>,
) -> Result<Arc<ServerConfig>, TlsError> {
    server_with(identity, if early_data { TCP_EARLY_BYTES } else { 0 }, record_bytes)
}

/// A server's TLS for QUIC.
pub(crate) fn quic_server(
    identity: &Identity,
    early_data: bool,
) -> Result<Arc<QuicServerConfig>, TlsError> {
    let tls = server_with(identity, if early_data { QUIC_EARLY_BYTES } else { 0 }, None)?;
    let quic = QuicServerConfig::try_from(tls).expect("ring has QUIC's initial cipher suite");
    Ok(Arc::new(quic))
}

fn server_with(
    identity: &Identity,
    early_bytes: u32,
    record_bytes: Option<usize>,
) -> Result<Arc<ServerConfig>, TlsError> {
    let tls = ServerTls {
        provider: provider(),
        identity: identity.clone(),
        protocols: Vec::new(),
        versions: Versions::Tls13,
        early_data_bytes: early_bytes,
        record_bytes,
    };
    let mut config = Arc::unwrap_or_clone(tls.config()?);
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(Arc::new(config))
}
