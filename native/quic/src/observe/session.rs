use std::any::Any;

use quinn_proto::crypto::{
    ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, Session,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectionId, Side, TransportError};

use super::keys::{observed, observed_keys, observed_pair};
use super::log::{Log, Observation, SharedLog, Space};

/// A TLS session whose packet keys show a log what they do.
pub(super) struct ObservedSession {
    inner: Box<dyn Session>,
    log: SharedLog,
    next_space: Space,
}

impl ObservedSession {
    pub(super) fn new(
        inner: Box<dyn Session>,
        own_parameters: &TransportParameters,
        log: SharedLog,
    ) -> Self {
        Log::of(&log).push(Observation::OwnParameters(encoded(own_parameters)));
        Self { inner, log, next_space: Space::Handshake }
    }
}

impl Session for ObservedSession {
    fn initial_keys(&self, dst_cid: &ConnectionId, side: Side) -> Keys {
        observed_keys(self.inner.initial_keys(dst_cid, side), Space::Initial, &self.log)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.inner.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.inner.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        let (header, packet) = self.inner.early_crypto()?;
        Some((header, observed(packet, Space::ZeroRtt, &self.log)))
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.inner.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.inner.read_handshake(buf)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let parameters = self.inner.transport_parameters()?;
        if let Some(peers) = &parameters {
            Log::of(&self.log).push(Observation::PeerParameters(encoded(peers)));
        }
        Ok(parameters)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let keys = self.inner.write_handshake(buf)?;
        // TLS yields the keys in this order (RFC 9001 section 4.1.4).
        let space = std::mem::replace(&mut self.next_space, Space::OneRtt);
        Some(observed_keys(keys, space, &self.log))
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(observed_pair(self.inner.next_1rtt_keys()?, Space::OneRtt, &self.log))
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        let valid = self.inner.is_valid_retry(orig_dst_cid, header, payload);
        if valid {
            // It is the last of quinn-proto's checks.
            Log::of(&self.log).push(Observation::Retry);
        }
        valid
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.inner.export_keying_material(output, label, context)
    }
}

fn encoded(parameters: &TransportParameters) -> Vec<u8> {
    let mut bytes = Vec::new();
    parameters.write(&mut bytes);
    bytes
}
