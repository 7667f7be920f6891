//! What is told of flows. Moments are seconds from the start of the program that tells.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use headway_http::tcp::TcpInfo;
use headway_quic::Statistics;
use serde::Serialize;

use crate::failure::StartError;

/// What flows are sent over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    /// QUIC (RFC 9000).
    Quic,
    /// TLS (RFC 8446) over TCP.
    Tls,
    /// TCP (RFC 9293) alone.
    Tcp,
}

/// Where the data of a flow go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// To the client.
    Download,
    /// To the server.
    Upload,
}

/// A client's report.
#[derive(Debug, Serialize)]
pub(crate) struct ClientReport {
    /// When the program started, in seconds since 1970.
    pub(crate) started_unix_s: f64,
    /// Length of an interval of the series; each flow's first begins with the flow.
    pub(crate) interval_s: f64,
    /// The flows, in their order.
    pub(crate) flows: Vec<FlowReport>,
}

/// A line of a server's report.
#[derive(Debug, Serialize)]
pub(crate) struct ServerRecord {
    /// When the program started, in seconds since 1970.
    pub(crate) started_unix_s: f64,
    /// Length of an interval of the series; the first begins with the flow.
    pub(crate) interval_s: f64,
    /// The flow.
    #[serde(flatten)]
    pub(crate) flow: FlowReport,
}

/// A flow, as one side saw it.
#[derive(Debug, Serialize)]
pub(crate) struct FlowReport {
    /// What it was sent over.
    pub(crate) transport: Transport,
    /// Where its data went; none if the server was never told.
    pub(crate) direction: Option<Direction>,
    /// This side's address; a client's QUIC may know its port only.
    pub(crate) local: Option<String>,
    /// The peer's address.
    pub(crate) remote: String,
    /// The client began to connect, or the server saw the connection first.
    pub(crate) start_s: f64,
    /// The transport's connection was there: TCP's handshake was over, or QUIC's.
    pub(crate) connected_s: Option<f64>,
    /// TLS's handshake was over, QUIC's included; none without TLS.
    pub(crate) secured_s: Option<f64>,
    /// Whether data of the client's first flight were accepted (0-RTT); none if that was not tried.
    pub(crate) early_data: Option<bool>,
    /// The first byte came; a server does not count requests.
    pub(crate) first_byte_s: Option<f64>,
    /// It was over: a download's last byte came or the client had enough, the server confirmed that
    /// it had an upload. At the server, an upload's last byte came, or a download's client had it.
    pub(crate) end_s: Option<f64>,
    /// Bytes of data that came.
    pub(crate) received_bytes: u64,
    /// Bytes of data that were sent, each counted once.
    pub(crate) sent_bytes: u64,
    /// Data from start to end, in Mbit/s.
    pub(crate) goodput_mbit: Option<f64>,
    /// Why it failed.
    pub(crate) error: Option<String>,
    /// What happened in each interval.
    pub(crate) series: Vec<Interval>,
}

/// An interval of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Interval {
    /// When it ended.
    pub(crate) end_s: f64,
    /// Bytes of data that came meanwhile.
    pub(crate) received_bytes: u64,
    /// Bytes of data that were sent meanwhile for the first time.
    pub(crate) sent_bytes: u64,
    /// The sender at the end of the interval, on the side that sends the data.
    #[serde(flatten)]
    pub(crate) sender: Option<SenderState>,
}

/// What a transport's sender says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct SenderState {
    /// Congestion window.
    pub(crate) window_bytes: u64,
    /// Sent and neither acknowledged nor lost; TCP: sent and not acknowledged cumulatively.
    pub(crate) in_flight_bytes: u64,
    /// Smoothed round-trip time; 0 before the first sample.
    pub(crate) smoothed_rtt_ms: f64,
    /// Least round-trip time; 0 before the first sample.
    pub(crate) min_rtt_ms: f64,
    /// Bytes that the path took in a least round-trip time lately; none before a whole round trip,
    /// and with TCP.
    pub(crate) capacity_bytes: Option<u64>,
    /// Packets sent so far; TCP: segments with data.
    pub(crate) sent_packets: u64,
    /// Packets declared lost so far; TCP: segments sent again.
    pub(crate) lost_packets: u64,
}

impl From<Statistics> for SenderState {
    fn from(statistics: Statistics) -> Self {
        Self {
            window_bytes: statistics.window,
            in_flight_bytes: statistics.in_flight,
            smoothed_rtt_ms: statistics.smoothed_rtt.as_secs_f64() * 1e3,
            min_rtt_ms: statistics.min_rtt.as_secs_f64() * 1e3,
            capacity_bytes: statistics.capacity,
            sent_packets: statistics.sent_packets,
            lost_packets: statistics.lost_packets,
        }
    }
}

impl From<TcpInfo> for SenderState {
    fn from(info: TcpInfo) -> Self {
        let segment = u64::from(info.snd_mss_bytes);
        Self {
            window_bytes: u64::from(info.cwnd_packets) * segment,
            in_flight_bytes: u64::from(info.unacked_packets) * segment,
            smoothed_rtt_ms: f64::from(info.srtt_us) / 1e3,
            // The kernel has no sample yet.
            min_rtt_ms: if info.srtt_us == 0 { 0.0 } else { f64::from(info.min_rtt_us) / 1e3 },
            capacity_bytes: None,
            sent_packets: info.data_packets_sent.into(),
            lost_packets: info.retransmitted_packets.into(),
        }
    }
}

/// Where reports go: a file, or the standard output.
pub(crate) struct Output {
    path: PathBuf,
    to: Box<dyn Write>,
}

impl Output {
    /// Opens a file, or the standard output if the path is `-`.
    pub(crate) fn open(path: &Path) -> Result<Self, StartError> {
        let opened: io::Result<Box<dyn Write>> = if path == Path::new("-") {
            Ok(Box::new(io::stdout()))
        } else {
            File::create(path).map(|file| Box::new(file) as _)
        };
        let failed = |source| StartError::Report { path: path.to_owned(), source };
        Ok(Self { path: path.to_owned(), to: opened.map_err(failed)? })
    }

    /// Writes one object, as a line of JSON.
    pub(crate) fn write(&mut self, report: &impl Serialize) -> Result<(), StartError> {
        let failed = |source| StartError::Report { path: self.path.clone(), source };
        let mut line = serde_json::to_vec(report).map_err(|e| failed(e.into()))?;
        line.push(b'\n');
        self.to.write_all(&line).and_then(|()| self.to.flush()).map_err(failed)
    }
}
