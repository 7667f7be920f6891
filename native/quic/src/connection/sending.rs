//! What leaves, packet by packet.

use std::io;
use std::time::{Duration, Instant};

use bytes::Bytes;
use quinn_proto::{EcnCodepoint, StreamId, Transmit, VarInt, WriteError};

use super::{Connection, Event};
use crate::packetsize::{piece, varint_size};
use crate::sender::Permission;
use crate::stream::Sending;

/// Datagrams that are made together, in bytes: what one call of the kernel takes.
const MAX_RUN_BYTES: usize = 65_000;

/// A packet's room in bytes that is not worth another stream's frame.
const SMALL_ROOM: usize = 64;

/// Where datagrams leave: runs of one size, of which the last may be smaller.
pub(crate) struct Outlet<'a> {
    /// They are made here.
    pub(crate) buffer: &'a mut Vec<u8>,
    /// Sends what is in the buffer.
    pub(crate) send: &'a mut dyn FnMut(&Transmit, &mut Vec<u8>) -> io::Result<()>,
}

impl Connection {
    /// Sends all that may be sent.
    pub(crate) fn drive(&mut self, now: Instant, outlet: &mut Outlet<'_>) -> io::Result<()> {
        self.is_dirty = false;
        if std::mem::take(&mut self.timer_fired) {
            self.send_probes(now, outlet)?;
        }
        // Of two spaces quinn-proto takes the one that sent earlier, and Initial if neither did: what is sent first,
        // as Initial, is sent a nanosecond later, so that Handshake packets have all the turns that follow.
        let mut later = Duration::from_nanos(1);
        while let Some(due) = self.hurry.next() {
            self.inner.handle_timeout(due);
            self.send_probes(now + std::mem::take(&mut later), outlet)?;
        }
        // A packet is for the stream that the scheduler names, and for nothing else: all else goes
        // before.
        let mut rest_is_sent = false;
        loop {
            let permission = self.sender.permission(now);
            let is_granted = permission == Permission::Granted;
            self.sender.gate().set_open(is_granted);
            let is_exact = self.outbox.is_scheduled() && !rest_is_sent;
            let run = if is_granted && !is_exact { self.hand_over() } else { 1 };
            if self.transmit(now, run, outlet)?.is_some() {
                continue;
            }
            if !(is_granted && is_exact) {
                self.tell_why_idle(now, permission);
                break;
            }
            rest_is_sent = true;
        }
        self.collect(now);
        Ok(())
    }

    /// With the gate closed, nothing that elicits acknowledgments passes but probes.
    fn send_probes(&mut self, now: Instant, outlet: &mut Outlet<'_>) -> io::Result<()> {
        self.sender.gate().set_open(false);
        let mut probed = false;
        while let Some(elicits) = self.transmit(now, 1, outlet)? {
            probed |= elicits;
        }
        if probed {
            self.sender.probe(now, self.inner.is_handshaking());
        }
        Ok(())
    }

    /// Sends datagrams of one size.
    ///
    /// # Arguments
    /// * `run` - how many may leave.
    ///
    /// # Returns
    /// Whether one elicits an acknowledgment, and is no probe of the path's MTU; `None` if there was
    /// none to send.
    fn transmit(
        &mut self,
        now: Instant,
        run: usize,
        outlet: &mut Outlet<'_>,
    ) -> io::Result<Option<bool>> {
        outlet.buffer.clear();
        let mtu = usize::from(self.inner.current_mtu());
        let run = run.min(MAX_RUN_BYTES / mtu).max(1);
        let Some(mut transmit) = self.inner.poll_transmit(now, run, outlet.buffer) else {
            return Ok(None);
        };
        if self.sender.config().is_scalable() {
            transmit.ecn = transmit.ecn.map(|_| EcnCodepoint::Ect1);
        }
        let off_path = transmit.destination != self.inner.remote_address();
        let is_mtu_probe = transmit.segment_size.is_none() && transmit.size > mtu;
        let elicits = self.sender.observe_sent(now, off_path, is_mtu_probe);
        (outlet.send)(&transmit, outlet.buffer)?;
        if self.key_updates.are_wanted() && self.is_confirmed() {
            let packets = transmit.size.div_ceil(transmit.segment_size.unwrap_or(transmit.size));
            let (last, acked) = self.sender.packet_numbers();
            if self.key_updates.sent(packets as u64, last, acked) {
                self.inner.force_key_update();
                // Acknowledgments alone are not acknowledged.
                self.ping();
            }
        }
        Ok(Some(elicits && !is_mtu_probe))
    }

    fn tell_why_idle(&mut self, now: Instant, permission: Permission) {
        let waits = self.sender.has_unsent() || self.outbox.next().is_some();
        match permission {
            Permission::Granted => self.sender.run_dry(now),
            Permission::Window if waits => self.sender.hold_back(),
            // What waits for the pacer uses the window only if there is enough of it (RFC 9002 section 7.8).
            Permission::Pacing if self.outbox.has(self.sender.spare_window()) => {
                self.sender.hold_back();
            }
            _ => {}
        }
    }

    /// Hands one packet's worth of stream data over to quinn-proto; if there is but one stream, that
    /// of all packets which are about to leave. quinn-proto seeks what it sends among all pieces
    /// that it was given and that are not acknowledged: the fewer, the better.
    ///
    /// # Returns
    /// How many packets may leave before it is asked again which stream is next.
    fn hand_over(&mut self) -> usize {
        let size = self.inner.current_mtu();
        let run = if self.outbox.is_for_one() { self.sender.run(size) } else { 1 };
        let mut room = self.sender.room(size);
        while room >= SMALL_ROOM {
            let Some(stream) = self.outbox.next() else { break };
            let header = self.sender.stream_header(stream);
            let mut data = room - header;
            if self.outbox.is_for_one() {
                data += self.sender.room_after_next(size, run, stream, data);
            }
            let available = self.outbox.get(stream).map_or(0, Sending::available);
            let piece = piece(available, data);
            let used = self.hand_over_piece(stream, piece);
            // If another frame follows, this one says how long it is.
            let length = varint_size(used as u64);
            room = room.saturating_sub(header + length + used);
        }
        run
    }

    fn hand_over_piece(&mut self, stream: u64, room: usize) -> usize {
        let id = stream_id(stream);
        let (inner, unacknowledged) = (&mut self.inner, &self.unacknowledged);
        let mut stopped = None;
        let handed = self.outbox.hand_over(stream, room, |pieces, ends| {
            let mut writer = inner.send_stream(id);
            let mut written = 0;
            let mut counted: Vec<Bytes> =
                pieces.iter().map(|piece| unacknowledged.count(piece)).collect();
            // Until all is taken or refused: quinn-proto tells when flow control lets a stream go
            // on only if it refused something, not if it took a part.
            while counted.iter().any(|piece| !piece.is_empty()) {
                match writer.write_chunks(&mut counted) {
                    Ok(taken) => written += taken.bytes as u64,
                    Err(WriteError::Stopped(code)) => {
                        stopped = Some(code);
                        break;
                    }
                    Err(WriteError::Blocked | WriteError::ClosedStream) => break,
                }
            }
            for (piece, left) in pieces.iter_mut().zip(&counted) {
                *piece = piece.split_off(piece.len() - left.len());
            }
            if ends && pieces.iter().all(Bytes::is_empty) {
                // It cannot have been finished or reset before: then nothing would be handed over.
                let _ = writer.finish();
            }
            written
        });
        self.sender.handed_over(stream, handed.bytes);
        if let Some(code) = stopped {
            self.stopped(id, code.into());
        } else if let Some(error) = handed.failure {
            self.sender.forget_stream(stream);
            self.events.push_back(Event::Failed(id, error.to_string()));
        } else if handed.is_low {
            self.events.push_back(Event::Writable(id));
        }
        usize::try_from(handed.bytes).unwrap_or(usize::MAX)
    }
}

fn stream_id(id: u64) -> StreamId {
    VarInt::from_u64(id).expect("it was a stream's identifier before").into()
}
