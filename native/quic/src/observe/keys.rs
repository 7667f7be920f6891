use bytes::BytesMut;
use headway_trace::frame::ect_counts;
use quinn_proto::crypto::{CryptoError, KeyPair, Keys, PacketKey};

use super::log::{Log, SharedLog, Space};

type BoxedKey = Box<dyn PacketKey>;

/// A key that shows a log what it encrypts or decrypts.
struct ObservedKey {
    inner: BoxedKey,
    space: Space,
    log: SharedLog,
}

impl PacketKey for ObservedKey {
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        let bytes = buf.len();
        let plaintext = buf[..bytes - self.inner.tag_len()].split_at(header_len);
        Log::of(&self.log).sent(self.space, packet, bytes, plaintext);
        self.inner.encrypt(packet, buf, header_len);
    }

    fn decrypt(
        &self,
        packet: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        let bytes = header.len() + payload.len();
        self.inner.decrypt(packet, header, payload)?;
        let mut log = Log::of(&self.log);
        log.received(self.space, packet, bytes, (header, payload));
        if log.swaps_ect {
            swap_ect_counts(payload);
        }
        Ok(())
    }

    fn tag_len(&self) -> usize {
        self.inner.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.inner.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.inner.integrity_limit()
    }
}

/// Has ACK frames count ECT(1) as ECT(0), and the other way round.
///
/// quinn-proto marks with ECT(0) alone, and holds any count of ECT(1) for damage on the path. Where its
/// ECT(0) leaves as ECT(1), it is to validate ECN (RFC 9000 section 13.4.2) by the counts of that.
fn swap_ect_counts(payload: &mut [u8]) {
    for [ect0, ect1] in ect_counts(payload) {
        payload[ect0.start..ect1.end].rotate_left(ect0.len());
    }
}

/// A packet key that shows what it does.
pub(super) fn observed(inner: BoxedKey, space: Space, log: &SharedLog) -> BoxedKey {
    Box::new(ObservedKey { inner, space, log: log.clone() })
}

/// Packet keys of both directions that show what they do.
pub(super) fn observed_pair(
    pair: KeyPair<BoxedKey>,
    space: Space,
    log: &SharedLog,
) -> KeyPair<BoxedKey> {
    KeyPair { local: observed(pair.local, space, log), remote: observed(pair.remote, space, log) }
}

/// All keys of a space; those of packets show what they do.
pub(super) fn observed_keys(keys: Keys, space: Space, log: &SharedLog) -> Keys {
    Keys { header: keys.header, packet: observed_pair(keys.packet, space, log) }
}
