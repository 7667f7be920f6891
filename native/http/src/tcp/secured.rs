use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use bytes::Bytes;
use rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};
use rustls_pki_types::ServerName;
use serde::Serialize;

use crate::tls::Protocol;

/// Which side of TLS a pipe is, with its configuration.
#[derive(Clone, Debug)]
pub enum TlsSide {
    /// The client, and whom it wants to talk to.
    Client(Arc<ClientConfig>, ServerName<'static>),
    /// The server.
    Server(Arc<ServerConfig>),
}

/// What a TLS handshake agreed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Security {
    /// The version, as `TLSv1_3`.
    pub version: String,
    /// The cipher suite's name.
    pub cipher: String,
    /// The protocol agreed on by ALPN.
    pub protocol: Option<Protocol>,
    /// Whether a session was resumed.
    pub resumed: bool,
    /// Whether early data was sent and accepted (TLS 1.3).
    pub early_data: bool,
}

/// TLS over a socket: rustls with what early data needs.
#[derive(Debug)]
pub(super) struct Secured {
    connection: Connection,
    /// Early data sent, until the server says whether it accepts it.
    early: Vec<u8>,
    handshaking: bool,
}

impl Secured {
    pub(super) fn new(side: TlsSide) -> Result<Self, rustls::Error> {
        let mut connection = match side {
            TlsSide::Client(config, name) => ClientConnection::new(config, name)?.into(),
            TlsSide::Server(config) => Connection::from(ServerConnection::new(config)?),
        };
        // The pipe bounds what it writes.
        connection.set_buffer_limit(None);
        Ok(Self { connection, early: Vec::new(), handshaking: true })
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.handshaking
    }

    pub(super) fn has_output(&self) -> bool {
        self.connection.wants_write()
    }

    /// How much early data may be written.
    pub(super) fn early_room(&mut self) -> usize {
        match &mut self.connection {
            Connection::Client(client) if self.handshaking => {
                client.early_data().map_or(0, |early| early.bytes_left())
            }
            _ => 0,
        }
    }

    /// Encrypts; as early data before the handshake is over, of which there is `early_room`.
    pub(super) fn write(&mut self, plaintext: &[u8]) -> io::Result<()> {
        if !self.handshaking {
            return self.connection.writer().write_all(plaintext);
        }
        if let Connection::Client(client) = &mut self.connection {
            if let Some(mut early) = client.early_data() {
                early.write_all(plaintext)?;
                self.early.extend_from_slice(plaintext);
            }
        }
        Ok(())
    }

    pub(super) fn write_to(&mut self, mut socket: &TcpStream) -> io::Result<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut socket)?;
        }
        Ok(())
    }

    pub(super) fn send_close_notify(&mut self) {
        self.connection.send_close_notify();
    }

    /// Decrypts what the socket gave.
    ///
    /// # Returns
    /// Whether the peer has said that it will send no more.
    pub(super) fn read(
        &mut self,
        mut ciphertext: &[u8],
        take: &mut dyn FnMut(Bytes),
    ) -> Result<bool, rustls::Error> {
        let mut closed = false;
        while !ciphertext.is_empty() && !closed {
            let taken = self.connection.read_tls(&mut ciphertext);
            // Never happens: all plaintext is taken after every call.
            taken.map_err(|error| rustls::Error::General(error.to_string()))?;
            closed = self.connection.process_new_packets()?.peer_has_closed();
            self.take_early(take);
            self.take_plaintext(take);
        }
        self.end_handshake()?;
        Ok(closed)
    }

    fn take_plaintext(&mut self, take: &mut dyn FnMut(Bytes)) {
        let mut reader = self.connection.reader();
        // Errors say that there is nothing more now, or ever.
        while let Ok(chunk) = reader.fill_buf() {
            if chunk.is_empty() {
                break;
            }
            let length = chunk.len();
            take(Bytes::copy_from_slice(chunk));
            reader.consume(length);
        }
    }

    fn take_early(&mut self, take: &mut dyn FnMut(Bytes)) {
        let Connection::Server(server) = &mut self.connection else { return };
        let Some(mut early) = server.early_data() else { return };
        let mut bytes = Vec::new();
        if early.read_to_end(&mut bytes).is_ok() && !bytes.is_empty() {
            take(bytes.into());
        }
    }

    /// Early data that the server has not accepted is sent again.
    fn end_handshake(&mut self) -> Result<(), rustls::Error> {
        if !self.handshaking || self.connection.is_handshaking() {
            return Ok(());
        }
        self.handshaking = false;
        let early = std::mem::take(&mut self.early);
        if !early.is_empty() && !self.early_data_accepted() {
            let sent = self.connection.writer().write_all(&early);
            sent.map_err(|error| rustls::Error::General(error.to_string()))?;
        }
        Ok(())
    }

    fn early_data_accepted(&self) -> bool {
        matches!(&self.connection, Connection::Client(client) if client.is_early_data_accepted())
    }

    pub(super) fn protocol(&self) -> Option<Protocol> {
        self.connection.alpn_protocol().and_then(Protocol::from_alpn)
    }

    pub(super) fn security(&self) -> Option<Security> {
        let version = self.connection.protocol_version()?;
        let suite = self.connection.negotiated_cipher_suite()?;
        let kind = self.connection.handshake_kind();
        Some(Security {
            version: version.as_str().unwrap_or("unknown").to_owned(),
            cipher: suite.suite().as_str().unwrap_or("unknown").to_owned(),
            protocol: self.protocol(),
            resumed: kind == Some(rustls::HandshakeKind::Resumed),
            early_data: self.early_data_accepted(),
        })
    }
}
