//! Events of packets and of what the ends agreed on.

use std::io::Write;
use std::time::Duration;

use super::frames::write_frames;
use super::json::Members;
use super::{Owner, Qlog};

/// A packet's type, which for all but Retry and Version Negotiation also tells its packet number
/// space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "RFC 9000 section 17 has these names")]
pub enum PacketType {
    Initial,
    ZeroRtt,
    Handshake,
    OneRtt,
    Retry,
    VersionNegotiation,
}

impl PacketType {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::ZeroRtt => "0RTT",
            Self::Handshake => "handshake",
            Self::OneRtt => "1RTT",
            Self::Retry => "retry",
            Self::VersionNegotiation => "version_negotiation",
        }
    }
}

/// Why a packet was not processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropTrigger {
    /// It belongs to no connection.
    ConnectionUnknown,
    /// It could not be decrypted.
    DecryptionFailure,
    /// It is malformed, or a duplicate.
    Invalid,
    /// Its version or type is not supported.
    Unsupported,
    /// It was not wanted, as by a limit.
    Rejected,
    /// Another reason.
    General,
}

impl DropTrigger {
    fn name(self) -> &'static str {
        match self {
            Self::ConnectionUnknown => "connection_unknown",
            Self::DecryptionFailure => "decryption_failure",
            Self::Invalid => "invalid",
            Self::Unsupported => "unsupported",
            Self::Rejected => "rejected",
            Self::General => "general",
        }
    }
}

/// A packet sent or received.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Its type.
    pub packet_type: PacketType,
    /// Its number.
    pub number: u64,
    /// Destination connection ID.
    pub dcid: &'a [u8],
    /// Source connection ID, which packets with long headers have.
    pub scid: Option<&'a [u8]>,
    /// Bytes of the packet, with its header and authentication tag.
    pub length: u64,
    /// Its plaintext payload.
    pub payload: &'a [u8],
    /// By which the acknowledgement delays in it are scaled: its sender's transport parameter.
    pub ack_delay_exponent: u8,
}

/// Transport parameters of an end (RFC 9000 section 18.2); None is not logged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parameters {
    /// Time without packets after which the connection ends.
    pub max_idle_timeout: Option<Duration>,
    /// Largest UDP payload the end takes, in bytes.
    pub max_udp_payload_size: Option<u64>,
    /// Bytes that may be sent to it on the connection.
    pub initial_max_data: Option<u64>,
    /// Bytes that may be sent to it on a bidirectional stream that it opened.
    pub initial_max_stream_data_bidi_local: Option<u64>,
    /// Bytes that may be sent to it on a bidirectional stream that its peer opened.
    pub initial_max_stream_data_bidi_remote: Option<u64>,
    /// Bytes that may be sent to it on a unidirectional stream.
    pub initial_max_stream_data_uni: Option<u64>,
    /// Bidirectional streams that its peer may open.
    pub initial_max_streams_bidi: Option<u64>,
    /// Unidirectional streams that its peer may open.
    pub initial_max_streams_uni: Option<u64>,
    /// By which its acknowledgement delays are scaled.
    pub ack_delay_exponent: Option<u8>,
    /// The longest it delays acknowledgements.
    pub max_ack_delay: Option<Duration>,
    /// The least that it can be asked to delay them (draft-ietf-quic-ack-frequency-12 section 3).
    pub min_ack_delay: Option<Duration>,
    /// Connection IDs of its peer's that it keeps.
    pub active_connection_id_limit: Option<u64>,
    /// It asks its peer not to migrate.
    pub disable_active_migration: bool,
}

impl<W: Write> Qlog<W> {
    /// A packet was sent.
    pub fn packet_sent(&mut self, at: Duration, packet: &Packet<'_>) {
        self.event(at, "transport:packet_sent", |data| write_packet(data, packet));
    }

    /// A packet was received, decrypted and processed.
    pub fn packet_received(&mut self, at: Duration, packet: &Packet<'_>) {
        self.event(at, "transport:packet_received", |data| write_packet(data, packet));
    }

    /// A datagram or packet of so many bytes was received and not processed.
    pub fn packet_dropped(&mut self, at: Duration, length: u64, trigger: DropTrigger) {
        self.event(at, "transport:packet_dropped", |data| {
            data.object("raw", |raw| {
                raw.number("length", length);
            });
            data.text("trigger", trigger.name());
        });
    }

    /// An end's transport parameters are known.
    pub fn parameters_set(&mut self, at: Duration, owner: Owner, parameters: &Parameters) {
        self.event(at, "transport:parameters_set", |data| {
            data.text("owner", owner.name());
            write_parameters(data, parameters);
        });
    }

    /// The application protocol is settled (RFC 7301).
    pub fn alpn_information(&mut self, at: Duration, chosen: &str) {
        self.event(at, "transport:alpn_information", |data| {
            data.text("chosen_alpn", chosen);
        });
    }
}

fn write_packet(data: &mut Members<'_>, packet: &Packet<'_>) {
    data.object("header", |header| {
        header.text("packet_type", packet.packet_type.name());
        header.number("packet_number", packet.number).hex("dcid", packet.dcid);
        if let Some(scid) = packet.scid {
            header.hex("scid", scid);
        }
    });
    data.object("raw", |raw| {
        raw.number("length", packet.length).number("payload_length", packet.payload.len() as u64);
    });
    data.array("frames", |frames| write_frames(frames, packet.payload, packet.ack_delay_exponent));
}

fn write_parameters(data: &mut Members<'_>, parameters: &Parameters) {
    if parameters.disable_active_migration {
        data.flag("disable_active_migration", true);
    }
    let times = [
        ("max_idle_timeout", parameters.max_idle_timeout),
        ("max_ack_delay", parameters.max_ack_delay),
        ("min_ack_delay", parameters.min_ack_delay),
    ];
    for (key, time) in times {
        if let Some(time) = time {
            data.millis(key, time);
        }
    }
    let numbers = [
        ("max_udp_payload_size", parameters.max_udp_payload_size),
        ("ack_delay_exponent", parameters.ack_delay_exponent.map(u64::from)),
        ("active_connection_id_limit", parameters.active_connection_id_limit),
        ("initial_max_data", parameters.initial_max_data),
        ("initial_max_stream_data_bidi_local", parameters.initial_max_stream_data_bidi_local),
        ("initial_max_stream_data_bidi_remote", parameters.initial_max_stream_data_bidi_remote),
        ("initial_max_stream_data_uni", parameters.initial_max_stream_data_uni),
        ("initial_max_streams_bidi", parameters.initial_max_streams_bidi),
        ("initial_max_streams_uni", parameters.initial_max_streams_uni),
    ];
    for (key, number) in numbers {
        if let Some(number) = number {
            data.number(key, number);
        }
    }
}
