use std::collections::HashMap;

use crate::sender::Sender;

const TAG: usize = 16;
const MAX_CONNECTION_ID: usize = 20;

/// How much stream data fits into a packet, so that what is handed over for one fills it and no
/// more.
#[derive(Debug)]
pub(crate) struct PacketSize {
    max_udp_payload: usize,
    /// Where each stream's next byte is.
    offsets: HashMap<u64, u64>,
}

impl PacketSize {
    pub(crate) fn new(max_udp_payload: u16) -> Self {
        Self { max_udp_payload: max_udp_payload.into(), offsets: HashMap::new() }
    }

    /// Room for new stream data in the next packet.
    pub(crate) fn frames(&self, sender: &Sender) -> usize {
        let header = sender.short_header().unwrap_or(1 + MAX_CONNECTION_ID + 4);
        let unsent = usize::try_from(sender.unsent()).unwrap_or(usize::MAX);
        self.max_udp_payload.saturating_sub(header + TAG).saturating_sub(unsent)
    }

    /// Bytes of a STREAM frame before its data, if it is the packet's last frame (RFC 9000 section
    /// 19.8).
    pub(crate) fn stream_header(&self, stream: u64) -> usize {
        let offset = self.offsets.get(&stream).copied().unwrap_or(0);
        1 + varint_size(stream) + if offset == 0 { 0 } else { varint_size(offset) }
    }

    /// Data of a stream was handed over.
    pub(crate) fn advance(&mut self, stream: u64, bytes: u64) {
        *self.offsets.entry(stream).or_default() += bytes;
    }

    /// Forgets a stream that is over.
    ///
    /// # Returns
    /// How much of it was handed over.
    pub(crate) fn forget(&mut self, stream: u64) -> u64 {
        self.offsets.remove(&stream).unwrap_or(0)
    }

    /// Forgets all streams.
    pub(crate) fn clear(&mut self) {
        self.offsets.clear();
    }
}

/// RFC 9000 section 16.
fn varint_size(value: u64) -> usize {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

/// Bytes of a packet number (RFC 9000 section 17.1), as quinn-proto chooses them.
pub(crate) fn number_size(number: u64, largest_acked: Option<u64>) -> usize {
    match 2 * (number - largest_acked.unwrap_or(0)) {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        0x1_0000..0x100_0000 => 3,
        _ => 4,
    }
}
