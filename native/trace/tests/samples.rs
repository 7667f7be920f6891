//! The checked-in samples are what the writers write, byte for byte; the Python readers' tests read
//! the same files. To make them anew after a deliberate change, run with `BLESS=1`.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use headway_trace::compact::{Compact, HEADER_BYTES, RECORD_BYTES};
use headway_trace::qlog::{
    CarefulResumePhase, CloseCode, CloseTrigger, DropTrigger, Header, HttpFrame, LossTrigger,
    MigrationState, Owner, Packet, PacketType, Parameters, Qlog, TimerEvent, TimerType, Vantage,
    Way,
};
use headway_trace::{Metrics, State};

const CID: [u8; 8] = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];

fn ms(time_ms: u64) -> Duration {
    Duration::from_millis(time_ms)
}

/// The last second of 2025 but 2.5 ms.
fn start() -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(1_767_225_599_997_500)
}

fn at_first() -> Metrics {
    Metrics {
        cwnd_bytes: 12_000,
        ssthresh_bytes: None,
        in_flight_bytes: 0,
        smoothed_rtt: None,
        latest_rtt: None,
        min_rtt: None,
        rtt_variance: None,
        pto_count: 0,
        pacing_rate_bytes_per_s: None,
    }
}

fn after_a_loss() -> Metrics {
    Metrics {
        cwnd_bytes: 8_400,
        ssthresh_bytes: Some(8_400),
        in_flight_bytes: 7_200,
        smoothed_rtt: Some(Duration::from_nanos(50_123_456)),
        latest_rtt: Some(ms(51)),
        min_rtt: Some(ms(50)),
        rtt_variance: Some(Duration::from_micros(12_500)),
        pto_count: 1,
        pacing_rate_bytes_per_s: Some(209_483),
    }
}

fn packet(number: u64, payload: &[u8]) -> Packet<'_> {
    Packet {
        packet_type: PacketType::OneRtt,
        number,
        dcid: &CID,
        scid: None,
        length: payload.len() as u64 + 28,
        payload,
        ack_delay_exponent: 3,
    }
}

fn sqlog() -> Vec<u8> {
    let mut out = Vec::new();
    let header = Header {
        title: "a \"sample\"",
        program: "headway-server",
        vantage: Vantage::Server,
        original_destination_cid: &CID,
        start: start(),
    };
    let mut qlog = Qlog::new(&mut out, &header);
    handshake(&mut qlog);
    transfer(&mut qlog);
    end(&mut qlog);
    qlog.flush().expect("memory takes everything");
    drop(qlog);
    out
}

fn handshake(qlog: &mut Qlog<&mut Vec<u8>>) {
    let local: SocketAddr = "10.0.0.1:443".parse().expect("an address");
    let remote: SocketAddr = "10.0.0.2:50000".parse().expect("an address");
    qlog.connection_started(ms(0), (local, &[1, 2]), (remote, &[]));
    qlog.path_assigned(ms(0), 0, local, remote);
    let crypto = Packet {
        packet_type: PacketType::Initial,
        scid: Some(&[1, 2]),
        ..packet(0, &[0x06, 0, 2, 7, 7, 0, 0, 0])
    };
    qlog.packet_received(ms(0), &crypto);
    let parameters = Parameters {
        max_idle_timeout: Some(ms(30_000)),
        initial_max_data: Some(1 << 20),
        ack_delay_exponent: Some(3),
        ..Parameters::default()
    };
    qlog.parameters_set(ms(0), Owner::Remote, &parameters);
    qlog.alpn_information(ms(0), "h3");
    qlog.metrics_updated(ms(0), &at_first());
    qlog.congestion_state_updated(ms(0), State::Init, State::SlowStart);
    qlog.packet_sent(ms(1), &crypto);
}

fn transfer(qlog: &mut Qlog<&mut Vec<u8>>) {
    qlog.http_frame(ms(2), Way::Parsed, 0, 20, &HttpFrame::Headers(&[(b":path", b"/a\xff")]));
    let update = HttpFrame::PriorityUpdate { stream: 0, value: b"u=1, i" };
    qlog.http_frame(ms(2), Way::Parsed, 2, 7, &update);
    qlog.priority_updated(ms(2), 0, None, "u=1, i");
    qlog.http_frame(ms(2), Way::Created, 0, 1_000, &HttpFrame::Data);
    qlog.packet_sent(Duration::from_nanos(2_000_001), &packet(1, &[0x0f, 0, 0x44, 0, 2, 7, 7]));
    qlog.loss_timer_updated(ms(3), TimerType::Pto, TimerEvent::Set(ms(1_000)));
    qlog.packet_received(ms(53), &packet(1, &[0x02, 9, 0x7b, 0xbd, 1, 0, 1, 2, 0x10, 9]));
    qlog.packet_lost(ms(53), PacketType::OneRtt, 1, LossTrigger::ReorderingThreshold);
    qlog.metrics_updated(ms(53), &after_a_loss());
    qlog.metrics_updated(ms(53), &after_a_loss());
    qlog.congestion_state_updated(ms(53), State::SlowStart, State::Recovery);
    qlog.careful_resume_phase_updated(ms(53), &resumption());
}

fn resumption() -> CarefulResumePhase<'static> {
    CarefulResumePhase {
        old: Some("validating"),
        new: "safe_retreat",
        trigger: Some("packet_loss"),
        pipe_size: 63_000,
        first_unvalidated: 30,
        last_unvalidated: 150,
        cwnd_bytes: 31_500,
        ssthresh_bytes: Some(31_500),
        saved_cwnd_bytes: 300_000,
        saved_rtt: Duration::from_micros(580_500),
    }
}

fn end(qlog: &mut Qlog<&mut Vec<u8>>) {
    qlog.migration_state_updated(ms(60), 1, MigrationState::MigrationComplete);
    qlog.packet_dropped(ms(61), 1_200, DropTrigger::DecryptionFailure);
    let code = CloseCode::Application(0x100);
    qlog.connection_closed(ms(70), Owner::Remote, code, "", CloseTrigger::Clean);
}

fn compact() -> Vec<u8> {
    let mut out = Vec::new();
    let mut trace = Compact::new(&mut out, start());
    trace.metrics(ms(0), &at_first());
    trace.state(ms(1), State::Init, State::SlowStart);
    trace.state(ms(53), State::SlowStart, State::Recovery);
    trace.metrics(ms(53), &after_a_loss());
    drop(trace);
    out
}

fn assert_is_sample(written: &[u8], name: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, written).expect("the sample is written");
    }
    let sample = std::fs::read(&file).expect("the sample is there");
    let text = String::from_utf8_lossy;
    assert!(written == sample, "{name} is\n{}\nand not\n{}", text(written), text(&sample));
}

#[test]
fn qlog_sample() {
    assert_is_sample(&sqlog(), "sample.sqlog");
}

#[test]
fn compact_sample() {
    let written = compact();
    assert_eq!(written.len(), HEADER_BYTES + 4 * RECORD_BYTES);
    assert_is_sample(&written, "sample.hwtrace");
}
