use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use headway_congestion::{Controller, Rate, Saved, WindowSize};
use headway_reactor::CpuCost;
use quinn_proto::{
    AckFrequencyConfig, Dir, IdleTimeout, MtuDiscoveryConfig, TransportConfig, VarInt,
};

use crate::gate::{Gate, GateFactory};
use crate::pacer::{Burst, Pacer};
use crate::tokens::Tokens;

/// What unsent and unacknowledged data of a connection may take if nobody limits it: what the window lets out,
/// and the window is the sender's affair.
const SEND_WINDOW: u64 = 1 << 40;

/// DATAGRAM frames (RFC 9221) that are kept, in bytes: nothing here reads them. The largest size that
/// can be announced, which is announced; not to announce it would change the bytes of every handshake.
const MAX_DATAGRAM_BYTES: usize = u16::MAX as usize;

/// Pieces of received streams that may wait behind gaps, at least: each costs some 150 bytes beside its
/// content. A full default window in packets of 1200 bytes is 21,000.
const MIN_PIECES: usize = 32_768;
/// Where the window is larger, as many as there are packets of half that size in it.
const PIECE_BYTES: usize = 600;

/// Whether packets are spread over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// No: everything that the window allows leaves at once.
    Off,
    /// At the rate that the congestion controller states.
    Controller,
    /// At a fixed rate.
    Fixed(Rate),
}

/// How often a peer is asked to acknowledge (draft-ietf-quic-ack-frequency, with the code points of
/// its versions 07 to 12). Only peers that announce `min_ack_delay` are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckFrequency {
    /// Packets that elicit an acknowledgment and yet may remain without one; 1 acknowledges every
    /// other packet.
    pub ack_eliciting_threshold: u32,
    /// The longest that the peer may wait.
    pub max_ack_delay: Option<Duration>,
}

/// How many streams of each kind a peer may have at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStreams {
    /// Bidirectional ones.
    pub bidirectional: u32,
    /// Unidirectional ones.
    pub unidirectional: u32,
}

/// A QUIC endpoint's behaviour on one connection.
#[derive(Clone, Debug)]
pub struct Config {
    /// Congestion controller and its knobs.
    pub congestion: headway_congestion::Config,
    /// Whether packets are spread over time.
    pub pacing: Pacing,
    /// Packets that leave at once when packets are spread over time, at most; 2 or more. RFC 9002
    /// section 7.7 would have the initial window, unless the path takes more. A burst lasts a
    /// millisecond at most, as Linux has it for TCP, so this counts above some 100 Mbit/s; there, one
    /// call to the kernel for each ten packets is what limits a server.
    pub max_burst: u32,
    /// Careful Resume (RFC 9959): what every path took in an earlier round trip, and ...
    pub saved_window: Option<WindowSize>,
    /// ... the path's least round-trip time then; both or none.
    pub saved_rtt: Option<Duration>,
    /// Careful Resume: how long what was observed of a peer's path serves its next connection.
    pub remember: Option<Duration>,
    /// Size of UDP payloads in bytes, 1200 to 65,000, that every path is taken to have room for.
    pub max_udp_payload: u16,
    /// How large they may become if probes find that the path has room (RFC 8899); without this none are
    /// sent.
    pub probe_up_to: Option<u16>,
    /// kPacketThreshold: packets after which a missing one is lost (RFC 9002 section 6.1.1).
    pub packet_threshold: u32,
    /// kTimeThreshold: round-trip times after which it is lost (RFC 9002 section 6.1.2).
    pub time_threshold: f32,
    /// kInitialRtt: the round-trip time assumed before there is a sample (RFC 9002 section 6.2.2).
    pub initial_rtt: Duration,
    /// The connection ends when nothing comes for as long.
    pub idle_timeout: Duration,
    /// Flow control: bytes a peer may send on a stream beyond what was read.
    pub stream_receive_window: u32,
    /// Flow control: bytes a peer may send on all streams beyond what was read.
    pub receive_window: u32,
    /// Memory for data that was handed over to be sent and is not acknowledged, in bytes; without a limit as much
    /// as the congestion window and the peer's windows let out. A peer that withholds one acknowledgment has all
    /// that was sent since kept.
    pub send_memory: Option<u64>,
    /// Streams of each kind that a peer may have open.
    pub max_streams: u32,
    /// How many of them it may have at first; all if nothing is said. Memory is taken for each that it
    /// may have. It may have all once it has opened half of those.
    pub first_streams: Option<FirstStreams>,
    /// Whether a server lets clients change their address (RFC 9000 section 9).
    pub migration: bool,
    /// Packets sent after which keys are updated (RFC 9001 section 6); without this, near the limit of a key's use.
    pub key_update: Option<NonZeroU32>,
    /// What a client does with tokens of servers.
    pub tokens: Tokens,
    /// What acknowledgment frequency to ask for; none leaves it to the peer.
    pub ack_frequency: Option<AckFrequency>,
    /// What computing each datagram costs.
    pub cpu_cost: CpuCost,
    /// Where to write a qlog file for each connection.
    pub qlog_directory: Option<PathBuf>,
    /// Where to write a compact trace of the sender for each connection.
    pub trace_directory: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            congestion: headway_congestion::Config::default(),
            pacing: Pacing::Controller,
            max_burst: 44,
            saved_window: None,
            saved_rtt: None,
            remember: None,
            max_udp_payload: 1200,
            probe_up_to: None,
            packet_threshold: 3,
            time_threshold: 9.0 / 8.0,
            initial_rtt: Duration::from_millis(333),
            idle_timeout: Duration::from_secs(30),
            stream_receive_window: 16 << 20,
            receive_window: 24 << 20,
            send_memory: None,
            max_streams: 1000,
            first_streams: None,
            migration: true,
            key_update: None,
            tokens: Tokens::default(),
            ack_frequency: None,
            cpu_cost: CpuCost::default(),
            qlog_directory: None,
            trace_directory: None,
        }
    }
}

impl Config {
    /// A controller for a new path, of which something may be saved.
    pub(crate) fn controller(&self, saved: Option<Saved>) -> Box<dyn Controller> {
        let max_datagram = u64::from(self.max_udp_payload);
        headway_congestion::Config { max_datagram, saved, ..self.congestion.clone() }.build()
    }

    /// What is saved of every path.
    pub(crate) fn saved(&self) -> Option<Saved> {
        let (window, rtt) = (self.saved_window?, self.saved_rtt?);
        Some(Saved { window: window.bytes(self.max_udp_payload.into()), rtt })
    }

    /// Pieces of all received streams that may wait behind gaps. A peer that sends a window in smaller ones
    /// means no good.
    pub(crate) fn max_pieces(&self) -> usize {
        MIN_PIECES.max(self.receive_window as usize / PIECE_BYTES)
    }

    /// Streams of a kind that a peer may have at first.
    pub(crate) fn first_streams(&self, dir: Dir) -> u32 {
        let most = self.max_streams;
        self.first_streams.map_or(most, |first| match dir {
            Dir::Bi => first.bidirectional.min(most),
            Dir::Uni => first.unidirectional.min(most),
        })
    }

    /// The initial window in bytes.
    pub(crate) fn initial_window(&self) -> u64 {
        self.congestion.initial_window.bytes(self.max_udp_payload.into())
    }

    /// Whether packets are ECT(1), because the controller is one of L4S (RFC 9331, section 4.1).
    pub(crate) fn is_scalable(&self) -> bool {
        self.congestion.algorithm.is_scalable()
    }

    /// A pacer for a new path.
    pub(crate) fn pacer(&self) -> Pacer {
        let most = u64::from(self.max_burst);
        let burst = if self.is_scalable() { Burst::scalable(most) } else { Burst::usual(most) };
        Pacer::new(u64::from(self.max_udp_payload), burst)
    }

    /// quinn-proto's part of it, for one connection.
    pub(crate) fn transport(&self, gate: &Arc<Gate>) -> Arc<TransportConfig> {
        let mut transport = TransportConfig::default();
        let idle_ms = u32::try_from(self.idle_timeout.as_millis()).unwrap_or(u32::MAX);
        transport
            .congestion_controller_factory(Arc::new(GateFactory(Arc::clone(gate))))
            .initial_mtu(self.max_udp_payload)
            .mtu_discovery_config(self.probe_up_to.map(|most| {
                let mut probing = MtuDiscoveryConfig::default();
                probing.upper_bound(most);
                probing
            }))
            .packet_threshold(self.packet_threshold)
            .time_threshold(self.time_threshold)
            .initial_rtt(self.initial_rtt)
            .max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(idle_ms))))
            .stream_receive_window(VarInt::from_u32(self.stream_receive_window))
            .receive_window(VarInt::from_u32(self.receive_window))
            .max_concurrent_bidi_streams(VarInt::from_u32(self.first_streams(Dir::Bi)))
            .max_concurrent_uni_streams(VarInt::from_u32(self.first_streams(Dir::Uni)))
            .send_window(self.send_memory.unwrap_or(SEND_WINDOW))
            .datagram_receive_buffer_size(Some(MAX_DATAGRAM_BYTES))
            // Data is handed over just before it is sent; among what is sent again, the oldest
            // goes first.
            .send_fairness(false)
            .ack_frequency_config(self.ack_frequency.map(|asked| {
                let mut config = AckFrequencyConfig::default();
                config
                    .ack_eliciting_threshold(VarInt::from_u32(asked.ack_eliciting_threshold))
                    .max_ack_delay(asked.max_ack_delay);
                config
            }));
        Arc::new(transport)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_packet_of_a_window_may_wait() {
        for receive_window in [1_000, 24 << 20, 1 << 30] {
            let config = Config { receive_window, ..Config::default() };
            assert!(config.max_pieces() >= receive_window as usize / 1200);
        }
        let narrow = Config { receive_window: 100_000, ..Config::default() };
        assert_eq!(narrow.max_pieces(), 32_768);
    }
}
