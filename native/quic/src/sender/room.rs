//! What fits into the next packets.

use super::Sender;
use crate::observe::{Log, Space};
use crate::packetsize::{LAZY_ACK, LENGTH, MAX_SHORT_HEADER, TAG, number_size, stream_header};

/// Packets whose data is handed over together, at most.
const MAX_RUN: usize = 64;

impl Sender {
    /// Whether data of streams was handed over and not sent yet.
    pub(crate) fn has_unsent(&self) -> bool {
        Log::of(&self.log).backlog.unsent() > 0
    }

    /// Bytes in the next packet for STREAM frames with data that was not handed over yet.
    ///
    /// # Arguments
    /// * `max_udp_payload` - the packet's size.
    pub(crate) fn room(&self, max_udp_payload: u16) -> usize {
        let log = Log::of(&self.log);
        let header = self.short_header(0).unwrap_or(MAX_SHORT_HEADER);
        let ack = if log.expects_lazy_ack() { LAZY_ACK } else { 0 };
        let unsent = usize::try_from(log.backlog.frames()).unwrap_or(usize::MAX);
        usize::from(max_udp_payload).saturating_sub(header + TAG + ack).saturating_sub(unsent)
    }

    /// How many full packets may leave now, one after the other.
    ///
    /// # Arguments
    /// * `max_udp_payload` - the packets' size.
    pub(crate) fn run(&self, max_udp_payload: u16) -> usize {
        let window = self.controller.room(self.ledger.in_flight());
        let bytes = self.pacer.allowance().map_or(window, |paced| paced.min(window));
        let packets = usize::try_from(bytes / u64::from(max_udp_payload)).unwrap_or(usize::MAX);
        packets.clamp(1, MAX_RUN)
    }

    /// Bytes of a stream's data that fill a run of packets after its first one.
    ///
    /// # Arguments
    /// * `max_udp_payload` - the packets' size.
    /// * `run` - how many there are.
    /// * `next` - bytes of the stream's data in the first one.
    pub(crate) fn room_after_next(
        &self,
        max_udp_payload: u16,
        run: usize,
        stream: u64,
        next: usize,
    ) -> usize {
        let size = usize::from(max_udp_payload);
        let begin = Log::of(&self.log).backlog.offset(stream) + next as u64;
        let mut offset = begin;
        for before in 1..run as u64 {
            let Some(header) = self.short_header(before) else { break };
            offset += (size - header - TAG - stream_header(stream, offset)) as u64;
        }
        usize::try_from(offset - begin).unwrap_or(usize::MAX)
    }

    /// Bytes of the header of a stream's next STREAM frame, if it is the packet's last.
    pub(crate) fn stream_header(&self, stream: u64) -> usize {
        stream_header(stream, Log::of(&self.log).backlog.offset(stream))
    }

    /// Data of a stream was handed to quinn-proto.
    pub(crate) fn handed_over(&mut self, stream: u64, bytes: u64) {
        Log::of(&self.log).backlog.hand_over(stream, bytes);
    }

    /// Size of a coming 1-RTT packet's header, and what must be left for it to turn out larger;
    /// `None` before the first one.
    ///
    /// # Arguments
    /// * `before` - how many are sent before it.
    fn short_header(&self, before: u64) -> Option<usize> {
        // Before the first one, acknowledgments are of early data.
        let connection_id_size = self.connection_id_size?;
        let acked = self.ledger.largest_acked(Space::OneRtt);
        let next = self.last_number + 1 + before;
        let size = number_size(next, acked);
        // quinn-proto skips numbers now and then.
        let slack = if number_size(next + 1, acked) > size { 1 + LENGTH } else { 0 };
        Some(1 + connection_id_size + size + slack)
    }
}
