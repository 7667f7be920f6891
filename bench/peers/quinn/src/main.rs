//! HTTP/3 on quinn and h3, to be compared with: a server of files, and a client that throws away what
//! it downloads. Each is one thread.

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use clap::{Args, Parser, Subcommand};
use h3::server::RequestResolver;
use http::{Request, Response, StatusCode, Uri};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, MtuDiscoveryConfig, ServerConfig, TransportConfig, VarInt};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

type Failure = Box<dyn Error + Send + Sync>;

/// What is read of a file at a time.
const PIECE_BYTES: usize = 64 << 10;
/// Receive windows, the same as those of Headway.
const STREAM_WINDOW: u32 = 16 << 20;
const CONNECTION_WINDOW: u32 = 24 << 20;

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    side: Side,
}

#[derive(Subcommand)]
enum Side {
    /// Serves the files of a directory
    Server {
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long)]
        cert: PathBuf,
        #[arg(long)]
        key: PathBuf,
        #[arg(long)]
        root: PathBuf,
        #[command(flatten)]
        datagrams: Datagrams,
    },
    /// Downloads a file and throws it away
    Client {
        #[arg(long)]
        ca: PathBuf,
        #[arg(long)]
        address: SocketAddr,
        #[command(flatten)]
        datagrams: Datagrams,
        url: Uri,
    },
}

/// Sizes of UDP payloads.
#[derive(Args)]
struct Datagrams {
    /// That of the first ones
    #[arg(long, default_value_t = 1200)]
    payload: u16,
    /// The largest that is probed for; without it none are sent
    #[arg(long)]
    probe_up_to: Option<u16>,
}

impl Datagrams {
    fn transport(&self) -> Arc<TransportConfig> {
        let mut transport = TransportConfig::default();
        let probing = self.probe_up_to.map(|most| {
            let mut probing = MtuDiscoveryConfig::default();
            probing.upper_bound(most);
            probing
        });
        transport
            .initial_mtu(self.payload)
            .mtu_discovery_config(probing)
            .stream_receive_window(STREAM_WINDOW.into())
            .receive_window(CONNECTION_WINDOW.into())
            .send_window(CONNECTION_WINDOW.into());
        Arc::new(transport)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    match Options::parse().side {
        Side::Server { listen, cert, key, root, datagrams } => {
            serve(listen, &cert, &key, root, &datagrams).await
        }
        Side::Client { ca, address, datagrams, url } => fetch(&ca, address, &datagrams, url).await,
    }
}

async fn serve(
    listen: SocketAddr,
    certificate: &Path,
    key: &Path,
    root: PathBuf,
    datagrams: &Datagrams,
) -> Result<(), Failure> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<_, _>>()?;
    let mut tls = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config.transport_config(datagrams.transport());
    let endpoint = Endpoint::server(config, listen)?;
    let root: Arc<Path> = root.into();
    while let Some(incoming) = endpoint.accept().await {
        let root = Arc::clone(&root);
        tokio::spawn(async move {
            // One client's failure is none of the others'.
            if let Err(error) = answer_all(incoming, root).await {
                eprintln!("quinn-peer: {error}");
            }
        });
    }
    Ok(())
}

async fn answer_all(incoming: quinn::Incoming, root: Arc<Path>) -> Result<(), Failure> {
    let connection = h3_quinn::Connection::new(incoming.await?);
    let mut connection = h3::server::Connection::new(connection).await?;
    while let Some(resolver) = connection.accept().await? {
        let root = Arc::clone(&root);
        tokio::spawn(async move {
            if let Err(error) = answer(resolver, &root).await {
                eprintln!("quinn-peer: {error}");
            }
        });
    }
    Ok(())
}

async fn answer(
    resolver: RequestResolver<h3_quinn::Connection, Bytes>,
    root: &Path,
) -> Result<(), Failure> {
    let (request, mut stream) = resolver.resolve_request().await?;
    let Ok(mut file) = File::open(root.join(request.uri().path().trim_start_matches('/'))) else {
        let response = Response::builder().status(StatusCode::NOT_FOUND).body(())?;
        stream.send_response(response).await?;
        return Ok(stream.finish().await?);
    };
    let length = file.metadata()?.len();
    let response = Response::builder().header("content-length", length).body(())?;
    stream.send_response(response).await?;
    loop {
        let mut piece = BytesMut::zeroed(PIECE_BYTES);
        let read = file.read(&mut piece)?;
        if read == 0 {
            break;
        }
        piece.truncate(read);
        stream.send_data(piece.freeze()).await?;
    }
    Ok(stream.finish().await?)
}

async fn fetch(
    authority: &Path,
    address: SocketAddr,
    datagrams: &Datagrams,
    url: Uri,
) -> Result<(), Failure> {
    let mut trusted = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(authority)? {
        trusted.add(certificate?)?;
    }
    let mut tls =
        rustls::ClientConfig::builder().with_root_certificates(trusted).with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(datagrams.transport());
    let endpoint = Endpoint::client(SocketAddr::from(([0, 0, 0, 0], 0)))?;
    let name = url.host().ok_or("the URL names no host")?;
    let connection = endpoint.connect_with(config, address, name)?.await?;
    let (mut driver, mut requests) = h3::client::new(h3_quinn::Connection::new(connection)).await?;
    let driving = tokio::spawn(async move { driver.wait_idle().await });
    let mut stream = requests.send_request(Request::get(url).body(())?).await?;
    stream.finish().await?;
    let response = stream.recv_response().await?;
    if response.status() != StatusCode::OK {
        return Err(format!("status {}", response.status()).into());
    }
    let expected: usize = response.headers()["content-length"].to_str()?.parse()?;
    let mut received = 0;
    while let Some(data) = stream.recv_data().await? {
        received += data.remaining();
    }
    if received != expected {
        return Err(format!("{received} bytes of {expected}").into());
    }
    // Without requests the connection ends.
    drop((requests, stream));
    driving.await?;
    endpoint.close(VarInt::from_u32(0x100), b"");
    let _ = tokio::time::timeout(Duration::from_secs(1), endpoint.wait_idle()).await;
    Ok(())
}
